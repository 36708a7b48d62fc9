CREATE SEQUENCE conversation_nums;
CREATE SEQUENCE document_nums;

CREATE TABLE mail_words (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    serial       BIGINT NOT NULL,
    words        TSVECTOR NOT NULL,
    PRIMARY KEY (ws, conversation, serial)
);
CREATE INDEX mail_words_by_word ON mail_words USING gin (words) WITH (fastupdate = off);

CREATE TABLE document_words (
    num   BIGINT NOT NULL PRIMARY KEY,
    words TSVECTOR NOT NULL
);
CREATE INDEX document_words_by_word ON document_words USING gin (words) WITH (fastupdate = off);
