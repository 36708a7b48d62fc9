-- Mail of the service that answers a mail, beside mail that it writes of its own accord.
ALTER TABLE messages ADD COLUMN auto_replied BOOLEAN NOT NULL DEFAULT FALSE;
