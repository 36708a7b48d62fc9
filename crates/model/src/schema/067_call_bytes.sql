-- Bytes of a call's arguments as they are kept, and of its answer; null for calls that are older.
ALTER TABLE agent_calls ADD COLUMN bytes BIGINT;
