-- The app of a workspace's owner that is asked about customers: one for the team's conversations, one for the
-- sandbox's. `problem` is why it was not shown, since `failed_at`; empty while it answers.
CREATE TABLE customer_panels (
    ws               BIGINT NOT NULL,
    livemode         BOOLEAN NOT NULL,
    name             TEXT NOT NULL,
    url              TEXT NOT NULL,
    secret           TEXT NOT NULL,
    old_secret       TEXT,
    old_secret_until BIGINT,
    created_at       BIGINT NOT NULL,
    answered_at      BIGINT,
    failed_at        BIGINT,
    problem          TEXT NOT NULL,
    PRIMARY KEY (ws, livemode)
) {keyed};
