ALTER TABLE users ADD COLUMN first_signed_in_at BIGINT;
UPDATE users SET first_signed_in_at = created_at
WHERE EXISTS (SELECT 1 FROM passwords p WHERE p.ws = users.ws AND p.person = users.id)
   OR EXISTS (SELECT 1 FROM sessions s WHERE s.ws = users.ws AND s.person = users.id);

ALTER TABLE sign_in_links ADD COLUMN opens_private BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE sessions ADD COLUMN opens_private BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE passwords ADD COLUMN opens_private BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE agents ADD COLUMN sees_private BOOLEAN NOT NULL DEFAULT TRUE;

ALTER TABLE tags ADD COLUMN circle TEXT NOT NULL DEFAULT 'team';
DROP INDEX tags_by_name;
CREATE UNIQUE INDEX tags_by_name ON tags (ws, folded, circle);
UPDATE tags SET circle = (
    SELECT min(t.circle) FROM tallies t WHERE t.ws = tags.ws AND t.what = 'tag:' || tags.id
)
WHERE EXISTS (SELECT 1 FROM tallies t WHERE t.ws = tags.ws AND t.what = 'tag:' || tags.id)
  AND NOT EXISTS (
    SELECT 1 FROM tallies t
    WHERE t.ws = tags.ws AND t.what = 'tag:' || tags.id AND t.circle IN ('team', 'sandbox')
);
