-- The nouns inside compounds are words of the index too, and PostgreSQL gets the word lists that SQLite
-- has.
INSERT INTO index_rebuilds (name, next_num, due_at)
SELECT 'compounds and word lists', max(num), 0 FROM conversations HAVING max(num) IS NOT NULL;
