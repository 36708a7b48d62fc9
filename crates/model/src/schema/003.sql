-- Signing in. Of passwords only their argon2 string is kept, of links and sessions only the
-- SHA-256 of their token.
CREATE TABLE passwords (
    ws         BIGINT NOT NULL,
    person     TEXT NOT NULL,
    hash       TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (ws, person)
) {keyed};
CREATE INDEX users_everywhere ON users (email);

CREATE TABLE sign_in_links (
    ws         BIGINT NOT NULL,
    token_hash BYTES NOT NULL,
    person     TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (ws, token_hash)
) {keyed};
CREATE UNIQUE INDEX sign_in_links_by_token ON sign_in_links (token_hash);
CREATE INDEX sign_in_links_by_age ON sign_in_links (expires_at);

CREATE TABLE sessions (
    ws         BIGINT NOT NULL,
    person     TEXT NOT NULL,
    id         TEXT NOT NULL,
    token_hash BYTES NOT NULL,
    device     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, person, id)
) {keyed};
CREATE UNIQUE INDEX sessions_by_token ON sessions (token_hash);

-- Tries to sign in, by address and by where they come from. They happen before a workspace is
-- known, so they all stand under workspace 0.
CREATE TABLE guesses (
    ws    BIGINT NOT NULL,
    what  TEXT NOT NULL,
    tries BIGINT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (ws, what)
) {keyed};
CREATE INDEX guesses_by_age ON guesses (since);

-- How far somebody has read a conversation.
CREATE TABLE readings (
    ws           BIGINT NOT NULL,
    person       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    read_at      BIGINT NOT NULL,
    PRIMARY KEY (ws, person, conversation)
) {keyed};

-- What somebody is in the middle of writing. Nobody else sees it.
CREATE TABLE unfinished (
    ws           BIGINT NOT NULL,
    person       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    kind         TEXT NOT NULL,
    body         TEXT NOT NULL,
    to_line      TEXT NOT NULL,
    cc_line      TEXT NOT NULL,
    saved_at     BIGINT NOT NULL,
    PRIMARY KEY (ws, person, conversation)
) {rows};

CREATE INDEX conversations_held ON conversations (ws, circle, last_message_at, id) WHERE held = TRUE;
CREATE INDEX conversations_with_contact ON conversations (ws, contact_email, last_message_at, id);
CREATE INDEX messages_leaving ON messages (ws, mailbox, sends_at) WHERE status = 'scheduled';
CREATE INDEX documents_of_conversation ON documents (ws, conversation) WHERE conversation IS NOT NULL;
