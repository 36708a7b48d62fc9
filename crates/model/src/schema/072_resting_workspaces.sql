-- Workspaces that rest. Nobody works with one that has `suspended_at`, and `reason` says why; nothing leaves one
-- that has `quiet_at`.
CREATE TABLE resting_workspaces (
    ws           BIGINT NOT NULL PRIMARY KEY,
    suspended_at BIGINT,
    reason       TEXT NOT NULL DEFAULT '',
    quiet_at     BIGINT
) {keyed};
