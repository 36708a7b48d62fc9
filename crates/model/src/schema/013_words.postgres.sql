-- A mail's words are found by its conversation, whose id is compared by its bytes everywhere else.
ALTER TABLE mail_words ALTER COLUMN conversation TYPE TEXT COLLATE "C";
