-- Words arrive folded and split by us, each led by the four characters of its workspace; the
-- prefix lengths are those four and the first two or three of the word. The rowid of a mail is
-- its conversation's `num` shifted by 20 bits plus the mail's serial, that of a document its `num`.
CREATE VIRTUAL TABLE mail_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '6 7'
);
CREATE VIRTUAL TABLE document_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '6 7'
);

-- The different words of a conversation's mails, one a line, each line ended and the first led by
-- a line break: whether a conversation has a word is answered without the index. Empty when there
-- are too many.
CREATE TABLE conversation_words (
    num   INTEGER PRIMARY KEY,
    words TEXT NOT NULL
) STRICT;
