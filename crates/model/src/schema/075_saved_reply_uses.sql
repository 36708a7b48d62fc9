-- How often people put a saved reply into a message, and when last.
ALTER TABLE saved_replies ADD COLUMN uses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE saved_replies ADD COLUMN used_at BIGINT;
