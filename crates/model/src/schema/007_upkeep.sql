-- What the service does for itself now and then.
CREATE TABLE upkeep (
    name         TEXT NOT NULL,
    due_at       BIGINT NOT NULL,
    PRIMARY KEY (name)
) {keyed};
