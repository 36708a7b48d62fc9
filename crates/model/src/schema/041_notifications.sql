-- How a person is told of things: what a notice says, when digests come (minutes after midnight in the
-- person's zone), and quiet hours on days of the week, Monday first, as `1111100`. Without a row it is as
-- in `model/notifications/settings.rs`.
CREATE TABLE notice_settings (
    ws            BIGINT NOT NULL,
    person        TEXT NOT NULL,
    zone          TEXT NOT NULL,
    shows_names   BOOLEAN NOT NULL,
    digest        TEXT NOT NULL,
    digest_minute BIGINT NOT NULL,
    quiet_from    BIGINT,
    quiet_to      BIGINT,
    quiet_days    TEXT NOT NULL,
    PRIMARY KEY (ws, person)
) {keyed};

-- What a person wants to be told of, and by which ways: in every inbox (an empty `mailbox`) or in one. What
-- is NULL is as in every inbox, or as it is for everybody.
CREATE TABLE notice_choices (
    ws      BIGINT NOT NULL,
    kind    TEXT NOT NULL,
    mailbox TEXT NOT NULL,
    person  TEXT NOT NULL,
    browser BOOLEAN,
    mail    TEXT,
    PRIMARY KEY (ws, kind, mailbox, person)
) {keyed};
CREATE INDEX notice_choices_of_person ON notice_choices (ws, person, mailbox);

INSERT INTO notice_choices (ws, kind, mailbox, person, browser, mail)
SELECT ws, 'mentioned', '', id, NULL, 'no' FROM users WHERE mail_mentions = FALSE;
ALTER TABLE users DROP COLUMN mail_mentions;

-- What somebody is to be told of, by one way: once for each conversation and kind, however often it
-- happens. `batched` is told with others, in a digest. After it was told alone, `due_at` is NULL and the row
-- stays for a while, so that the next one waits.
CREATE TABLE notice_facts (
    ws           BIGINT NOT NULL,
    person       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    channel      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    by_name      TEXT NOT NULL,
    at           BIGINT NOT NULL,
    due_at       BIGINT,
    batched      BOOLEAN NOT NULL,
    told_at      BIGINT,
    PRIMARY KEY (ws, person, conversation, channel, kind)
) {rows};
CREATE INDEX notice_facts_due ON notice_facts (due_at) WHERE due_at IS NOT NULL;

-- How many notices a person got in a minute.
CREATE TABLE notice_pace (
    ws     BIGINT NOT NULL,
    person TEXT NOT NULL,
    minute BIGINT NOT NULL,
    told   BIGINT NOT NULL,
    PRIMARY KEY (ws, person)
) {keyed};

-- A notice about conversations is checked again when it leaves: who it is for, and which they are.
ALTER TABLE notices ADD COLUMN person TEXT;
ALTER TABLE notices ADD COLUMN about TEXT;

-- The sealed key pair by which push services know this installation; in workspace 0.
CREATE TABLE push_keys (
    ws     BIGINT NOT NULL,
    id     TEXT NOT NULL,
    secret TEXT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};

-- Browsers that take notices, each for one session. `target` is its address and keys, sealed.
CREATE TABLE push_subscriptions (
    ws            BIGINT NOT NULL,
    person        TEXT NOT NULL,
    id            TEXT NOT NULL,
    session       TEXT NOT NULL,
    device        TEXT NOT NULL,
    endpoint_hash BYTES NOT NULL,
    target        TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    used_at       BIGINT,
    PRIMARY KEY (ws, person, id)
) {keyed};
CREATE UNIQUE INDEX push_subscriptions_by_endpoint ON push_subscriptions (endpoint_hash);

-- Notices on their way to a browser; `payload` is sealed.
CREATE TABLE push_messages (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    person       TEXT NOT NULL,
    subscription TEXT NOT NULL,
    conversation TEXT,
    payload      TEXT NOT NULL,
    topic        TEXT NOT NULL,
    urgent       BOOLEAN NOT NULL,
    due_at       BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE INDEX push_messages_due ON push_messages (due_at);
CREATE INDEX push_messages_of_subscription ON push_messages (ws, subscription);
CREATE INDEX push_messages_of_conversation ON push_messages (ws, conversation) WHERE conversation IS NOT NULL;
