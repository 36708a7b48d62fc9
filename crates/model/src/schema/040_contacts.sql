-- Addresses that are one person's. `contact` is the address that the person is shown under, `before` the
-- one until the merge, by which the merge is undone. `circle`: who knows that they belong together.
CREATE TABLE contact_addresses (
    ws        BIGINT NOT NULL,
    circle    TEXT NOT NULL,
    email     TEXT NOT NULL,
    contact   TEXT NOT NULL,
    before    TEXT NOT NULL,
    merged_by TEXT NOT NULL,
    merged_at BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, email)
) {keyed};
CREATE INDEX contact_addresses_together ON contact_addresses (ws, circle, contact, email);

-- What people write down about a person.
CREATE TABLE contact_notes (
    ws          BIGINT NOT NULL,
    email       TEXT NOT NULL,
    id          TEXT NOT NULL,
    circle      TEXT NOT NULL,
    author      TEXT NOT NULL,
    author_name TEXT NOT NULL,
    body        TEXT NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (ws, email, id)
) {rows};

-- The domain of a contact's address, by which a company's people are found.
ALTER TABLE contacts ADD COLUMN domain TEXT NOT NULL DEFAULT '';

-- The conversations in which somebody takes part, the latest begun last.
CREATE INDEX participants_by_email ON participants (ws, email, conversation);

-- The conversations that a person keeps on top of their lists.
CREATE TABLE pins (
    ws           BIGINT NOT NULL,
    person       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    pinned_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, person, conversation)
) {keyed};
CREATE INDEX pins_of_conversation ON pins (ws, conversation);

-- The people who are told when a customer answers.
CREATE TABLE followers (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    person       TEXT NOT NULL,
    since        BIGINT NOT NULL,
    PRIMARY KEY (ws, conversation, person)
) {keyed};
CREATE INDEX followers_of_person ON followers (ws, person);

-- True for people who follow every conversation in which a note mentions them.
ALTER TABLE users ADD COLUMN follows_mentions BOOLEAN NOT NULL DEFAULT FALSE;
