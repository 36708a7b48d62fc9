-- The certificate of the public URL's host that an ACME server issues (RFC 8555); its key is sealed. A node that orders one
-- holds the row until `leased_until`. `next_at` is when an order is due, `ask_at` when the server is asked whether it wants
-- an earlier one (RFC 9773); `failures` counts those since the last success.
CREATE TABLE acme_certificates (
    host         TEXT NOT NULL PRIMARY KEY,
    directory    TEXT NOT NULL,
    chain        TEXT,
    private_key  TEXT,
    issued_at    BIGINT,
    expires_at   BIGINT,
    next_at      BIGINT NOT NULL,
    ask_at       BIGINT,
    leased_until BIGINT,
    failures     BIGINT NOT NULL,
    failed_at    BIGINT,
    failure      TEXT
) {keyed};

-- The account at each ACME server, by the address of its directory; `credentials` are sealed.
CREATE TABLE acme_accounts (
    directory   TEXT NOT NULL PRIMARY KEY,
    contact     TEXT NOT NULL,
    credentials TEXT NOT NULL
) {keyed};

-- Challenges of the order that is under way, which any node answers.
CREATE TABLE acme_challenges (
    host              TEXT NOT NULL,
    token             TEXT NOT NULL,
    kind              TEXT NOT NULL,
    key_authorization TEXT NOT NULL,
    PRIMARY KEY (host, token)
) {keyed};
