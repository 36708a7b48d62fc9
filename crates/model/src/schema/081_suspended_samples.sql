-- Samples rest like the workspaces in which they were made.
INSERT INTO resting_workspaces (ws, suspended_at, reason)
SELECT s.ws, r.suspended_at, r.reason
FROM workspaces s JOIN resting_workspaces r ON r.ws = s.sample_of
WHERE r.suspended_at IS NOT NULL
  AND s.deleted_at IS NULL
  AND s.ws NOT IN (SELECT ws FROM resting_workspaces);
