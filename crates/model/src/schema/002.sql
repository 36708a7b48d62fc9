-- While a message is `sending`, `sends_at` is when its claim lapses or its next try is due.
ALTER TABLE messages ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN first_try_at BIGINT;
CREATE INDEX messages_due_of ON messages (ws, sends_at) WHERE sends_at IS NOT NULL;

-- What a simulated customer does about a message, and when.
CREATE TABLE sandbox_answers (
    ws      BIGINT NOT NULL,
    message TEXT NOT NULL,
    email   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    due_at  BIGINT NOT NULL,
    PRIMARY KEY (ws, message, email)
) {keyed};
CREATE INDEX sandbox_answers_due ON sandbox_answers (due_at);

-- Addresses in the sandbox that complained: every later mail to them fails.
CREATE TABLE sandbox_complaints (
    ws    BIGINT NOT NULL,
    email TEXT NOT NULL,
    PRIMARY KEY (ws, email)
) {keyed};

-- After a rotation the old secret signs too, until its time is over. `failing_since` is the first
-- failure after the last success.
ALTER TABLE webhooks ADD COLUMN old_secret TEXT;
ALTER TABLE webhooks ADD COLUMN old_secret_until BIGINT;
ALTER TABLE webhooks ADD COLUMN failing_since BIGINT;
CREATE UNIQUE INDEX webhooks_by_id ON webhooks (id);

-- While a delivery is being tried, `next_try_at` is when its claim lapses.
ALTER TABLE deliveries ADD COLUMN type TEXT NOT NULL DEFAULT '';
UPDATE deliveries SET type = (
    SELECT e.type FROM events e WHERE e.ws = deliveries.ws AND e.id = deliveries.event
);
CREATE INDEX deliveries_due_of ON deliveries (webhook, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX deliveries_failed ON deliveries (ws, webhook, event) WHERE state = 'failed';
CREATE INDEX deliveries_by_type ON deliveries (ws, webhook, type, event);

-- Every try of a delivery. `status` is null when nobody answered; `answer` is the start of what
-- came back, or a sentence on why nothing did.
CREATE TABLE tries (
    ws      BIGINT NOT NULL,
    webhook TEXT NOT NULL,
    event   TEXT NOT NULL,
    number  BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    took    BIGINT NOT NULL,
    status  BIGINT,
    answer  TEXT NOT NULL,
    PRIMARY KEY (ws, webhook, event, number)
) {rows};

-- `txn` orders events as they became visible: see 002.postgres.sql. SQLite has one writer, so
-- there ids alone do.
ALTER TABLE events ADD COLUMN txn BIGINT NOT NULL DEFAULT 0;
CREATE INDEX events_heard ON events (ws, circle, txn, id);
CREATE INDEX events_by_age ON events (created_at);

-- Mail of the service itself to people of the workspace.
CREATE TABLE notices (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    email        TEXT NOT NULL,
    subject      TEXT NOT NULL,
    text         TEXT NOT NULL,
    due_at       BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE INDEX notices_due ON notices (due_at);
