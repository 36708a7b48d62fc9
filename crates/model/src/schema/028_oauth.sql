-- Programs that ask people for access by OAuth. A `document` client is named by the address of the
-- document about it, which is fetched again once it expires; a `registered` one registered itself and
-- is forgotten where nobody lets it in before it expires.
CREATE TABLE oauth_clients (
    client_id     TEXT NOT NULL PRIMARY KEY,
    kind          TEXT NOT NULL,
    name          TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT
) {keyed};
CREATE INDEX oauth_clients_to_forget ON oauth_clients (expires_at) WHERE kind = 'registered' AND expires_at IS NOT NULL;

-- A connected app is an agent; its key hash is of a key that nobody has.
ALTER TABLE agents ADD COLUMN oauth_client TEXT;

-- Whether everybody may connect apps, or owners and admins alone.
ALTER TABLE workspaces ADD COLUMN everybody_connects_apps BOOLEAN NOT NULL DEFAULT FALSE;

-- What a client exchanges for tokens, once.
CREATE TABLE oauth_codes (
    code_hash    BYTES NOT NULL PRIMARY KEY,
    ws           BIGINT NOT NULL,
    agent        TEXT NOT NULL,
    client_id    TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge    TEXT NOT NULL,
    expires_at   BIGINT NOT NULL,
    used_at      BIGINT
) {keyed};
CREATE INDEX oauth_codes_of_agent ON oauth_codes (ws, agent);
CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at);

-- Access and refresh tokens. A refresh token is replaced when it is used: `rotated_at` and
-- `rotated_place` tell when and from which network. `granted_at` is when the person said yes.
CREATE TABLE oauth_tokens (
    token_hash    BYTES NOT NULL PRIMARY KEY,
    ws            BIGINT NOT NULL,
    agent         TEXT NOT NULL,
    kind          TEXT NOT NULL,
    granted_at    BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    rotated_at    BIGINT,
    rotated_place TEXT
) {keyed};
CREATE INDEX oauth_tokens_of_agent ON oauth_tokens (ws, agent, kind, created_at);
CREATE INDEX oauth_tokens_by_expiry ON oauth_tokens (expires_at);
