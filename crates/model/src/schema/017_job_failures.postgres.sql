-- Whoever was answered before is known.
INSERT INTO correspondents (ws, circle, domain, last_at)
SELECT c.ws, c.circle, lower(substr(c.contact_email, strpos(c.contact_email, '@') + 1)),
       max(c.last_message_at)
FROM conversations c
WHERE strpos(c.contact_email, '@') > 0 AND EXISTS (
    SELECT 1 FROM messages m
    WHERE m.ws = c.ws AND m.conversation = c.id AND m.direction = 'outbound' AND m.status = 'sent'
)
GROUP BY 1, 2, 3;
