-- False where whoever keeps an inbox's mail does not pass on addresses with a plus tag: our mail
-- then names the bare address for answers and bounces.
ALTER TABLE mailboxes ADD COLUMN plus_tags BOOLEAN NOT NULL DEFAULT TRUE;

-- What was settled about one of several recipients of a message, so that nobody who has it gets it
-- again while others are still tried. `refusal` is null for who has it.
CREATE TABLE arrivals (
    ws      BIGINT NOT NULL,
    message TEXT NOT NULL,
    email   TEXT NOT NULL,
    refusal TEXT,
    at      BIGINT NOT NULL,
    PRIMARY KEY (ws, message, email)
) {keyed};

-- The keys that sign a domain's mail. One is `signing`; a new one is `waiting` until its record is
-- seen in the DNS; `retired` ones stay listed while mail signed with them may be under way.
CREATE TABLE signing_keys (
    ws         BIGINT NOT NULL,
    domain     TEXT NOT NULL,
    selector   TEXT NOT NULL,
    secret     BYTES NOT NULL,
    public     TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, domain, selector)
) {rows};
