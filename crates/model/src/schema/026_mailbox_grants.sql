-- What a provider such as Google granted when somebody signed in there: access to the mailbox of one
-- inbox. Both tokens are sealed. Whoever refreshes them puts a word into `holder` until `held_until`, and
-- writes only while it is there: a provider may replace the refresh token each time it is used, and the
-- replacement must not be lost. `ended_at` is when the provider said that the grant is over.
CREATE TABLE mailbox_grants (
    ws            BIGINT NOT NULL,
    mailbox       TEXT NOT NULL,
    provider      TEXT NOT NULL,
    account       TEXT NOT NULL,
    refresh_token TEXT NOT NULL,
    access_token  TEXT NOT NULL,
    expires_at    BIGINT NOT NULL,
    holder        TEXT NOT NULL,
    held_until    BIGINT NOT NULL,
    ended_at      BIGINT,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, mailbox)
) {keyed};

-- How the server is signed in to: `password`, or `oauth` with the grant of the inbox.
ALTER TABLE imap_accounts ADD COLUMN auth TEXT NOT NULL DEFAULT 'password';
ALTER TABLE outgoing_servers ADD COLUMN auth TEXT NOT NULL DEFAULT 'password';

-- The owners know that the server fails.
ALTER TABLE outgoing_servers ADD COLUMN owners_told BOOLEAN NOT NULL DEFAULT FALSE;
