-- The pieces of a file that is being uploaded, each by a request that any node may have served; those
-- that do not count yet begin with a question mark.
ALTER TABLE uploads ADD COLUMN pieces TEXT NOT NULL DEFAULT '';

-- The processes that serve this database now. `name` is the same after a restart.
CREATE TABLE nodes (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    public_url TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
) {keyed};

CREATE INDEX busy_calendars_failing ON busy_calendars (failing_since) WHERE failing_since IS NOT NULL;
