-- Whom a letter also goes to without the others seeing it.
ALTER TABLE messages ADD COLUMN bcc_list TEXT NOT NULL DEFAULT '[]';
ALTER TABLE unfinished ADD COLUMN bcc_line TEXT NOT NULL DEFAULT '';

-- Files that go with a letter. While it is being written they belong to its writer and have no
-- message.
CREATE TABLE enclosures (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    conversation TEXT NOT NULL,
    person       TEXT NOT NULL,
    message      TEXT,
    filename     TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size         BIGINT NOT NULL,
    hash         TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE INDEX enclosures_of_conversation ON enclosures (ws, conversation, message);

-- Texts that the whole team answers with.
CREATE TABLE saved_replies (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL,
    body       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE UNIQUE INDEX saved_replies_by_name ON saved_replies (ws, folded);

-- Who was named in which note. The id is the note's.
CREATE TABLE mentions (
    ws           BIGINT NOT NULL,
    person       TEXT NOT NULL,
    id           TEXT NOT NULL,
    conversation TEXT NOT NULL,
    author       TEXT NOT NULL,
    author_name  TEXT NOT NULL,
    at           BIGINT NOT NULL,
    read_at      BIGINT,
    PRIMARY KEY (ws, person, id)
) {keyed};
CREATE INDEX mentions_unread ON mentions (ws, person, conversation) WHERE read_at IS NULL;
ALTER TABLE users ADD COLUMN mail_mentions BOOLEAN NOT NULL DEFAULT TRUE;

ALTER TABLE agents ADD COLUMN last_used_at BIGINT;

-- Who changed what in the settings. Rows are only ever added.
CREATE TABLE audit (
    ws         BIGINT NOT NULL,
    circle     TEXT NOT NULL,
    id         TEXT NOT NULL,
    at         BIGINT NOT NULL,
    actor      TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action     TEXT NOT NULL,
    thing      TEXT NOT NULL,
    detail     TEXT NOT NULL,
    PRIMARY KEY (ws, circle, id)
) {keyed};

CREATE INDEX deliveries_skipped ON deliveries (ws, webhook, event) WHERE state = 'skipped';
