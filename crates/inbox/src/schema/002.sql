-- While a message is `sending`, `sends_at` is when its claim lapses or its next try is due.
ALTER TABLE messages ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN first_try_at BIGINT;

-- What a simulated customer does about a message, and when.
CREATE TABLE sandbox_answers (
    ws      BIGINT NOT NULL,
    message TEXT NOT NULL,
    kind    TEXT NOT NULL,
    due_at  BIGINT NOT NULL,
    PRIMARY KEY (ws, message)
) {keyed};
CREATE INDEX sandbox_answers_due ON sandbox_answers (due_at);

-- Addresses in the sandbox that complained: every later mail to them fails.
CREATE TABLE sandbox_complaints (
    ws    BIGINT NOT NULL,
    email TEXT NOT NULL,
    PRIMARY KEY (ws, email)
) {keyed};
