-- Inboxes and whole workspaces that are being deleted; a job erases them in batches. `mailbox` is empty
-- for a workspace. `audience` is the circle that reads of it in the audit log.
CREATE TABLE deletions (
    ws       BIGINT NOT NULL,
    mailbox  TEXT NOT NULL,
    name     TEXT NOT NULL,
    audience TEXT NOT NULL,
    begun_at BIGINT NOT NULL,
    due_at   BIGINT NOT NULL,
    PRIMARY KEY (ws, mailbox)
) {keyed};
CREATE INDEX deletions_due ON deletions (due_at);

-- All that is kept of a workspace that was deleted. Its number is never used again.
CREATE TABLE deleted_workspaces (
    ws            BIGINT NOT NULL PRIMARY KEY,
    id            TEXT NOT NULL,
    deleted_at    BIGINT NOT NULL,
    deleted_by    TEXT NOT NULL,
    conversations BIGINT NOT NULL,
    messages      BIGINT NOT NULL,
    erased_at     BIGINT
) {keyed};

ALTER TABLE workspaces ADD COLUMN deleted_at BIGINT;

-- How many days a closed conversation stays untouched before it goes into the trash; null keeps it.
ALTER TABLE mailboxes ADD COLUMN kept_days BIGINT;
ALTER TABLE mailboxes ADD COLUMN retention_at BIGINT;
CREATE INDEX mailboxes_with_retention ON mailboxes (retention_at) WHERE retention_at IS NOT NULL;

-- What an erased conversation leaves behind is found by it.
CREATE INDEX contact_words_of_contact ON contact_words (ws, circle, email);
CREATE INDEX undo_steps_of_conversation ON undo_steps (ws, conversation);
CREATE INDEX rule_jobs_of_conversation ON rule_jobs (ws, conversation);
CREATE INDEX notices_of_conversation ON notices (ws, conversation) WHERE conversation IS NOT NULL;
