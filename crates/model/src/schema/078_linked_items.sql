-- Items of issue trackers that conversations are linked to. `item` is host and path in lower case, as calls of the
-- tracker name it; `title` and `state` are what such a call said last.
CREATE TABLE conversation_links (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    conversation TEXT NOT NULL,
    kind         TEXT NOT NULL,
    item         TEXT NOT NULL,
    url          TEXT NOT NULL,
    name         TEXT NOT NULL,
    title        TEXT,
    state        TEXT,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX conversation_links_by_conversation ON conversation_links (ws, conversation, item);
CREATE INDEX conversation_links_by_item ON conversation_links (ws, kind, item, conversation);

-- Trackers whose calls a workspace takes: one address for each, and the secret that proves them.
CREATE TABLE tracker_webhooks (
    ws         BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    token      TEXT NOT NULL,
    secret     TEXT,
    created_at BIGINT NOT NULL,
    called_at  BIGINT,
    PRIMARY KEY (ws, kind)
) {keyed};
CREATE UNIQUE INDEX tracker_webhooks_by_token ON tracker_webhooks (token);

-- Whether a conversation is opened again when an item closes that it is linked to.
ALTER TABLE workspaces ADD COLUMN reopens_linked BOOLEAN NOT NULL DEFAULT FALSE;
