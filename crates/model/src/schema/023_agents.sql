-- What a person of the team looks after, in their own words.
ALTER TABLE users ADD COLUMN duty TEXT;
-- The scheduled and the failed messages of an inbox, in the order they are listed.
CREATE INDEX messages_scheduled ON messages (ws, mailbox, sends_at, id) WHERE status = 'scheduled';
CREATE INDEX messages_failed ON messages (ws, mailbox, at, id) WHERE status = 'failed';

-- The events that a webhook hears beside those that all hear, as a JSON list of their names.
ALTER TABLE webhooks ADD COLUMN chosen_events TEXT NOT NULL DEFAULT '[]';

-- Whose mail is the latest; null before the first. `waiting_since` is when the customer's oldest
-- unanswered mail came; null when none waits for an answer. `has_draft` is kept in step with the
-- drafts that wait for a person.
ALTER TABLE conversations ADD COLUMN last_direction TEXT;
ALTER TABLE conversations ADD COLUMN waiting_since BIGINT;
ALTER TABLE conversations ADD COLUMN has_draft BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE conversations SET
    last_direction = (
        SELECT m.direction FROM messages m
        WHERE m.ws = conversations.ws AND m.conversation = conversations.id AND m.counted_at IS NOT NULL
        ORDER BY m.at DESC, m.id DESC LIMIT 1
    ),
    has_draft = EXISTS (
        SELECT 1 FROM messages m
        WHERE m.ws = conversations.ws AND m.conversation = conversations.id
          AND m.status = 'draft' AND m.discarded_at IS NULL
    );
UPDATE conversations SET waiting_since = (
    SELECT min(m.at) FROM messages m
    WHERE m.ws = conversations.ws AND m.conversation = conversations.id AND m.direction = 'inbound'
      AND m.at > coalesce((
          SELECT max(o.at) FROM messages o
          WHERE o.ws = conversations.ws AND o.conversation = conversations.id
            AND o.direction = 'outbound' AND o.counted_at IS NOT NULL AND NOT o.automatic
      ), 0)
)
WHERE status = 'open';
CREATE INDEX conversations_waiting ON conversations (ws, circle, view, waiting_since, id, num)
    WHERE waiting_since IS NOT NULL;
CREATE INDEX conversations_waiting_in_mailbox ON conversations (ws, mailbox, view, waiting_since, id, num)
    WHERE waiting_since IS NOT NULL;
CREATE INDEX conversations_of_contact ON conversations (ws, contact_email, last_message_at, id, num);
