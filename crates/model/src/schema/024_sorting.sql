-- What mail can be about. A conversation names its topic by id.
CREATE TABLE topics (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL,
    words      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX topics_by_name ON topics (ws, folded);

-- Decisions that the sorting helper learns from: hashes of a mail's words, never the words. `label` is
-- the id of a topic, an urgency, `spam` or `fine`; empty is "none of these". `guess` and `confidence`
-- are what the helper thought before the decision, `given` that it had set it.
CREATE TABLE sorter_examples (
    ws           BIGINT NOT NULL,
    circle       TEXT NOT NULL,
    kind         TEXT NOT NULL,
    conversation TEXT NOT NULL,
    label        TEXT NOT NULL,
    by_agent     BOOLEAN NOT NULL,
    at           BIGINT NOT NULL,
    guess        TEXT,
    confidence   DOUBLE,
    given        BOOLEAN NOT NULL,
    features     BYTES NOT NULL,
    PRIMARY KEY (ws, circle, kind, conversation)
) {rows};
CREATE INDEX sorter_examples_in_order ON sorter_examples (ws, circle, kind, at, conversation);
CREATE INDEX sorter_examples_of_label ON sorter_examples (ws, circle, kind, label, at, conversation);

-- Raised with every change of the examples of a circle; with an empty `circle`, of the topics. A model
-- in memory is used only while it is of this revision.
CREATE TABLE sorter_revisions (
    ws       BIGINT NOT NULL,
    circle   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, kind)
) {keyed};

-- `topic_by` and `urgency_by` say who decided: a person's or an agent's id, or `helper`.
ALTER TABLE conversations ADD COLUMN topic_by TEXT;
ALTER TABLE conversations ADD COLUMN topic_reasons TEXT NOT NULL DEFAULT '[]';
ALTER TABLE conversations ADD COLUMN guessed_topic TEXT;
ALTER TABLE conversations ADD COLUMN guess_confidence DOUBLE;
ALTER TABLE conversations ADD COLUMN urgency_by TEXT;
ALTER TABLE conversations ADD COLUMN urgency_reasons TEXT NOT NULL DEFAULT '[]';
ALTER TABLE conversations ADD COLUMN language TEXT;
-- When it is to be sorted; null when nothing is to be done.
ALTER TABLE conversations ADD COLUMN sorts_at BIGINT;
CREATE INDEX conversations_to_sort ON conversations (sorts_at) WHERE sorts_at IS NOT NULL;
CREATE INDEX conversations_of_topic ON conversations (ws, topic, view, last_message_at, id, num)
    WHERE topic IS NOT NULL;
CREATE INDEX conversations_of_urgency ON conversations (ws, urgency, view, last_message_at, id, num)
    WHERE urgency <> 'normal';

-- True for received mail that no person wrote.
ALTER TABLE messages ADD COLUMN auto_reply BOOLEAN NOT NULL DEFAULT FALSE;
