-- The number of the conversation, so that a search need not look it up for each message. Rows of before have
-- none, until they are indexed again.
ALTER TABLE message_index ADD COLUMN num BIGINT;
INSERT INTO index_rebuilds (name, next_num, due_at)
SELECT 'conversation numbers', max(num), 0 FROM conversations HAVING max(num) IS NOT NULL;
