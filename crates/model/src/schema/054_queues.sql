-- What waits can be held: it has no due time then. `held_sends_at` is when a held message would leave.
-- While `lease_until` lies ahead, a process is at work on the row.
ALTER TABLE messages ADD COLUMN held_at BIGINT;
ALTER TABLE messages ADD COLUMN held_by TEXT;
ALTER TABLE messages ADD COLUMN held_sends_at BIGINT;
ALTER TABLE messages ADD COLUMN lease_until BIGINT;
CREATE INDEX messages_held ON messages (ws, id) WHERE held_at IS NOT NULL;
CREATE INDEX messages_held_of_inbox ON messages (ws, mailbox) WHERE held_at IS NOT NULL;
ALTER TABLE deliveries ADD COLUMN held_at BIGINT;
ALTER TABLE deliveries ADD COLUMN held_by TEXT;
ALTER TABLE deliveries ADD COLUMN lease_until BIGINT;
CREATE INDEX deliveries_held ON deliveries (ws, webhook, event) WHERE held_at IS NOT NULL;
ALTER TABLE job_failures ADD COLUMN held_at BIGINT;
ALTER TABLE job_failures ADD COLUMN held_by TEXT;
CREATE INDEX job_failures_given_up ON job_failures (ws, queue, job) WHERE next_attempt_at IS NULL;
-- Why the last attempt to send a message, or to reach one recipient, came to nothing.
ALTER TABLE messages ADD COLUMN outcome_code TEXT;
ALTER TABLE messages ADD COLUMN outcome_text TEXT;
ALTER TABLE recipient_outcomes ADD COLUMN code TEXT;
ALTER TABLE messages ADD COLUMN failed_at BIGINT;
UPDATE messages SET failed_at = at WHERE status = 'failed';
CREATE INDEX messages_failed_at ON messages (ws, failed_at, id) WHERE failed_at IS NOT NULL;
