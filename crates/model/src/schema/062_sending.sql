-- For how many seconds people can stop what they wrote: in the workspace, and for those who chose for themselves.
-- Who answers a conversation that nobody has gets it.
ALTER TABLE workspaces ADD COLUMN undo_seconds BIGINT NOT NULL DEFAULT 30;
ALTER TABLE workspaces ADD COLUMN answer_assigns BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE users ADD COLUMN undo_seconds BIGINT;

-- When a message was sent or approved, and what that changed in its conversation, which is taken back if it is stopped.
ALTER TABLE messages ADD COLUMN scheduled_at BIGINT;
ALTER TABLE messages ADD COLUMN send_effects TEXT;
CREATE INDEX messages_on_the_way ON messages (ws, conversation) WHERE status IN ('scheduled', 'sending');

-- When the next answer of a conversation leaves, unless the customer wrote after it: until then it is in the view `leaving`.
ALTER TABLE conversations ADD COLUMN leaves_at BIGINT;
