-- The scheduled backup of the installation; there is one row. `place` is null while none is set. A node
-- that writes one holds it until `leased_until`; `failures` counts those since the last success.
CREATE TABLE scheduled_backups (
    id           BIGINT NOT NULL PRIMARY KEY,
    place        TEXT,
    timing       TEXT,
    keeps        TEXT,
    next_at      BIGINT,
    leased_until BIGINT,
    succeeded_at BIGINT,
    backup       TEXT,
    failed_at    BIGINT,
    failure      TEXT,
    failures     BIGINT NOT NULL
) {keyed};
INSERT INTO scheduled_backups (id, failures) VALUES (1, 0);
