-- What the team did for somebody: who only wrote has done nothing that makes them known.
ALTER TABLE contacts ADD COLUMN standing TEXT;
UPDATE contacts SET standing = 'trusted'
WHERE EXISTS (
    SELECT 1 FROM conversations c
    WHERE c.ws = contacts.ws AND c.contact_email = contacts.email
      AND c.circle || '' = contacts.circle AND (
          EXISTS (
              SELECT 1 FROM messages m
              WHERE m.ws = c.ws AND m.conversation = c.id AND m.direction = 'outbound'
                AND m.status = 'sent' AND m.automatic = FALSE
                AND (m.approved IS NOT NULL OR coalesce(m.author, '') NOT LIKE 'agt\_%' ESCAPE '\')
          )
          OR EXISTS (
              SELECT 1 FROM timeline_events t
              WHERE t.ws = c.ws AND t.conversation = c.id AND t.event = 'released'
          )
      )
);
UPDATE contacts SET standing = 'written'
WHERE standing IS NULL AND EXISTS (
    SELECT 1 FROM conversations c
    JOIN messages m ON m.ws = c.ws AND m.conversation = c.id
    WHERE c.ws = contacts.ws AND c.contact_email = contacts.email
      AND c.circle || '' = contacts.circle AND m.direction = 'outbound' AND m.status = 'sent'
      AND m.automatic = FALSE
);
-- Since when a domain is written to; of those that are known already that is long ago.
ALTER TABLE correspondents ADD COLUMN first_at BIGINT NOT NULL DEFAULT 0;
