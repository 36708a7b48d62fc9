-- The conversation that this one was merged into; its id goes on answering for that one. Its view is
-- `merged` meanwhile, and its messages are there.
ALTER TABLE conversations ADD COLUMN merged_into TEXT;
CREATE INDEX conversations_merged ON conversations (ws, merged_into) WHERE merged_into IS NOT NULL;

-- What a merge can be undone with: how both stood before, and what went over.
CREATE TABLE merges (
    ws        BIGINT NOT NULL,
    source    TEXT NOT NULL,
    target    TEXT NOT NULL,
    merged_at BIGINT NOT NULL,
    before    TEXT NOT NULL,
    PRIMARY KEY (ws, source)
) {rows};
CREATE TABLE merged_items (
    ws     BIGINT NOT NULL,
    source TEXT NOT NULL,
    kind   TEXT NOT NULL,
    item   TEXT NOT NULL,
    PRIMARY KEY (ws, source, kind, item)
) {keyed};
