-- Word lists that may have lost words are written anew.
INSERT INTO index_rebuilds (name, next_num, due_at, words_only)
SELECT 'words of ' || num, num, 0, TRUE FROM conversation_index WHERE substr(words, 1, 1) = '~';
