-- What can be booked. Times are in minutes. `mode` is `any` (one of the hosts, by turns) or `together`.
-- `listed`: it is on the workspace's page; otherwise only its address leads to it. `mailbox` is the inbox
-- that writes to guests outside of a conversation.
CREATE TABLE booking_types (
    ws             BIGINT NOT NULL,
    id             TEXT NOT NULL,
    circle         TEXT NOT NULL,
    slug           TEXT NOT NULL,
    name           TEXT NOT NULL,
    description    TEXT NOT NULL,
    place          TEXT NOT NULL,
    minutes        BIGINT NOT NULL,
    step           BIGINT NOT NULL,
    before_minutes BIGINT NOT NULL,
    after_minutes  BIGINT NOT NULL,
    notice         BIGINT NOT NULL,
    horizon_days   BIGINT NOT NULL,
    per_day        BIGINT,
    mode           TEXT NOT NULL,
    questions      TEXT NOT NULL,
    mailbox        TEXT NOT NULL,
    listed         BOOLEAN NOT NULL,
    active         BOOLEAN NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX booking_types_by_slug ON booking_types (ws, circle, slug);

-- Who is there. `given` counts the bookings that a host got by turns.
CREATE TABLE booking_hosts (
    ws            BIGINT NOT NULL,
    type          TEXT NOT NULL,
    person        TEXT NOT NULL,
    place         BIGINT NOT NULL,
    weight        BIGINT NOT NULL,
    given         BIGINT NOT NULL,
    last_given_at BIGINT,
    PRIMARY KEY (ws, type, person)
) {keyed};
CREATE INDEX booking_hosts_of_person ON booking_hosts (ws, person);

-- When a person can be booked: civil hours in their zone. Whoever books or frees a time of theirs raises
-- `revision` in the same transaction, so that two cannot do so at once. `name` is of an invented host;
-- real ones have theirs in `users`. `feed_hash` is of the secret in the address of their calendar feed,
-- which `feed_generation` derives.
CREATE TABLE hosts (
    ws              BIGINT NOT NULL,
    person          TEXT NOT NULL,
    name            TEXT,
    zone            TEXT NOT NULL,
    weekly          TEXT NOT NULL,
    revision        BIGINT NOT NULL,
    feed_generation BIGINT NOT NULL,
    feed_hash       BYTES,
    PRIMARY KEY (ws, person)
) {keyed};
CREATE UNIQUE INDEX hosts_by_feed ON hosts (feed_hash);

-- Dates with hours of their own; without any they are days off.
CREATE TABLE host_dates (
    ws     BIGINT NOT NULL,
    person TEXT NOT NULL,
    date   TEXT NOT NULL,
    hours  TEXT NOT NULL,
    note   TEXT NOT NULL,
    PRIMARY KEY (ws, person, date)
) {keyed};

-- Days that a host spends in another zone, the last included.
CREATE TABLE host_stays (
    ws         BIGINT NOT NULL,
    person     TEXT NOT NULL,
    first_date TEXT NOT NULL,
    last_date  TEXT NOT NULL,
    zone       TEXT NOT NULL,
    PRIMARY KEY (ws, person, first_date)
) {keyed};

-- Appointments. `uid` and `sequence` are those of the entry in everybody's calendar, which a move keeps.
-- `token_hash` is of the secret in the address of the guest's page.
CREATE TABLE bookings (
    ws               BIGINT NOT NULL,
    id               TEXT NOT NULL,
    circle           TEXT NOT NULL,
    type             TEXT NOT NULL,
    host             TEXT NOT NULL,
    conversation     TEXT,
    starts_at        BIGINT NOT NULL,
    ends_at          BIGINT NOT NULL,
    guest_name       TEXT NOT NULL,
    guest_email      TEXT NOT NULL,
    guest_zone       TEXT NOT NULL,
    answers          TEXT NOT NULL,
    place            TEXT NOT NULL,
    status           TEXT NOT NULL,
    uid              TEXT NOT NULL,
    sequence         BIGINT NOT NULL,
    token_hash       BYTES NOT NULL,
    holds_until      BIGINT,
    remind_at        BIGINT,
    made_by          TEXT NOT NULL,
    cancelled_at     BIGINT,
    cancelled_by     TEXT NOT NULL,
    reason           TEXT NOT NULL,
    rescheduled_from TEXT,
    rescheduled_to   TEXT,
    created_at       BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {rows};
CREATE UNIQUE INDEX bookings_by_token ON bookings (token_hash);
CREATE INDEX bookings_by_uid ON bookings (ws, uid, sequence);
CREATE INDEX bookings_in_order ON bookings (ws, circle, starts_at, id);
CREATE INDEX bookings_of_conversation ON bookings (ws, conversation, starts_at, id)
    WHERE conversation IS NOT NULL;
CREATE INDEX bookings_of_guest ON bookings (ws, guest_email, created_at);
CREATE INDEX bookings_held ON bookings (holds_until) WHERE holds_until IS NOT NULL;
CREATE INDEX bookings_held_of_type ON bookings (ws, type, holds_until) WHERE holds_until IS NOT NULL;
CREATE INDEX bookings_to_remind ON bookings (remind_at) WHERE remind_at IS NOT NULL;

-- The time that a booking takes from each of its hosts, with what is kept free around it. Cancelled
-- bookings take none.
CREATE TABLE host_bookings (
    ws          BIGINT NOT NULL,
    person      TEXT NOT NULL,
    booking     TEXT NOT NULL,
    type        TEXT NOT NULL,
    starts_at   BIGINT NOT NULL,
    ends_at     BIGINT NOT NULL,
    pad_from    BIGINT NOT NULL,
    pad_to      BIGINT NOT NULL,
    holds_until BIGINT,
    PRIMARY KEY (ws, person, booking)
) {keyed};
CREATE UNIQUE INDEX host_bookings_by_start ON host_bookings (ws, person, starts_at);
CREATE INDEX host_bookings_in_order ON host_bookings (ws, person, pad_to);
CREATE INDEX host_bookings_of_booking ON host_bookings (ws, booking);

-- The times that a reply offers, and whom it offers them. The link works until `expires_at`, which is
-- set when the reply is to leave.
CREATE TABLE booking_offers (
    ws           BIGINT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    type         TEXT NOT NULL,
    times        TEXT NOT NULL,
    guest_name   TEXT,
    guest_email  TEXT NOT NULL,
    token_hash   BYTES NOT NULL,
    expires_at   BIGINT,
    PRIMARY KEY (ws, message)
) {keyed};
CREATE UNIQUE INDEX booking_offers_by_token ON booking_offers (token_hash);

-- Calendars that say when a host is busy. `address` and `password` are sealed; `title` is what is shown
-- of the address. `fetched_at` is when it was last read, `failing_since` when that first failed after.
CREATE TABLE busy_calendars (
    ws            BIGINT NOT NULL,
    id            TEXT NOT NULL,
    person        TEXT NOT NULL,
    kind          TEXT NOT NULL,
    title         TEXT NOT NULL,
    address       TEXT NOT NULL,
    username      TEXT NOT NULL,
    password      TEXT NOT NULL,
    etag          TEXT NOT NULL,
    fetched_at    BIGINT,
    next_fetch_at BIGINT,
    failing_since BIGINT,
    problem       TEXT NOT NULL,
    host_told     BOOLEAN NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE INDEX busy_calendars_of_person ON busy_calendars (ws, person);
CREATE INDEX busy_calendars_to_fetch ON busy_calendars (next_fetch_at) WHERE next_fetch_at IS NOT NULL;

CREATE TABLE busy_times (
    ws        BIGINT NOT NULL,
    person    TEXT NOT NULL,
    calendar  TEXT NOT NULL,
    ends_at   BIGINT NOT NULL,
    starts_at BIGINT NOT NULL,
    PRIMARY KEY (ws, person, calendar, ends_at, starts_at)
) {keyed};
CREATE INDEX busy_times_in_order ON busy_times (ws, person, ends_at);

-- Mail of the service with an entry for the recipient's calendar; the conversation that answers join.
ALTER TABLE notices ADD COLUMN calendar TEXT;
ALTER TABLE notices ADD COLUMN calendar_method TEXT;
ALTER TABLE notices ADD COLUMN conversation TEXT;

-- The sandbox has one type, with an invented host.
INSERT INTO hosts (ws, person, name, zone, weekly, revision, feed_generation)
SELECT ws, 'usr_' || substr(id, 5), 'Sam Sandbox', 'UTC', 'mon-fri 09:00-17:00', 0, 1 FROM workspaces;
INSERT INTO booking_types (
    ws, id, circle, slug, name, description, place, minutes, step, before_minutes, after_minutes, notice,
    horizon_days, mode, questions, mailbox, listed, active, created_at
)
SELECT w.ws, 'bkt_' || substr(w.id, 5), 'sandbox', 'call', 'Sandbox call', 'An invented appointment.',
       'Nowhere', 30, 30, 0, 0, 0, 60, 'any', '[]', m.id, FALSE, TRUE, w.created_at
FROM workspaces w JOIN mailboxes m ON m.ws = w.ws AND m.circle = 'sandbox';
INSERT INTO booking_hosts (ws, type, person, place, weight, given)
SELECT ws, 'bkt_' || substr(id, 5), 'usr_' || substr(id, 5), 0, 1, 0 FROM workspaces;
