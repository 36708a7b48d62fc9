-- Answers for more readers than the team. `audience` says who gets to see one: `team`, `helpers` or `everybody`;
-- `help_state` how far its public page is: `draft`, `review` or `public`. `original` is the answer that it is a
-- translation of; empty for none. `text_at` is when its words changed, `checked_at` when somebody said that they hold.
ALTER TABLE answers ADD COLUMN audience TEXT NOT NULL DEFAULT 'helpers';
ALTER TABLE answers ADD COLUMN help_state TEXT NOT NULL DEFAULT 'draft';
ALTER TABLE answers ADD COLUMN help_body TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN section TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN slug TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN original TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN look_at BIGINT;
ALTER TABLE answers ADD COLUMN text_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE answers ADD COLUMN checked_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE answers ADD COLUMN checked_by TEXT NOT NULL DEFAULT '';
UPDATE answers SET text_at = changed_at;
CREATE INDEX answers_of_original ON answers (ws, original);

-- What an answer said after each change, and who changed it.
CREATE TABLE answer_versions (
    ws        BIGINT NOT NULL,
    answer    TEXT NOT NULL,
    number    BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    by_name   TEXT NOT NULL,
    act       TEXT NOT NULL,
    title     TEXT NOT NULL,
    body      TEXT NOT NULL,
    help_body TEXT NOT NULL,
    section   TEXT NOT NULL,
    state     TEXT NOT NULL,
    PRIMARY KEY (ws, answer, number)
) {rows};

-- The help pages of a workspace: whether they are open, where below /help they are (empty for /help itself), the
-- language of its first page, and the contact form that they lead to (empty for none).
CREATE TABLE help_sites (
    ws         BIGINT NOT NULL,
    is_open    BOOLEAN NOT NULL,
    path       TEXT NOT NULL,
    language   TEXT NOT NULL,
    form       TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (ws)
) {keyed};
CREATE UNIQUE INDEX help_sites_by_path ON help_sites (path);

-- What everybody may read: a row for each answer that is public, and for no other. Public pages read nothing else.
-- `original` is shared by an answer and its translations.
CREATE TABLE help_pages (
    ws           BIGINT NOT NULL,
    answer       TEXT NOT NULL,
    original     TEXT NOT NULL,
    language     TEXT NOT NULL,
    slug         TEXT NOT NULL,
    section      TEXT NOT NULL,
    section_slug TEXT NOT NULL,
    title        TEXT NOT NULL,
    body         TEXT NOT NULL,
    plain        TEXT NOT NULL,
    is_older     BOOLEAN NOT NULL,
    valid_until  BIGINT,
    published_at BIGINT NOT NULL,
    changed_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, answer)
) {keyed};
CREATE UNIQUE INDEX help_pages_by_slug ON help_pages (ws, language, slug);
CREATE INDEX help_pages_by_section ON help_pages (ws, language, section_slug, title, answer);
CREATE INDEX help_pages_of_original ON help_pages (ws, original, language);
CREATE INDEX help_pages_newest ON help_pages (ws, changed_at, answer);

-- Every address that a page ever had; old ones lead to the new one.
CREATE TABLE help_slugs (
    ws       BIGINT NOT NULL,
    language TEXT NOT NULL,
    slug     TEXT NOT NULL,
    answer   TEXT NOT NULL,
    PRIMARY KEY (ws, language, slug)
) {keyed};
CREATE INDEX help_slugs_of_answer ON help_slugs (ws, answer);

-- The words of public pages, folded as a search folds them.
CREATE TABLE help_words (
    ws       BIGINT NOT NULL,
    language TEXT NOT NULL,
    word     TEXT NOT NULL,
    answer   TEXT NOT NULL,
    weight   BIGINT NOT NULL,
    PRIMARY KEY (ws, language, word, answer)
) {keyed};
CREATE INDEX help_words_of_answer ON help_words (ws, answer);

-- How many readers said that a page helped, and that it did not.
CREATE TABLE help_tallies (
    ws     BIGINT NOT NULL,
    answer TEXT NOT NULL,
    yes    BIGINT NOT NULL,
    no     BIGINT NOT NULL,
    PRIMARY KEY (ws, answer)
) {keyed};

-- Who was counted today, as hashes of their networks; days count from 1970.
CREATE TABLE help_votes (
    ws      BIGINT NOT NULL,
    day     BIGINT NOT NULL,
    answer  TEXT NOT NULL,
    network BYTES NOT NULL,
    PRIMARY KEY (ws, day, answer, network)
) {keyed};
