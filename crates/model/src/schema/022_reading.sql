-- What authentication found about the sender when a mail arrived, as JSON; null where nothing was
-- checked.
ALTER TABLE messages ADD COLUMN authentication TEXT;

-- Senders whose remote pictures somebody always sees.
CREATE TABLE picture_senders (
    ws         BIGINT NOT NULL,
    person     TEXT NOT NULL,
    email      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, person, email)
) {keyed};

-- The small preview of a file, each by its hash. `preview` is null while there is none; `attempts`
-- counts how often one could not be made.
CREATE TABLE previews (
    ws       BIGINT NOT NULL,
    hash     TEXT NOT NULL,
    preview  TEXT,
    attempts BIGINT NOT NULL,
    PRIMARY KEY (ws, hash)
) {keyed};

-- A timeline is read in parts, from its end.
CREATE INDEX notes_in_timeline ON notes (ws, conversation, at, id);
CREATE INDEX timeline_events_in_timeline ON timeline_events (ws, conversation, at, id);
CREATE INDEX documents_of_message ON documents (ws, message, id) WHERE message IS NOT NULL;
CREATE INDEX attachments_of_message ON attachments (ws, message, id) WHERE message IS NOT NULL;
