-- What ties the database to the files of its nodes: a check value of `secret.key`, the mark of the
-- folder of blobs. `written` is when a node last tried whether the database can be written.
CREATE TABLE node_files (
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
) {keyed};

-- The conversations of a contact under one subject, in the order in which they are looked for.
DROP INDEX conversations_by_contact;
CREATE INDEX conversations_by_contact ON conversations (ws, mailbox, contact_email, base_subject, last_message_at, id);
-- Every number is above 0. The condition keeps the index from those who do not ask for that:
-- PostgreSQL would take it for the look-up by subject, and walk everything a contact ever wrote.
DROP INDEX conversations_with_contact;
CREATE INDEX conversations_with_contact ON conversations (ws, contact_email, last_message_at, id) WHERE num > 0;

-- The same for the tries of one delivery, which are found by the primary key.
DROP INDEX deliveries_by_type;
CREATE INDEX deliveries_by_type ON deliveries (ws, webhook, type, event) WHERE tries >= 0;
