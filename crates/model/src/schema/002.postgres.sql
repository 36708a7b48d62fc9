-- Transactions commit in another order than they began. A reader that goes no further than the
-- oldest transaction still open, in the order of transactions, passes no event over.
ALTER TABLE events ALTER COLUMN txn SET DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT);
