-- The word index is put together from its parts as soon as there are two of a size.
INSERT INTO mail_words (mail_words, rank) VALUES ('usermerge', 2);
INSERT INTO upkeep (name, due_at) VALUES ('search index', 0);
