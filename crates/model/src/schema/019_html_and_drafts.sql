-- Whether a mail has an HTML part that can be shown; false for mail from before.
ALTER TABLE messages ADD COLUMN has_html BOOLEAN NOT NULL DEFAULT FALSE;
-- The drafts of a conversation, which every reply is told of.
CREATE INDEX messages_drafts ON messages (ws, conversation, at, id)
    WHERE status = 'draft' AND discarded_at IS NULL;
