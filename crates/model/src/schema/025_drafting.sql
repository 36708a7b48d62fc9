-- What the team knows, as short texts. `inboxes` is a JSON list of the inboxes it is for; empty for
-- all. `valid_until` is the last moment of its last day.
CREATE TABLE answers (
    ws          BIGINT NOT NULL,
    id          TEXT NOT NULL,
    circle      TEXT NOT NULL,
    title       TEXT NOT NULL,
    folded      TEXT NOT NULL,
    body        TEXT NOT NULL,
    language    TEXT NOT NULL,
    inboxes     TEXT NOT NULL,
    valid_until BIGINT,
    created_at  BIGINT NOT NULL,
    changed_at  BIGINT NOT NULL,
    retired_at  BIGINT,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE INDEX answers_by_title ON answers (ws, folded, language, id);

-- How often an answer or a saved reply was sent, and when last.
CREATE TABLE answer_tallies (
    ws      BIGINT NOT NULL,
    answer  TEXT NOT NULL,
    uses    BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (ws, answer)
) {keyed};

-- Mail of customers that was replied to: hashes of its words, and the answer that the reply was made
-- of; empty for none. `message` is the reply.
CREATE TABLE answered_mail (
    ws           BIGINT NOT NULL,
    circle       TEXT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    at           BIGINT NOT NULL,
    language     TEXT NOT NULL,
    answer       TEXT NOT NULL,
    features     BYTES NOT NULL,
    PRIMARY KEY (ws, circle, message)
) {rows};
CREATE INDEX answered_mail_newest ON answered_mail (ws, circle, at, message);

-- Messages that the drafting helper has to look at: mail that came in, and replies that left.
-- `asked` is true once the language model was asked, which happens once.
CREATE TABLE drafting_jobs (
    ws      BIGINT NOT NULL,
    message TEXT NOT NULL,
    due_at  BIGINT NOT NULL,
    asked   BOOLEAN NOT NULL,
    PRIMARY KEY (ws, message)
) {keyed};
CREATE INDEX drafting_jobs_due ON drafting_jobs (due_at);
CREATE INDEX drafting_jobs_of_workspace ON drafting_jobs (ws, due_at);

-- Drafts of the helper and what became of them. `drafted_text` is kept until the message has left, to
-- tell how much a person changed. `outcome` is null while the draft waits.
CREATE TABLE helper_drafts (
    ws           BIGINT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    mailbox      TEXT NOT NULL,
    about        TEXT NOT NULL,
    method       TEXT NOT NULL,
    language     TEXT NOT NULL,
    score        DOUBLE NOT NULL,
    model        TEXT NOT NULL,
    tokens       BIGINT NOT NULL,
    took_ms      BIGINT NOT NULL,
    made_at      BIGINT NOT NULL,
    drafted_text TEXT,
    outcome      TEXT,
    changed      DOUBLE,
    decided_at   BIGINT,
    PRIMARY KEY (ws, message)
) {rows};
CREATE INDEX helper_drafts_in_conversation ON helper_drafts (ws, conversation, message);
CREATE INDEX helper_drafts_decided ON helper_drafts (ws, mailbox, decided_at)
    WHERE decided_at IS NOT NULL;

CREATE TABLE draft_sources (
    ws      BIGINT NOT NULL,
    message TEXT NOT NULL,
    place   BIGINT NOT NULL,
    answer  TEXT NOT NULL,
    title   TEXT NOT NULL,
    PRIMARY KEY (ws, message, place)
) {keyed};

-- What the helper found for a customer's message: answers to choose from (`answer`), and
-- conversations in which something alike was answered (`other`).
CREATE TABLE helper_findings (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    kind         TEXT NOT NULL,
    place        BIGINT NOT NULL,
    message      TEXT NOT NULL,
    found        TEXT NOT NULL,
    PRIMARY KEY (ws, conversation, kind, place)
) {keyed};

-- Drafting of an inbox: `off`, `answers` or `model`. Outcomes count from `drafting_since`.
ALTER TABLE mailboxes ADD COLUMN drafting TEXT NOT NULL DEFAULT 'off';
ALTER TABLE mailboxes ADD COLUMN drafting_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE mailboxes ADD COLUMN drafting_paused_at BIGINT;
ALTER TABLE mailboxes ADD COLUMN model_calls_a_day BIGINT NOT NULL DEFAULT 200;

-- Calls of the language model by inbox and day; days count from 1970.
CREATE TABLE model_calls (
    ws      BIGINT NOT NULL,
    mailbox TEXT NOT NULL,
    day     BIGINT NOT NULL,
    calls   BIGINT NOT NULL,
    tokens  BIGINT NOT NULL,
    PRIMARY KEY (ws, mailbox, day)
) {keyed};

-- How the language model fares: failures in a row, and until when it is left alone.
CREATE TABLE model_health (
    ws         BIGINT NOT NULL,
    failures   BIGINT NOT NULL,
    resumes_at BIGINT NOT NULL,
    last_error TEXT NOT NULL,
    last_at    BIGINT NOT NULL,
    PRIMARY KEY (ws)
) {keyed};
