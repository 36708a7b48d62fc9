//! The people and agents who can see an inbox.

use db::Tx;

use crate::base::actor::{Circle, Role};
use crate::base::assignee::Assignee;
use crate::base::error::Result;
use crate::base::ids::{AgentId, MemberId, UserId};

/// The people and agents that a conversation can be assigned to.
pub struct Team {
    pub people: Vec<TeamMember>,
    pub agents: Vec<TeamMember>,
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

/// Who can see a circle's conversations, and so be given one: for the team every person and every
/// live agent; for a private inbox its person and the agents they made; in the sandbox the test
/// agents alone.
pub fn team(tx: &mut Tx<'_>, ws: i64, circle: &Circle) -> Result<Team> {
    let people: Vec<(UserId, String)> = match circle.is_sandbox() {
        true => Vec::new(),
        false => tx.all(
            "SELECT id, name FROM users
             WHERE ws = ?1 AND (?2 = 'team' OR id = ?2) ORDER BY name, id",
            &[&ws, circle],
        )?,
    };
    let agents: Vec<(AgentId, String)> = tx.all(
        "SELECT id, name FROM agents
         WHERE ws = ?1 AND revoked_at IS NULL AND livemode = ?2
           AND (?3 = 'team' OR ?3 = 'sandbox' OR (made_by = ?3 AND sees_private = TRUE))
         ORDER BY name, id",
        &[&ws, &!circle.is_sandbox(), circle],
    )?;
    let people = people.into_iter().map(|(id, name)| TeamMember { id: format!("user:{id}"), name });
    let agents =
        agents.into_iter().map(|(id, name)| TeamMember { id: format!("agent:{id}"), name });
    Ok(Team { people: people.collect(), agents: agents.collect() })
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
            "SELECT name FROM users WHERE ws = ?1 AND id = ?2 AND (?3 = 'team' OR id = ?3)",
            &[&ws, id, circle],
        )?,
        MemberId::Agent(id) => tx.opt(
            "SELECT name FROM agents
             WHERE ws = ?1 AND id = ?2 AND revoked_at IS NULL AND livemode = ?3
               AND (?4 = 'team' OR ?4 = 'sandbox' OR (made_by = ?4 AND sees_private = TRUE))",
            &[&ws, id, &!circle.is_sandbox(), circle],
        )?,
    };
    Ok(name.map(|(name,)| Assignee::new(id.clone(), name)))
}

/// The name of a current or former member, for the history.
pub fn named(tx: &mut Tx<'_>, ws: i64, id: &MemberId) -> Result<Option<Assignee>> {
    let sql = match id {
        MemberId::User(_) => "SELECT name FROM users WHERE ws = ?1 AND id = ?2",
        MemberId::Agent(_) => "SELECT name FROM agents WHERE ws = ?1 AND id = ?2",
    };
    let name: Option<(String,)> = tx.opt(sql, &[&ws, id])?;
    Ok(name.map(|(name,)| Assignee::new(id.clone(), name)))
}
