-- `reads_at` is when a document is to be read next, or when the claim of its reader lapses; none when
-- nothing more is to be done. What a person corrected is never read again.
ALTER TABLE documents ADD COLUMN reads_at BIGINT;
ALTER TABLE documents ADD COLUMN read_tries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN corrected BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX documents_to_read ON documents (reads_at) WHERE reads_at IS NOT NULL;
CREATE INDEX documents_to_read_of ON documents (ws, reads_at) WHERE reads_at IS NOT NULL;
UPDATE documents SET reads_at = created_at WHERE kind IS NULL AND circle <> 'sandbox';
