-- Accounts at the operator's OpenID provider by which people sign in. An account is one person's, of one
-- workspace. `opens_private` is FALSE for one that was linked in a session in which private inboxes were shut.
CREATE TABLE provider_accounts (
    ws            BIGINT NOT NULL,
    person        TEXT NOT NULL,
    issuer        TEXT NOT NULL,
    subject       TEXT NOT NULL,
    email         TEXT NOT NULL,
    linked_at     BIGINT NOT NULL,
    used_at       BIGINT,
    opens_private BOOLEAN NOT NULL,
    PRIMARY KEY (ws, person, issuer)
) {keyed};
CREATE UNIQUE INDEX provider_accounts_by_subject ON provider_accounts (issuer, subject);

-- Whom somebody removed, as keyed hashes of their addresses and accounts: the provider does not bring them
-- back.
CREATE TABLE removed_people (
    ws         BIGINT NOT NULL,
    hash       BYTES NOT NULL,
    removed_at BIGINT NOT NULL,
    PRIMARY KEY (ws, hash)
) {keyed};

-- The browser that asked for a link: only there it leads to where the browser was going.
ALTER TABLE sign_in_links ADD COLUMN browser BYTES;
