-- What agents changed and made, with how each conversation stood before and after, so that it can be undone.
-- `thing` is the note, message or conversation that was made.
CREATE TABLE agent_acts (
    ws           BIGINT NOT NULL,
    agent        TEXT NOT NULL,
    id           TEXT NOT NULL,
    step         BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    kind         TEXT NOT NULL,
    conversation TEXT NOT NULL,
    thing        TEXT NOT NULL,
    before       TEXT,
    after        TEXT,
    undone_at    BIGINT,
    PRIMARY KEY (ws, agent, id, step)
) {rows};
CREATE INDEX agent_acts_not_undone ON agent_acts (ws, agent, at, id, step) WHERE undone_at IS NULL;
CREATE INDEX agent_acts_of_conversation ON agent_acts (ws, conversation);
CREATE INDEX agent_acts_by_age ON agent_acts (at);

-- The calls of keys, with bounded arguments and without secrets. `audience` is the circle that may
-- read the arguments.
CREATE TABLE agent_calls (
    ws           BIGINT NOT NULL,
    agent        TEXT NOT NULL,
    at           BIGINT NOT NULL,
    id           TEXT NOT NULL,
    audience     TEXT NOT NULL,
    operation    TEXT NOT NULL,
    status       BIGINT NOT NULL,
    request      TEXT NOT NULL,
    conversation TEXT,
    arguments    TEXT NOT NULL,
    error        TEXT,
    PRIMARY KEY (ws, agent, at, id)
) {rows};
CREATE INDEX agent_calls_of_operation ON agent_calls (ws, agent, operation, at, id);
CREATE INDEX agent_calls_of_conversation ON agent_calls (ws, conversation) WHERE conversation IS NOT NULL;
CREATE INDEX agent_calls_by_age ON agent_calls (at);

-- Who did what a timeline tells; empty for Mailroom itself and its rules, null for what is older.
ALTER TABLE timeline_events ADD COLUMN actor TEXT;

-- A note that was hidden, because what its agent did was undone.
ALTER TABLE notes ADD COLUMN hidden_at BIGINT;

-- An agent handed it over, and no person has taken it yet.
ALTER TABLE conversations ADD COLUMN handed_over_at BIGINT;
