-- Named sets of people, so that an inbox can be for all of them at once.
CREATE TABLE teams (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    folded     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX teams_by_name ON teams (ws, folded);
CREATE TABLE team_members (
    ws     BIGINT NOT NULL,
    team   TEXT NOT NULL,
    person TEXT NOT NULL,
    PRIMARY KEY (ws, team, person)
) {keyed};
CREATE INDEX team_members_of_person ON team_members (ws, person, team);

-- Who sees an inbox that is for some, whose circle is its own id, and who sends from an inbox where not
-- everybody does. A holder is a person, a team or an agent.
CREATE TABLE mailbox_access (
    ws       BIGINT NOT NULL,
    mailbox  TEXT NOT NULL,
    holder   TEXT NOT NULL,
    may_see  BOOLEAN NOT NULL,
    may_send BOOLEAN NOT NULL,
    PRIMARY KEY (ws, mailbox, holder)
) {keyed};
CREATE INDEX mailbox_access_of_holder ON mailbox_access (ws, holder, mailbox) WHERE may_see = TRUE;

-- False where only the holders with `may_send` send.
ALTER TABLE mailboxes ADD COLUMN all_send BOOLEAN NOT NULL DEFAULT TRUE;
