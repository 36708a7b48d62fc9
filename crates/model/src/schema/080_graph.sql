-- What a mailbox is read and sent from by: `imap` and `smtp`, or `graph` (Microsoft Graph).
ALTER TABLE imap_accounts ADD COLUMN protocol TEXT NOT NULL DEFAULT 'imap';
ALTER TABLE outgoing_servers ADD COLUMN protocol TEXT NOT NULL DEFAULT 'smtp';

-- How far a folder was read by Microsoft Graph. `delta_link` tells what is new; without it the folder is
-- listed from its beginning, where mail that was received up to `done_to` is had again only if its
-- Message-ID is unknown. `stuck_item` is a mail that could not be had `stuck_attempts` times; `passed_over`
-- has the ids of those that were left, one a line, until the next link is known.
CREATE TABLE graph_folders (
    ws             BIGINT NOT NULL,
    mailbox        TEXT NOT NULL,
    folder         TEXT NOT NULL,
    delta_link     TEXT,
    done_to        BIGINT NOT NULL,
    stuck_item     TEXT NOT NULL,
    stuck_attempts BIGINT NOT NULL,
    passed_over    TEXT NOT NULL,
    PRIMARY KEY (ws, mailbox, folder)
) {keyed};
