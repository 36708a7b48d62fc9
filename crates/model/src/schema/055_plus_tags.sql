-- How it is known whether mail to an inbox's address with a plus tag arrives: a test mail to oneself
-- came back, or somebody said so. `plus_tag_test` is the id of the test mail that is on its way.
ALTER TABLE mailboxes ADD COLUMN plus_tag_state TEXT NOT NULL DEFAULT 'untested';
ALTER TABLE mailboxes ADD COLUMN plus_tag_test TEXT NOT NULL DEFAULT '';
ALTER TABLE mailboxes ADD COLUMN plus_tag_tested_at BIGINT;

-- Nobody tested the mailboxes that are fetched from elsewhere: their replies are recognized by
-- Message-ID until somebody does.
UPDATE mailboxes SET plus_tags = FALSE
WHERE EXISTS (SELECT 1 FROM imap_accounts a WHERE a.ws = mailboxes.ws AND a.mailbox = mailboxes.id);
