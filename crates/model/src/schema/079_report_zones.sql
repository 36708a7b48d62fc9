-- Reports on the clock of any zone: the counters of each quarter hour of a day in UTC, from 0 to 95. What was counted
-- before by the day alone stands at noon, so that its day is the same in nearly every zone; received mail at its hour.
ALTER TABLE report_facts ADD COLUMN quarter_hour BIGINT NOT NULL DEFAULT 48;
UPDATE report_facts SET quarter_hour = (CAST(name AS BIGINT) % 24) * 4 WHERE measure = 'received';
CREATE TABLE report_quarter_hours (
    ws           BIGINT NOT NULL,
    circle       TEXT NOT NULL,
    measure      TEXT NOT NULL,
    day          BIGINT NOT NULL,
    quarter_hour BIGINT NOT NULL,
    mailbox      TEXT NOT NULL,
    name         TEXT NOT NULL,
    n            BIGINT NOT NULL,
    PRIMARY KEY (ws, circle, measure, day, quarter_hour, mailbox, name)
) {keyed};
CREATE INDEX report_quarter_hours_of_inbox ON report_quarter_hours (ws, mailbox);
INSERT INTO report_quarter_hours (ws, circle, measure, day, quarter_hour, mailbox, name, n)
SELECT ws, circle, measure, day,
       CASE WHEN measure = 'received' THEN (CAST(name AS BIGINT) % 24) * 4 ELSE 48 END,
       mailbox, name, n
FROM report_days;

-- The zone of the workspace; empty for the one that the office hours of its inboxes agree on.
ALTER TABLE workspaces ADD COLUMN zone TEXT NOT NULL DEFAULT '';

-- When the report is mailed, and to whom. `pace` is `week` or `month`, `weekday` counts from Monday, 0; `last_period` is
-- the one that was mailed last, as its first and its last day.
CREATE TABLE report_schedules (
    ws          BIGINT NOT NULL,
    pace        TEXT NOT NULL,
    weekday     BIGINT NOT NULL,
    due_at      BIGINT NOT NULL,
    last_period TEXT NOT NULL,
    PRIMARY KEY (ws)
) {keyed};
CREATE INDEX report_schedules_due ON report_schedules (due_at, ws);
CREATE TABLE report_recipients (
    ws     BIGINT NOT NULL,
    person TEXT NOT NULL,
    PRIMARY KEY (ws, person)
) {keyed};

-- The period of a report, as its first and its last day: its words are written when it leaves, with what its reader may
-- see then.
ALTER TABLE notices ADD COLUMN report TEXT;
CREATE INDEX notices_of_report ON notices (ws, person) WHERE report IS NOT NULL;
