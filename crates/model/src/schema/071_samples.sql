-- Workspaces with made-up mail: the one that each was made in, or 0. Where `ends_at` is set, it is deleted then.
ALTER TABLE workspaces ADD COLUMN sample_of BIGINT;
ALTER TABLE workspaces ADD COLUMN ends_at BIGINT;
CREATE INDEX workspaces_samples ON workspaces (sample_of) WHERE sample_of IS NOT NULL;
CREATE INDEX workspaces_ending ON workspaces (ends_at) WHERE ends_at IS NOT NULL;

-- What of the first steps was tried last, and how it went.
CREATE TABLE first_step_outcomes (
    ws     BIGINT NOT NULL,
    step   TEXT NOT NULL,
    at     BIGINT NOT NULL,
    good   BOOLEAN NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (ws, step)
) {keyed};
