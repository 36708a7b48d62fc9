//! The people and agents who can see an inbox.

use base::actor::{Circle, Role};
use base::assignee::Assignee;
use base::error::Result;
use base::ids::{MemberId, UserId};
use db::Tx;

/// The SQL condition that the person `u` sees the circle that is the statement's second argument.
pub const PERSON_SEES: &str = "(?2 = 'team' OR u.id = ?2 OR EXISTS (
    SELECT 1 FROM mailbox_access x
    WHERE x.ws = u.ws AND x.mailbox = ?2 AND x.may_see = TRUE AND (x.holder = u.id OR EXISTS (
        SELECT 1 FROM team_members t
        WHERE t.ws = x.ws AND t.team = x.holder AND t.person = u.id
    ))
))";

/// The SQL condition that the agent `a` sees the circle that is the statement's second argument.
const AGENT_SEES: &str = "(?2 = 'team' OR ?2 = 'sandbox'
    OR (a.made_by = ?2 AND a.sees_private = TRUE)
    OR EXISTS (
        SELECT 1 FROM mailbox_access x
        WHERE x.ws = a.ws AND x.mailbox = ?2 AND x.holder = a.id AND x.may_see = TRUE
    ))";

/// The people and agents that a conversation can be assigned to.
pub struct Team {
    pub people: Vec<TeamMember>,
    pub agents: Vec<TeamMember>,
}

impl Team {
    /// The name of somebody who is in it.
    pub fn name_of(&self, id: &MemberId) -> Option<&str> {
        let (members, id) = match id {
            MemberId::User(id) => (&self.people, format!("user:{id}")),
            MemberId::Agent(id) => (&self.agents, format!("agent:{id}")),
        };
        members.iter().find(|member| member.id == id).map(|member| member.name.as_str())
    }
}

pub struct TeamMember {
    /// As the operation `assign` takes it: `user:usr_…` or `agent:agt_…`.
    pub id: String,
    pub name: String,
}

db::row! {
    /// A person of the team.
    pub struct Person from "users" {
        pub id: UserId,
        pub name: String,
        pub role: Role,
        /// What they look after, in their own words.
        pub duty: Option<String>,
    }
}

/// The people of a workspace by name.
pub fn people(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<Person>> {
    Ok(tx.all(
        &format!("SELECT {} FROM users WHERE ws = ?1 ORDER BY name, id", Person::COLUMNS),
        &[&ws],
    )?)
}

/// The people who see a circle, by name.
pub fn people_in(tx: &mut Tx<'_>, ws: i64, circle: &Circle) -> Result<Vec<Person>> {
    let seeing = team(tx, ws, circle)?.people;
    let mut people = people(tx, ws)?;
    people.retain(|person| seeing.iter().any(|one| one.id == format!("user:{}", person.id)));
    Ok(people)
}

/// Who can see a circle's conversations, and so be given one: for the team every person and every
/// live agent; for a private inbox its person and the agents they made; for an inbox for some those
/// it is given to; in the sandbox the test agents alone.
pub fn team(tx: &mut Tx<'_>, ws: i64, circle: &Circle) -> Result<Team> {
    // Nobody of the team sees the sandbox as a person.
    let members: Vec<(bool, String, String)> = tx.all(
        &format!(
            "SELECT FALSE, u.name, u.id FROM users u WHERE u.ws = ?1 AND ?3 AND {PERSON_SEES}
             UNION ALL
             SELECT TRUE, a.name, a.id FROM agents a
             WHERE a.ws = ?1 AND a.revoked_at IS NULL AND a.livemode = ?3 AND {AGENT_SEES}
             ORDER BY 1, 2, 3"
        ),
        &[&ws, circle, &!circle.is_sandbox()],
    )?;
    let mut team = Team { people: Vec::new(), agents: Vec::new() };
    for (is_agent, name, id) in members {
        match is_agent {
            true => team.agents.push(TeamMember { id: format!("agent:{id}"), name }),
            false => team.people.push(TeamMember { id: format!("user:{id}"), name }),
        }
    }
    Ok(team)
}

/// A person or agent by id, if they can see the circle.
pub fn in_circle(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    id: &MemberId,
) -> Result<Option<Assignee>> {
    let name: Option<(String,)> = match id {
        MemberId::User(_) if circle.is_sandbox() => None,
        MemberId::User(id) => tx.opt(
            &format!("SELECT u.name FROM users u WHERE u.ws = ?1 AND u.id = ?3 AND {PERSON_SEES}"),
            &[&ws, circle, id],
        )?,
        MemberId::Agent(id) => tx.opt(
            &format!(
                "SELECT a.name FROM agents a
                 WHERE a.ws = ?1 AND a.id = ?3 AND a.revoked_at IS NULL AND a.livemode = ?4
                   AND {AGENT_SEES}"
            ),
            &[&ws, circle, id, &!circle.is_sandbox()],
        )?,
    };
    Ok(name.map(|(name,)| Assignee::new(id.clone(), name)))
}

/// The name of a current or former member, for the history.
pub fn find_name(tx: &mut Tx<'_>, ws: i64, id: &MemberId) -> Result<Option<Assignee>> {
    let (table, sql) = match id {
        MemberId::User(_) => ("users", "SELECT name FROM users WHERE ws = ?1 AND id = ?2"),
        MemberId::Agent(_) => ("agents", "SELECT name FROM agents WHERE ws = ?1 AND id = ?2"),
    };
    let name: Option<(String,)> = tx.read_once(table, sql, &[&ws, id])?.pop();
    Ok(name.map(|(name,)| Assignee::new(id.clone(), name)))
}
