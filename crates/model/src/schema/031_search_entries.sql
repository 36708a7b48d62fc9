-- The rows of notes, documents and tags in the word index: `item` is the id of a note or document, or
-- `tags`; `serial` is its number there, beyond those of the conversation's mails.
CREATE TABLE index_entries (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    item         TEXT NOT NULL,
    serial       BIGINT NOT NULL,
    PRIMARY KEY (ws, conversation, item)
) {keyed};
ALTER TABLE conversations ADD COLUMN next_entry BIGINT NOT NULL DEFAULT 524288;

-- What was read in a document, for search; null before it was read.
ALTER TABLE documents ADD COLUMN text TEXT;

-- Conversations whose words are to be indexed again, from the newest down; the row ends with the work.
CREATE TABLE index_rebuilds (
    name     TEXT NOT NULL,
    next_num BIGINT NOT NULL,
    due_at   BIGINT NOT NULL,
    PRIMARY KEY (name)
) {keyed};
INSERT INTO index_rebuilds (name, next_num, due_at)
SELECT 'operators, notes and documents', max(num), 0 FROM conversations HAVING max(num) IS NOT NULL;

-- Why a conversation is out of the way: `spam` or `trash`; its view says the same. What is in the trash
-- is erased at `erase_at`.
ALTER TABLE conversations ADD COLUMN removed TEXT;
ALTER TABLE conversations ADD COLUMN erase_at BIGINT;
CREATE INDEX conversations_to_erase ON conversations (erase_at) WHERE erase_at IS NOT NULL;

-- What few conversations are or have, in the order of their lists.
CREATE INDEX conversations_with_draft ON conversations (ws, circle, view, last_message_at, id, num)
    WHERE has_draft = TRUE;
CREATE INDEX conversations_with_secure ON conversations (ws, circle, view, last_message_at, id, num)
    WHERE has_secure = TRUE;
CREATE INDEX conversations_held_listed ON conversations (ws, circle, view, last_message_at, id, num)
    WHERE held = TRUE;

-- Senders whose mail goes to the spam at once.
CREATE TABLE blocked_senders (
    ws         BIGINT NOT NULL,
    circle     TEXT NOT NULL,
    email      TEXT NOT NULL,
    blocked_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, email)
) {keyed};

-- The latest act of a person on one or many conversations, and how each stood before and after.
CREATE TABLE undos (
    ws         BIGINT NOT NULL,
    person     TEXT NOT NULL,
    id         TEXT NOT NULL,
    act        TEXT NOT NULL,
    changed    BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, person, id)
) {keyed};
CREATE TABLE undo_steps (
    ws           BIGINT NOT NULL,
    undo         TEXT NOT NULL,
    conversation TEXT NOT NULL,
    before       TEXT NOT NULL,
    after        TEXT NOT NULL,
    PRIMARY KEY (ws, undo, conversation)
) {keyed};

-- After closing, snoozing or passing on, a person sees the next conversation, or else the list.
ALTER TABLE users ADD COLUMN opens_list BOOLEAN NOT NULL DEFAULT FALSE;

-- Files of the blob folder that no row refers to any more. They are first set aside, and removed some
-- time later unless a row refers to them again.
CREATE TABLE unused_blobs (
    hash      TEXT NOT NULL,
    set_aside BOOLEAN NOT NULL,
    due_at    BIGINT NOT NULL,
    PRIMARY KEY (hash)
) {keyed};
CREATE INDEX unused_blobs_due ON unused_blobs (due_at);
CREATE INDEX blobs_in_folder ON blobs (hash) WHERE packed IS NULL;
CREATE INDEX messages_of_blob ON messages (ws, raw_hash) WHERE raw_hash IS NOT NULL;
CREATE INDEX documents_of_blob ON documents (ws, hash);
CREATE INDEX attachments_of_blob ON attachments (ws, hash);
CREATE INDEX events_of_conversation ON events (ws, conversation) WHERE conversation IS NOT NULL;
CREATE INDEX helper_findings_of_found ON helper_findings (ws, found);
CREATE INDEX previews_of_blob ON previews (ws, preview) WHERE preview IS NOT NULL;

-- Searches that stand in the sidebar. `owner` is `team`, or the person whose own it is.
CREATE TABLE saved_views (
    ws         BIGINT NOT NULL,
    owner      TEXT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    q          TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, owner, id)
) {keyed};
