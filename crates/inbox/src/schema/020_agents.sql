-- What a person of the team looks after, in their own words.
ALTER TABLE users ADD COLUMN duty TEXT;
-- The scheduled and the failed messages of an inbox, in the order they are listed.
CREATE INDEX messages_scheduled ON messages (ws, mailbox, sends_at, id) WHERE status = 'scheduled';
CREATE INDEX messages_failed ON messages (ws, mailbox, at, id) WHERE status = 'failed';
