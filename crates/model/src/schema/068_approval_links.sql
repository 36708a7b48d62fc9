-- People who chose it get a link to a page of one draft, with the mail that tells of it. `revision` is that of the
-- draft when the mail was written; `browser` is the one that entered the mailed code, at `proven_at`.
ALTER TABLE notice_settings ADD COLUMN approves_by_mail BOOLEAN NOT NULL DEFAULT FALSE;
CREATE TABLE approval_links (
    ws         BIGINT NOT NULL,
    message    TEXT NOT NULL,
    person     TEXT NOT NULL,
    number     TEXT NOT NULL,
    token_hash BYTES NOT NULL,
    revision   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    browser    BYTES,
    proven_at  BIGINT,
    PRIMARY KEY (ws, message, person)
) {keyed};
CREATE UNIQUE INDEX approval_links_by_token ON approval_links (token_hash);
CREATE INDEX approval_links_of_person ON approval_links (ws, person, expires_at);
