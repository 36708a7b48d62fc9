-- When the conversation of a message that left comes back if nobody has answered by then.
ALTER TABLE messages ADD COLUMN follow_up_at BIGINT;
