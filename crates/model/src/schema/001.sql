CREATE TABLE workspaces (
    ws         BIGINT NOT NULL PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    slug       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    plan       TEXT NOT NULL,
    created_at BIGINT NOT NULL
) {rows};

CREATE TABLE users (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    email      TEXT NOT NULL,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX users_by_email ON users (ws, email);

-- An agent and its key are one thing: each key acts as its own agent.
CREATE TABLE agents (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    key_hash   BYTES NOT NULL,
    scopes     TEXT NOT NULL,
    livemode   BOOLEAN NOT NULL,
    made_by    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX agents_by_key ON agents (key_hash);

CREATE TABLE mailboxes (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    address    TEXT NOT NULL,
    name       TEXT NOT NULL,
    circle     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX mailboxes_by_address ON mailboxes (address);

-- `view` is the list a conversation stands in: its status, or `snoozed` while it is.
-- `assignee` is the id of a person or agent, or empty. `tags` is a JSON list of names,
-- kept in step with conversation_tags so that a list needs no second query. `announced_turn` is
-- what the last `turn.changed` said.
CREATE TABLE conversations (
    ws              BIGINT NOT NULL,
    id              TEXT NOT NULL,
    num             BIGINT NOT NULL,
    circle          TEXT NOT NULL,
    mailbox         TEXT NOT NULL,
    view            TEXT NOT NULL,
    status          TEXT NOT NULL,
    snoozed_until   BIGINT,
    held            BOOLEAN NOT NULL,
    announced_turn  TEXT,
    subject         TEXT NOT NULL,
    base_subject    TEXT NOT NULL,
    snippet         TEXT NOT NULL,
    contact_name    TEXT,
    contact_email   TEXT NOT NULL,
    last_message_at BIGINT NOT NULL,
    message_count   BIGINT NOT NULL,
    next_serial     BIGINT NOT NULL,
    assignee        TEXT NOT NULL,
    tags            TEXT NOT NULL,
    topic           TEXT,
    urgency         TEXT,
    risk            TEXT,
    risk_reasons    TEXT NOT NULL,
    reference       TEXT,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE UNIQUE INDEX conversations_by_num ON conversations (num);
CREATE INDEX conversations_listed ON conversations (ws, circle, view, last_message_at, id, num);
CREATE INDEX conversations_in_mailbox ON conversations (ws, mailbox, view, last_message_at, id, num);
CREATE INDEX conversations_assigned ON conversations (ws, circle, assignee, view, last_message_at, id, num);
CREATE INDEX conversations_by_reference ON conversations (ws, reference, last_message_at, id) WHERE reference IS NOT NULL;
CREATE INDEX conversations_by_contact ON conversations (ws, mailbox, contact_email, base_subject);
CREATE INDEX conversations_snoozed ON conversations (snoozed_until) WHERE snoozed_until IS NOT NULL;

CREATE TABLE participants (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    email        TEXT NOT NULL,
    PRIMARY KEY (ws, conversation, email)
) {keyed};

-- `status` is null for mail that came in. `at` is its place in the timeline; `counted_at` is when
-- it moved its conversation in the list (drafts and scheduled mail do not).
-- `header_key` is the Message-ID, or its hash where it is too long for an index.
-- `withheld` keeps the announcements of held mail until a person releases it.
CREATE TABLE messages (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    conversation TEXT NOT NULL,
    mailbox      TEXT NOT NULL,
    serial       BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    counted_at   BIGINT,
    direction    TEXT NOT NULL,
    status       TEXT,
    header_id    TEXT NOT NULL,
    header_key   TEXT NOT NULL,
    answers      TEXT NOT NULL,
    from_name    TEXT,
    from_email   TEXT NOT NULL,
    to_list      TEXT NOT NULL,
    cc_list      TEXT NOT NULL,
    subject      TEXT NOT NULL,
    text         TEXT NOT NULL,
    attachments  TEXT NOT NULL,
    raw_hash     TEXT,
    withheld     TEXT,
    author       TEXT,
    summary      TEXT,
    revision     BIGINT NOT NULL,
    edited       BOOLEAN NOT NULL,
    request      TEXT,
    sends_at     BIGINT,
    discarded_at BIGINT,
    PRIMARY KEY (ws, id)
) {rows};
CREATE INDEX messages_in_conversation ON messages (ws, conversation, at, id);
CREATE UNIQUE INDEX messages_by_header ON messages (ws, mailbox, header_key);
CREATE INDEX messages_to_send ON messages (sends_at) WHERE sends_at IS NOT NULL;
CREATE INDEX messages_to_approve ON messages (ws, mailbox, at) WHERE status = 'draft' AND discarded_at IS NULL;

CREATE TABLE notes (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    id           TEXT NOT NULL,
    at           BIGINT NOT NULL,
    author       TEXT NOT NULL,
    author_name  TEXT NOT NULL,
    body         TEXT NOT NULL,
    PRIMARY KEY (ws, conversation, id)
) {keyed};

CREATE TABLE happenings (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    id           TEXT NOT NULL,
    at           BIGINT NOT NULL,
    actor_name   TEXT NOT NULL,
    event        TEXT NOT NULL,
    data         TEXT NOT NULL,
    PRIMARY KEY (ws, conversation, id)
) {keyed};

CREATE TABLE tags (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX tags_by_name ON tags (ws, folded);

CREATE TABLE conversation_tags (
    ws           BIGINT NOT NULL,
    tag          TEXT NOT NULL,
    conversation TEXT NOT NULL,
    PRIMARY KEY (ws, tag, conversation)
) {keyed};

-- Counts of what would grow too long to count. Each is spread over a few shards, so that writers
-- seldom meet on one row; the sum of the shards is exact.
CREATE TABLE tallies (
    ws     BIGINT NOT NULL,
    circle TEXT NOT NULL,
    what   TEXT NOT NULL,
    shard  BIGINT NOT NULL,
    n      BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, what, shard)
) {keyed};

-- Bytes named by their SHA-256. `packed` is null when they live in the blob folder.
CREATE TABLE blobs (
    ws     BIGINT NOT NULL,
    hash   TEXT NOT NULL,
    size   BIGINT NOT NULL,
    packed BYTES,
    PRIMARY KEY (ws, hash)
) {rows};

CREATE TABLE documents (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    num          BIGINT NOT NULL,
    circle       TEXT NOT NULL,
    mailbox      TEXT NOT NULL,
    conversation TEXT,
    message      TEXT,
    title        TEXT NOT NULL,
    filename     TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size         BIGINT NOT NULL,
    hash         TEXT NOT NULL,
    kind         TEXT,
    fields       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE UNIQUE INDEX documents_by_num ON documents (num);
CREATE INDEX documents_listed ON documents (ws, circle, created_at, id);
CREATE INDEX documents_of_kind ON documents (ws, circle, kind, created_at, id);

-- `token` is the secret of the private upload page.
CREATE TABLE requests (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    conversation TEXT NOT NULL,
    message      TEXT NOT NULL,
    token        TEXT NOT NULL,
    due_date     TEXT,
    opened_at    BIGINT,
    completed_at BIGINT,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE UNIQUE INDEX requests_by_token ON requests (token);
CREATE INDEX requests_of_conversation ON requests (ws, conversation);

CREATE TABLE request_items (
    ws          BIGINT NOT NULL,
    request     TEXT NOT NULL,
    place       BIGINT NOT NULL,
    label       TEXT NOT NULL,
    description TEXT,
    required    BOOLEAN NOT NULL,
    PRIMARY KEY (ws, request, place)
) {keyed};

-- Mail that an app sent by itself and told us of. Test keys write to the sandbox's side.
CREATE TABLE app_mail (
    ws           BIGINT NOT NULL,
    livemode     BOOLEAN NOT NULL,
    header_key   TEXT NOT NULL,
    header_id    TEXT NOT NULL,
    reference    TEXT NOT NULL,
    to_list      TEXT NOT NULL,
    subject      TEXT NOT NULL,
    text         TEXT,
    html         TEXT,
    conversation TEXT,
    recorded_at  BIGINT NOT NULL,
    PRIMARY KEY (ws, livemode, header_key)
) {rows};
CREATE INDEX app_mail_unanswered ON app_mail (ws, recorded_at) WHERE conversation IS NULL;
CREATE INDEX app_mail_of_conversation ON app_mail (ws, conversation) WHERE conversation IS NOT NULL;

CREATE TABLE webhooks (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    url        TEXT NOT NULL,
    circle     TEXT NOT NULL,
    livemode   BOOLEAN NOT NULL,
    secret     TEXT NOT NULL,
    state      TEXT NOT NULL,
    made_by    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};

-- `body` is the envelope exactly as it is sent, on every try.
CREATE TABLE events (
    ws           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    circle       TEXT NOT NULL,
    type         TEXT NOT NULL,
    conversation TEXT,
    body         TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};

CREATE TABLE deliveries (
    ws          BIGINT NOT NULL,
    webhook     TEXT NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL,
    tries       BIGINT NOT NULL,
    next_try_at BIGINT,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (ws, webhook, event)
) {keyed};
CREATE INDEX deliveries_due ON deliveries (next_try_at) WHERE next_try_at IS NOT NULL;

-- The first answer to a request that carried an Idempotency-Key.
CREATE TABLE answers (
    ws         BIGINT NOT NULL,
    agent      TEXT NOT NULL,
    key        TEXT NOT NULL,
    request    BYTES NOT NULL,
    body       BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, agent, key)
) {rows};
CREATE INDEX answers_by_age ON answers (ws, agent, created_at);
