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
-- How a person approved the draft of an agent or the helper: `as-is` or `edited`.
ALTER TABLE messages ADD COLUMN approved TEXT;
UPDATE conversations SET first_answered_at = (
    SELECT min(m.counted_at) FROM messages m
    WHERE m.ws = conversations.ws AND m.conversation = conversations.id
      AND m.direction = 'outbound' AND m.counted_at IS NOT NULL AND NOT m.automatic
);
