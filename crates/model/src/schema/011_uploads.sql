-- `asked_at` is when the message that asks really left, `remind_at` when the customer is reminded
-- next. `note` is what a request of its own says above its checklist. `hands_over_at` is when
-- accepted files are taken as handed over though nobody pressed the button.
ALTER TABLE requests ADD COLUMN asked_at BIGINT;
ALTER TABLE requests ADD COLUMN remind_at BIGINT;
ALTER TABLE requests ADD COLUMN note TEXT;
ALTER TABLE requests ADD COLUMN stopped_at BIGINT;
ALTER TABLE requests ADD COLUMN closed_at BIGINT;
ALTER TABLE requests ADD COLUMN revoked_at BIGINT;
ALTER TABLE requests ADD COLUMN submitted_at BIGINT;
ALTER TABLE requests ADD COLUMN hands_over_at BIGINT;
ALTER TABLE requests ADD COLUMN touched_at BIGINT;
CREATE INDEX requests_to_remind ON requests (remind_at) WHERE remind_at IS NOT NULL;
CREATE INDEX requests_to_hand_over ON requests (hands_over_at) WHERE hands_over_at IS NOT NULL;

-- Files that a customer adds to a request. `mark` is what the browser knows the file by, so that
-- it goes on where it was cut off. `due_at` is when something must be done about the row: bytes
-- that stopped coming are thrown away, a check is tried again, a copy that is not needed is removed.
CREATE TABLE uploads (
    ws           BIGINT NOT NULL,
    request      TEXT NOT NULL,
    id           TEXT NOT NULL,
    item         BIGINT NOT NULL,
    filename     TEXT NOT NULL,
    mark         TEXT NOT NULL,
    size         BIGINT NOT NULL,
    received     BIGINT NOT NULL,
    state        TEXT NOT NULL,
    content_type TEXT NOT NULL,
    problem      TEXT,
    document     TEXT,
    handed_over  BOOLEAN NOT NULL,
    tries        BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    due_at       BIGINT,
    PRIMARY KEY (ws, request, id)
) {keyed};
CREATE INDEX uploads_due ON uploads (due_at) WHERE due_at IS NOT NULL;

-- Mail that no person or agent wrote says so, and how to have no more of it.
ALTER TABLE messages ADD COLUMN automatic BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE messages ADD COLUMN unsubscribe TEXT;
