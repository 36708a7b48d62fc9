-- The language of the app that a person chose; empty for that of their browser.
ALTER TABLE users ADD COLUMN language TEXT NOT NULL DEFAULT '';
