-- What a workspace may hold and do. Past `soft` its owners are warned once, at `warned_at`; past `hard` it ends.
CREATE TABLE workspace_limits (
    ws        BIGINT NOT NULL,
    what      TEXT NOT NULL,
    soft      BIGINT,
    hard      BIGINT,
    warned_at BIGINT,
    PRIMARY KEY (ws, what)
) {keyed};

-- What a workspace holds, spread over a few rows so that concurrent writers seldom meet; what it does in an hour, by
-- the number of the hour. `hour` is 0 for what it holds.
CREATE TABLE workspace_usage (
    ws    BIGINT NOT NULL,
    what  TEXT NOT NULL,
    hour  BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    n     BIGINT NOT NULL,
    PRIMARY KEY (ws, what, hour, shard)
) {keyed};

INSERT INTO workspace_usage (ws, what, hour, shard, n)
SELECT ws, 'messages', 0, 0, count(*) FROM messages GROUP BY ws;
INSERT INTO workspace_usage (ws, what, hour, shard, n)
SELECT ws, 'bytes', 0, 0, CAST(sum(size) AS BIGINT) FROM blobs GROUP BY ws;
INSERT INTO workspace_usage (ws, what, hour, shard, n)
SELECT ws, 'documentBytes', 0, 0, CAST(sum(size) AS BIGINT) FROM documents GROUP BY ws;
