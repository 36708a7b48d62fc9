-- In which form a webhook is told: `mailroom`, or as a message of a chat. The address of one for a chat is a secret: it
-- is sealed in `secret`, and `url` has no more of it than tells it from others.
ALTER TABLE webhooks ADD COLUMN format TEXT NOT NULL DEFAULT 'mailroom';
