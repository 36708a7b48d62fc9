-- The SMTP servers that mail leaves through: of one inbox, or, where `mailbox` is empty, of every
-- inbox of the workspace that has none of its own. `password` is sealed, and empty where the server
-- wants none. Sign-in links leave only through a server that an owner set (`by_owner`): whoever sets a
-- server can read what passes through it.
CREATE TABLE outgoing_servers (
    ws            BIGINT NOT NULL,
    mailbox       TEXT NOT NULL,
    host          TEXT NOT NULL,
    port          BIGINT NOT NULL,
    security      TEXT NOT NULL,
    username      TEXT NOT NULL,
    password      TEXT NOT NULL,
    by_owner      BOOLEAN NOT NULL,
    changed_at    BIGINT NOT NULL,
    last_sent_at  BIGINT,
    failing_since BIGINT,
    last_error    TEXT,
    PRIMARY KEY (ws, mailbox)
) {keyed};

-- What an inbox with a server of its own has to send, whatever waits in the others.
CREATE INDEX messages_to_send_of_inbox ON messages (ws, mailbox, sends_at) WHERE sends_at IS NOT NULL;

-- An account that was set up in the app may lead to public addresses only; those from before were
-- set up by the operator.
ALTER TABLE imap_accounts ADD COLUMN by_operator BOOLEAN NOT NULL DEFAULT TRUE;

-- When somebody put the page of first steps away; workspaces from before do not see it.
ALTER TABLE workspaces ADD COLUMN first_steps_over_at BIGINT;
UPDATE workspaces SET first_steps_over_at = created_at;

-- What a sending service told of lately.
CREATE INDEX app_mail_of_service ON app_mail (ws, service, recorded_at) WHERE service IS NOT NULL;

-- The folder of sent mail of a mailbox: its name as the server writes it, empty where there is none and
-- null until it was looked for, and how far it was read.
ALTER TABLE imap_accounts ADD COLUMN sent_folder TEXT;
ALTER TABLE imap_accounts ADD COLUMN sent_validity BIGINT;
ALTER TABLE imap_accounts ADD COLUMN sent_uid BIGINT NOT NULL DEFAULT 0;

-- Messages that were sent and are to be put into the folder of sent mail.
CREATE TABLE sent_copies (
    ws       BIGINT NOT NULL,
    mailbox  TEXT NOT NULL,
    message  TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    PRIMARY KEY (ws, mailbox, message)
) {keyed};
