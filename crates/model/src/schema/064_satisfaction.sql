-- Whether the customers of an inbox are asked how a closed conversation was: `off`, or with `two` or `five` choices.
ALTER TABLE mailboxes ADD COLUMN satisfaction TEXT NOT NULL DEFAULT 'off';

-- When the customer of a closed conversation is asked.
ALTER TABLE conversations ADD COLUMN satisfaction_due_at BIGINT;
CREATE INDEX conversations_to_ask ON conversations (satisfaction_due_at) WHERE satisfaction_due_at IS NOT NULL;

-- The question about a conversation, under the mail that asks it, and what the customer answered. `email` is who was
-- asked, `changes` counts the answers. `topic` and `answered_by` are what the first answer was counted by in reports.
CREATE TABLE ratings (
    ws           BIGINT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    email        TEXT NOT NULL,
    mode         TEXT NOT NULL,
    token_hash   BYTES NOT NULL,
    asked_at     BIGINT NOT NULL,
    score        BIGINT,
    comment      TEXT NOT NULL DEFAULT '',
    rated_at     BIGINT,
    changes      BIGINT NOT NULL DEFAULT 0,
    topic        TEXT NOT NULL DEFAULT '',
    answered_by  TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (ws, message)
) {keyed};
CREATE UNIQUE INDEX ratings_by_token ON ratings (token_hash);
CREATE INDEX ratings_of_conversation ON ratings (ws, conversation);
CREATE INDEX ratings_of_person ON ratings (ws, email);

-- Who does not want to be asked. Of an address only a keyed hash is kept, so that this holds for somebody who is
-- forgotten too.
CREATE TABLE rating_optouts (
    ws           BIGINT NOT NULL,
    address_hash BYTES NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, address_hash)
) {keyed};
