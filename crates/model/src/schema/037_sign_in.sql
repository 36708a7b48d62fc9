-- Second steps: the sealed secret of an authenticator app. It counts once it is confirmed; `last_step`
-- is the newest 30 seconds whose code was used.
CREATE TABLE totp_secrets (
    ws           BIGINT NOT NULL,
    person       TEXT NOT NULL,
    secret       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step    BIGINT NOT NULL,
    PRIMARY KEY (ws, person)
) {keyed};

-- Codes for a lost device. Of each only a keyed hash is kept, until it is used.
CREATE TABLE recovery_codes (
    ws     BIGINT NOT NULL,
    person TEXT NOT NULL,
    hash   BYTES NOT NULL,
    PRIMARY KEY (ws, person, hash)
) {keyed};

ALTER TABLE workspaces ADD COLUMN two_steps BOOLEAN NOT NULL DEFAULT FALSE;

-- Passkeys: the public key as SubjectPublicKeyInfo, and its COSE algorithm. `opens_private` is FALSE for
-- one that was added in a session in which private inboxes were shut.
CREATE TABLE passkeys (
    ws            BIGINT NOT NULL,
    person        TEXT NOT NULL,
    id            TEXT NOT NULL,
    credential    BYTES NOT NULL,
    public_key    BYTES NOT NULL,
    algorithm     BIGINT NOT NULL,
    counter       BIGINT NOT NULL,
    name          TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    used_at       BIGINT,
    opens_private BOOLEAN NOT NULL,
    PRIMARY KEY (ws, person, id)
) {keyed};
CREATE UNIQUE INDEX passkeys_by_credential ON passkeys (credential);

-- What a browser has begun and has to finish: its cookie is the token. Workspace 0 and no person while
-- nobody is known yet. `data` is the challenge of a passkey.
CREATE TABLE sign_in_steps (
    ws            BIGINT NOT NULL,
    token_hash    BYTES NOT NULL,
    kind          TEXT NOT NULL,
    person        TEXT NOT NULL,
    opens_private BOOLEAN NOT NULL,
    next          TEXT NOT NULL,
    data          TEXT NOT NULL,
    expires_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, token_hash)
) {keyed};
CREATE UNIQUE INDEX sign_in_steps_by_token ON sign_in_steps (token_hash);
CREATE INDEX sign_in_steps_of_person ON sign_in_steps (ws, person);
CREATE INDEX sign_in_steps_by_age ON sign_in_steps (expires_at);

-- Where a link leads.
ALTER TABLE sign_in_links ADD COLUMN next TEXT NOT NULL DEFAULT '';
