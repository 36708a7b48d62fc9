-- The different words of a conversation's messages, one a line, each line ended and the first led by a
-- line break: whether a conversation has a word is answered without the words of each message. Empty
-- when there are too many; missing while a conversation of before was not indexed again. Rows up to the
-- size of a page are neither compressed nor moved out of line, because a search reads dozens of them.
CREATE TABLE conversation_index (
    num   BIGINT NOT NULL PRIMARY KEY,
    words TEXT COLLATE "C" NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE conversation_index ALTER COLUMN words SET STORAGE EXTERNAL;
