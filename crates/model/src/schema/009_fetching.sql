-- Where an inbox's mail is fetched from by IMAP. `password` is sealed. `next_try_at` is when the
-- next round is due, or, while `holder` names somebody who is at it, when their claim lapses.
-- `last_uid` is the last mail that was dealt with under `uid_validity`; mails up to `seen_to` may
-- have been dealt with before the server numbered them anew. `stuck_uid` is a mail that could not
-- be had `stuck_tries` times.
CREATE TABLE imap_accounts (
    ws              BIGINT NOT NULL,
    mailbox         TEXT NOT NULL,
    host            TEXT NOT NULL,
    port            BIGINT NOT NULL,
    security        TEXT NOT NULL,
    username        TEXT NOT NULL,
    password        TEXT NOT NULL,
    folder          TEXT NOT NULL,
    afterwards      TEXT NOT NULL,
    trusts          TEXT,
    new_since       BIGINT,
    uid_validity    BIGINT,
    last_uid        BIGINT NOT NULL,
    seen_to         BIGINT NOT NULL,
    stuck_uid       BIGINT NOT NULL,
    stuck_tries     BIGINT NOT NULL,
    next_try_at     BIGINT NOT NULL,
    holder          TEXT NOT NULL,
    failures        BIGINT NOT NULL,
    failing_since   BIGINT,
    owners_told     BOOLEAN NOT NULL,
    last_error      TEXT,
    last_fetched_at BIGINT,
    fetched         BIGINT NOT NULL,
    skipped         BIGINT NOT NULL,
    last_skipped    TEXT,
    skipped_told_at BIGINT,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (ws, mailbox)
) {keyed};
CREATE INDEX imap_accounts_due ON imap_accounts (next_try_at);
CREATE INDEX imap_accounts_failing ON imap_accounts (failing_since) WHERE failing_since IS NOT NULL;
