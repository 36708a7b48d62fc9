-- Of the token of an upload page only its SHA-256 is kept. The token is derived from the request's id
-- and `generation`, which a link that was taken back moves on. `old_token` is the sealed token of a
-- link that was made before tokens were derived; else it is empty.
DROP INDEX requests_by_token;
ALTER TABLE document_requests RENAME COLUMN token TO old_token;
ALTER TABLE document_requests ADD COLUMN generation BIGINT NOT NULL DEFAULT 1;
ALTER TABLE document_requests ADD COLUMN token_hash BYTES;
CREATE UNIQUE INDEX document_requests_by_token ON document_requests (token_hash);

-- Codes that were mailed to prove an address. `purpose` names what the code opens, `browser` is the
-- hash of the cookie of the browser that asked. Rows are kept for a day, to count them.
CREATE TABLE one_time_codes (
    ws         BIGINT NOT NULL,
    purpose    TEXT NOT NULL,
    id         TEXT NOT NULL,
    browser    BYTES NOT NULL,
    email      TEXT NOT NULL,
    place      TEXT NOT NULL,
    hash       BYTES NOT NULL,
    sent_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    wrong      BIGINT NOT NULL,
    used       BOOLEAN NOT NULL,
    PRIMARY KEY (ws, purpose, id)
) {keyed};
CREATE INDEX one_time_codes_of_email ON one_time_codes (ws, email, sent_at);
CREATE INDEX one_time_codes_of_place ON one_time_codes (place, sent_at);
CREATE INDEX one_time_codes_by_age ON one_time_codes (sent_at);

-- Browsers that have proven an address, each for one conversation.
CREATE TABLE guest_sessions (
    ws           BIGINT NOT NULL,
    browser      BYTES NOT NULL,
    conversation TEXT NOT NULL,
    email        TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    seen_at      BIGINT NOT NULL,
    PRIMARY KEY (ws, browser, conversation)
) {keyed};
CREATE INDEX guest_sessions_by_age ON guest_sessions (created_at);

-- Mail of the service to a customer: the inbox it comes from, its name, and the mail that it answers.
ALTER TABLE notices ADD COLUMN mailbox TEXT;
ALTER TABLE notices ADD COLUMN from_name TEXT;
ALTER TABLE notices ADD COLUMN answers TEXT;

-- A secure message has its words and files here, sealed with a key of its own; `key` is that key, sealed
-- with the installation's. Its row in `messages` says only that it is protected. `days` is how long the
-- page stays open once the message has left.
ALTER TABLE messages ADD COLUMN secure BOOLEAN NOT NULL DEFAULT FALSE;
-- The secure message whose page a mail of the service leads to.
ALTER TABLE messages ADD COLUMN leads_to TEXT;
CREATE TABLE secure_messages (
    ws           BIGINT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    key          TEXT,
    content      BYTES NOT NULL,
    days         BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    opened_at    BIGINT,
    remind_at    BIGINT,
    PRIMARY KEY (ws, message)
) {rows};
CREATE INDEX secure_messages_to_remind ON secure_messages (remind_at) WHERE remind_at IS NOT NULL;

-- The page of a secure message for one recipient.
CREATE TABLE secure_links (
    ws           BIGINT NOT NULL,
    message      TEXT NOT NULL,
    email        TEXT NOT NULL,
    conversation TEXT NOT NULL,
    generation   BIGINT NOT NULL,
    token_hash   BYTES NOT NULL,
    opened_at    BIGINT,
    asked_at     BIGINT,
    locked_at    BIGINT,
    PRIMARY KEY (ws, message, email)
) {keyed};
CREATE UNIQUE INDEX secure_links_by_token ON secure_links (token_hash);
CREATE INDEX secure_links_of_reader ON secure_links (ws, conversation, email);

-- `has_secure`: some message is protected. `secure_answer`: the customer's newest message came in on a
-- protected page, so the next reply is protected too.
ALTER TABLE conversations ADD COLUMN has_secure BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE conversations ADD COLUMN secure_answer BOOLEAN NOT NULL DEFAULT FALSE;

-- How long secure pages stay open, and who may send secure messages.
ALTER TABLE workspaces ADD COLUMN secure_days BIGINT NOT NULL DEFAULT 30;
ALTER TABLE workspaces ADD COLUMN secure_days_max BIGINT NOT NULL DEFAULT 90;
ALTER TABLE workspaces ADD COLUMN secure_senders TEXT NOT NULL DEFAULT 'everybody';
ALTER TABLE mailboxes ADD COLUMN always_secure BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE autosaves ADD COLUMN secure BOOLEAN NOT NULL DEFAULT FALSE;
-- Files of an unsent secure message are sealed: their key, and with it their name.
ALTER TABLE attachments ADD COLUMN key TEXT;
