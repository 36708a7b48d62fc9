-- The rows of the word index get numbers that spread over FTS5's tables of deleted rows, conversation by
-- conversation while the server runs; the lists that may have lost words are written anew on the way.
INSERT INTO index_rebuilds (name, next_num, due_at)
SELECT 'row numbers that spread', max(num), 0 FROM conversations HAVING max(num) IS NOT NULL;

-- The index of documents is put together as the other is.
INSERT INTO document_index (document_index, rank) VALUES ('usermerge', 2);
INSERT INTO document_index (document_index, rank) VALUES ('automerge', 8);
