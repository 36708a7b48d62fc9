-- Jobs of due work that failed: how often in a row, when last, and when they are tried again. A job
-- whose `next_try_at` is null was given up. `job` is the key of the row that is the job.
CREATE TABLE job_failures (
    ws          BIGINT NOT NULL,
    queue       TEXT NOT NULL,
    job         TEXT NOT NULL,
    attempts    BIGINT NOT NULL,
    reason      TEXT NOT NULL,
    failed_at   BIGINT NOT NULL,
    next_try_at BIGINT,
    PRIMARY KEY (ws, queue, job)
) {keyed};
CREATE INDEX job_failures_by_age ON job_failures (failed_at);

-- Domains that mail was sent to, which a look-alike may pretend to be.
CREATE TABLE correspondents (
    ws      BIGINT NOT NULL,
    circle  TEXT NOT NULL,
    domain  TEXT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, domain)
) {keyed};
CREATE INDEX correspondents_latest ON correspondents (ws, circle, last_at);

-- The inboxes of people who were removed are closed and not fetched.
DELETE FROM imap_accounts WHERE EXISTS (
    SELECT 1 FROM mailboxes m
    WHERE m.ws = imap_accounts.ws AND m.id = imap_accounts.mailbox
      AND m.address LIKE '%@closed.invalid'
);
