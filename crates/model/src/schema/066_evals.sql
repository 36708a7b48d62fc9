-- Test cases for agents: the customer's mails, and what must and must not happen, as TOML.
CREATE TABLE eval_cases (
    ws         BIGINT NOT NULL,
    name       TEXT NOT NULL,
    definition TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (ws, name)
) {keyed};

-- A run of test cases against an agent. `ended_at` is null while it goes on, and where it was interrupted.
CREATE TABLE eval_runs (
    ws       BIGINT NOT NULL,
    number   BIGINT NOT NULL,
    agent    TEXT NOT NULL,
    begun_at BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (ws, number)
) {keyed};

-- What came of a case in a run; `verdicts` and `outcome` are JSON: each check, and all that was graded. In an `idle`
-- one the agent did nothing.
CREATE TABLE eval_results (
    ws       BIGINT NOT NULL,
    run      BIGINT NOT NULL,
    place    BIGINT NOT NULL,
    name     TEXT NOT NULL,
    passed   BOOLEAN NOT NULL,
    idle     BOOLEAN NOT NULL,
    took_ms  BIGINT NOT NULL,
    verdicts TEXT NOT NULL,
    outcome  TEXT NOT NULL,
    PRIMARY KEY (ws, run, place)
) {rows};
CREATE INDEX eval_results_of_case ON eval_results (ws, name, run);
