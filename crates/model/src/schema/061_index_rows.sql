-- A conversation whose word list is to be written again, because some of its words are gone: `next_num` is
-- its number. Rows without it are conversations from `next_num` down, of which everything is written.
ALTER TABLE index_rebuilds ADD COLUMN words_only BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX index_rebuilds_due ON index_rebuilds (due_at);

-- When what lies scattered in the index was last put together: not again for a while.
ALTER TABLE index_maintenance ADD COLUMN gathered_at BIGINT NOT NULL DEFAULT 0;
