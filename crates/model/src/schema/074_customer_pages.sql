-- Whether customers have a page of their own: `off`, `on`, or `linked` from replies too.
ALTER TABLE workspaces ADD COLUMN customer_page TEXT NOT NULL DEFAULT 'off';
CREATE INDEX workspaces_with_customer_page ON workspaces (slug) WHERE customer_page <> 'off';

-- Browsers whose reader has proven an address for that page.
CREATE TABLE customer_sessions (
    ws         BIGINT NOT NULL,
    browser    BYTES NOT NULL,
    email      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, browser)
) {keyed};
CREATE INDEX customer_sessions_by_age ON customer_sessions (created_at);

-- Who asked on that page for the deletion of their data, and when last.
CREATE TABLE deletion_requests (
    ws       BIGINT NOT NULL,
    email    TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (ws, email)
) {keyed};
