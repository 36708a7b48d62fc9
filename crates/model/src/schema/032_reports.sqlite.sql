INSERT INTO report_backfill (name, num, until, due_at)
SELECT 'history', 0, CAST(strftime('%s', 'now') AS INTEGER) * 1000, 0
WHERE EXISTS (SELECT 1 FROM conversations);
