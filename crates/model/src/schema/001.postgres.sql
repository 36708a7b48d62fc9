CREATE SEQUENCE conversation_nums;
CREATE SEQUENCE document_nums;

-- A long mail has several rows: a tsvector holds so many bytes and knows so many places.
CREATE TABLE mail_words (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    serial       BIGINT NOT NULL,
    part         BIGINT NOT NULL,
    words        TSVECTOR NOT NULL,
    PRIMARY KEY (ws, conversation, serial, part)
);
CREATE INDEX mail_words_by_word ON mail_words USING gin (words) WITH (fastupdate = off);

CREATE TABLE document_words (
    num   BIGINT NOT NULL PRIMARY KEY,
    words TSVECTOR NOT NULL
);
CREATE INDEX document_words_by_word ON document_words USING gin (words) WITH (fastupdate = off);
