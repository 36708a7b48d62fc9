-- Parts of the word index are put together while mail comes in only when there are eight of a
-- size: each word is then written again less often, and the upkeep does the rest.
INSERT INTO mail_words (mail_words, rank) VALUES ('automerge', 8);
