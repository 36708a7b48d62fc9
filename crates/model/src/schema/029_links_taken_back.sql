-- When the page of one recipient was taken back. A new link opens that recipient's page alone.
ALTER TABLE secure_links ADD COLUMN revoked_at BIGINT;
UPDATE secure_links
SET revoked_at = (
    SELECT s.revoked_at FROM secure_messages s
    WHERE s.ws = secure_links.ws AND s.message = secure_links.message
);
