-- The Markdown that a message of ours was written in; null for plain text. `text` is its plain twin.
ALTER TABLE messages ADD COLUMN markdown TEXT;
-- What goes below the text, fixed when the message is scheduled: a signature, and the message that is
-- quoted. `forwards` is the message that is passed on.
ALTER TABLE messages ADD COLUMN signature TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN quotes TEXT;
ALTER TABLE messages ADD COLUMN forwards TEXT;

ALTER TABLE users ADD COLUMN signature TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN plain_text BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE mailboxes ADD COLUMN signature TEXT NOT NULL DEFAULT '';

-- An unsent first mail has no conversation yet: its `conversation` is empty.
ALTER TABLE autosaves ADD COLUMN mailbox TEXT NOT NULL DEFAULT '';
ALTER TABLE autosaves ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE autosaves ADD COLUMN forwards TEXT;

ALTER TABLE saved_replies ADD COLUMN folder TEXT NOT NULL DEFAULT '';
CREATE TABLE saved_reply_files (
    ws           BIGINT NOT NULL,
    reply        TEXT NOT NULL,
    id           TEXT NOT NULL,
    filename     TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size         BIGINT NOT NULL,
    hash         TEXT NOT NULL,
    PRIMARY KEY (ws, reply, id)
) {keyed};

-- People that mail came from or went to, and the words by which their addresses are completed.
CREATE TABLE contacts (
    ws      BIGINT NOT NULL,
    circle  TEXT NOT NULL,
    email   TEXT NOT NULL,
    name    TEXT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, email)
) {keyed};
CREATE TABLE contact_words (
    ws     BIGINT NOT NULL,
    circle TEXT NOT NULL,
    word   TEXT NOT NULL,
    email  TEXT NOT NULL,
    PRIMARY KEY (ws, circle, word, email)
) {keyed};
INSERT INTO contacts (ws, circle, email, name, last_at)
SELECT ws, circle, contact_email, coalesce(max(contact_name), ''), max(last_message_at)
FROM conversations
WHERE NOT held AND length(contact_email) <= 254
GROUP BY ws, circle, contact_email;
