-- What happened, one row for each thing that reports count; written with the change and folded into
-- the counters below within seconds. `day` counts from 1970-01-01, `n` is negative where something no
-- longer counts.
CREATE TABLE report_facts (
    ws      BIGINT NOT NULL,
    id      TEXT NOT NULL,
    circle  TEXT NOT NULL,
    measure TEXT NOT NULL,
    day     BIGINT NOT NULL,
    mailbox TEXT NOT NULL,
    name    TEXT NOT NULL,
    n       BIGINT NOT NULL,
    due_at  BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE INDEX report_facts_due ON report_facts (due_at, ws, id);

-- Counters of a day, and of a month, so that a year is read from few rows. `name` is what of the
-- measure is counted: an hour of the week, a tag, a topic, a member, or a span of a histogram. `month`
-- counts from January 1970.
CREATE TABLE report_days (
    ws      BIGINT NOT NULL,
    circle  TEXT NOT NULL,
    measure TEXT NOT NULL,
    day     BIGINT NOT NULL,
    mailbox TEXT NOT NULL,
    name    TEXT NOT NULL,
    n       BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, measure, day, mailbox, name)
) {keyed};
CREATE TABLE report_months (
    ws      BIGINT NOT NULL,
    circle  TEXT NOT NULL,
    measure TEXT NOT NULL,
    month   BIGINT NOT NULL,
    mailbox TEXT NOT NULL,
    name    TEXT NOT NULL,
    n       BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, measure, month, mailbox, name)
) {keyed};

-- The history before `until` that is still to be counted, from the conversation after `num` on. There
-- is no row when nothing is left.
CREATE TABLE report_backfill (
    name   TEXT NOT NULL,
    num    BIGINT NOT NULL,
    until  BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (name)
) {keyed};

-- When the team's first answer left; and when it was opened for the last time, null for the beginning.
ALTER TABLE conversations ADD COLUMN first_answered_at BIGINT;
ALTER TABLE conversations ADD COLUMN reopened_at BIGINT;
-- A rule assigned it, rather than a person or an agent.
ALTER TABLE conversations ADD COLUMN assigned_by_rule BOOLEAN NOT NULL DEFAULT FALSE;
-- How a person approved the draft of an agent or the helper: `as-is` or `edited`.
ALTER TABLE messages ADD COLUMN approved TEXT;
UPDATE conversations SET first_answered_at = (
    SELECT min(m.counted_at) FROM messages m
    WHERE m.ws = conversations.ws AND m.conversation = conversations.id
      AND m.direction = 'outbound' AND m.counted_at IS NOT NULL AND NOT m.automatic
);

-- Rules of the team, run in the order of `place`. `event` is when, `conditions` and `acts` are JSON
-- lists; `last_assigned` is who got the last conversation where a rule assigns in turn.
CREATE TABLE rules (
    ws            BIGINT NOT NULL,
    id            TEXT NOT NULL,
    name          TEXT NOT NULL,
    place         BIGINT NOT NULL,
    enabled       BOOLEAN NOT NULL,
    event         TEXT NOT NULL,
    wait_minutes  BIGINT NOT NULL,
    conditions    TEXT NOT NULL,
    acts          TEXT NOT NULL,
    is_last       BOOLEAN NOT NULL,
    last_assigned TEXT NOT NULL,
    last_run_at   BIGINT,
    changed_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};

-- What rules have to look at: one row for each thing that happened, deleted in the transaction that runs
-- the rules. `message` is empty where no mail came; `rule` is empty where every rule is meant.
CREATE TABLE rule_jobs (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    conversation TEXT NOT NULL,
    message      TEXT NOT NULL,
    event        TEXT NOT NULL,
    rule         TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    due_at       BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE INDEX rule_jobs_due ON rule_jobs (due_at, ws, id);

-- When an inbox is staffed: civil hours of a zone, days that are closed as a JSON list of dates, and the
-- reply that is sent outside; an empty reply is none. Targets are minutes of office hours, by urgency;
-- null is no target.
CREATE TABLE office_hours (
    ws              BIGINT NOT NULL,
    mailbox         TEXT NOT NULL,
    zone            TEXT NOT NULL,
    weekly          TEXT NOT NULL,
    holidays        TEXT NOT NULL,
    away_reply      TEXT NOT NULL,
    answer_minutes  BIGINT,
    answer_urgent   BIGINT,
    resolve_minutes BIGINT,
    resolve_urgent  BIGINT,
    PRIMARY KEY (ws, mailbox)
) {keyed};

-- Whom the automatic reply went to on which day, so that nobody gets it twice on one.
CREATE TABLE away_replies (
    ws      BIGINT NOT NULL,
    mailbox TEXT NOT NULL,
    email   TEXT NOT NULL,
    day     BIGINT NOT NULL,
    PRIMARY KEY (ws, mailbox, email, day)
) {keyed};

-- Received mail that gets no automatic reply: it was sent to many or by a program, or asks for none.
ALTER TABLE messages ADD COLUMN no_automatic_reply BOOLEAN NOT NULL DEFAULT FALSE;

-- When the next target of a conversation is missed; null where none runs.
ALTER TABLE conversations ADD COLUMN answer_due_at BIGINT;
ALTER TABLE conversations ADD COLUMN resolve_due_at BIGINT;
ALTER TABLE conversations ADD COLUMN answer_missed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE conversations ADD COLUMN resolve_missed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE conversations ADD COLUMN target_due_at BIGINT;
CREATE INDEX conversations_with_target ON conversations (target_due_at) WHERE target_due_at IS NOT NULL;
