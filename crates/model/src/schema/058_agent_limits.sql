-- What a key or connected app may do beside its scopes, as JSON (`base/security/agent_policy`); null is the
-- profile `program`, which keys made before have. A paused one only reads. `alarmed_at` is when people were
-- last told that it changed very many conversations.
ALTER TABLE agents ADD COLUMN policy TEXT;
ALTER TABLE agents ADD COLUMN paused_at BIGINT;
ALTER TABLE agents ADD COLUMN paused_by TEXT;
ALTER TABLE agents ADD COLUMN pause_reason TEXT;
ALTER TABLE agents ADD COLUMN alarmed_at BIGINT;

-- What an agent did of late, counted against its policy. Rows are removed once they count no more.
-- `subject` is the conversation; `id` is the message or booking, and empty for a conversation changed.
CREATE TABLE agent_counts (
    ws      BIGINT NOT NULL,
    agent   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    id      TEXT NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (ws, agent, kind, subject, id)
) {rows};
CREATE INDEX agent_counts_of_late ON agent_counts (ws, agent, kind, at);

-- What waits of an agent is stopped when it is paused or revoked.
CREATE INDEX messages_scheduled_by ON messages (ws, author) WHERE status = 'scheduled';
-- What is unusual about a draft that no person wrote, as a JSON list of kinds; null where nothing is.
ALTER TABLE messages ADD COLUMN unusual TEXT;
