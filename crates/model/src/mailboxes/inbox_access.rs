//! Who sees an inbox and who sends from it: everybody, one person, or chosen people, teams and agents.

use base::actor::{Actor, Circle, Principal};
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId, MailboxId, TeamId, UserId};
use base::limits::RESTRICTED_INBOXES;
use db::{Arg, Column, FromColumn, Tx, Value};

use crate::people::members;

/// Refused to somebody who sees an inbox and does not send from it.
const READS_ONLY: &str = "You can read this inbox but not send from it. Save a draft: somebody who \
                          sends from it can approve it.";

/// Somebody whom an inbox is given to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AccessHolder {
    Person(UserId),
    Team(TeamId),
    Agent(AgentId),
}

impl AccessHolder {
    pub fn parse(text: &str) -> Option<AccessHolder> {
        let person = UserId::parse(text).map(AccessHolder::Person);
        let team = || TeamId::parse(text).map(AccessHolder::Team);
        person.or_else(team).or_else(|| AgentId::parse(text).map(AccessHolder::Agent))
    }

    pub fn as_str(&self) -> &str {
        match self {
            AccessHolder::Person(id) => id.as_str(),
            AccessHolder::Team(id) => id.as_str(),
            AccessHolder::Agent(id) => id.as_str(),
        }
    }
}

impl Arg for AccessHolder {
    fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }
}

impl FromColumn for AccessHolder {
    const WANTED: &'static str = "the id of a person, a team or an agent";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(text) => AccessHolder::parse(text),
            _ => None,
        }
    }
}

db::row! {
    /// What one holder may do in an inbox.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AccessEntry from "mailbox_access" {
        pub holder: AccessHolder,
        pub may_see: bool,
        pub may_send: bool,
    }
}

/// The holders of an inbox.
pub fn entries(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<Vec<AccessEntry>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM mailbox_access WHERE ws = ?1 AND mailbox = ?2 ORDER BY holder",
            AccessEntry::COLUMNS
        ),
        &[&ws, mailbox],
    )?)
}

/// The circles of the workspace's inboxes for some.
pub fn restricted_circles(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<Circle>> {
    let found: Vec<(Circle,)> = tx.all(
        "SELECT circle FROM mailboxes WHERE ws = ?1 AND circle = id ORDER BY id LIMIT ?2",
        &[&ws, &RESTRICTED_INBOXES],
    )?;
    Ok(found.into_iter().map(|(circle,)| circle).collect())
}

/// Takes a member's conversations back in every inbox for some, because they leave.
pub fn unassign(tx: &mut Tx<'_>, ws: i64, member: &str) -> Result<()> {
    for circle in restricted_circles(tx, ws)? {
        unassign_in(tx, ws, &circle, member)?;
    }
    Ok(())
}

/// Takes back the conversations of an inbox for some from those who no longer see it.
pub fn unassign_outsiders(tx: &mut Tx<'_>, ws: i64, circle: &Circle) -> Result<()> {
    let team = members::team(tx, ws, circle)?;
    let sees: Vec<String> = team.people.into_iter().chain(team.agents).map(|one| one.id).collect();
    let people: Vec<(String,)> = tx.all("SELECT 'user:' || id FROM users WHERE ws = ?1", &[&ws])?;
    let agents: Vec<(String,)> =
        tx.all("SELECT 'agent:' || id FROM agents WHERE ws = ?1 AND livemode = TRUE", &[&ws])?;
    for (member,) in people.into_iter().chain(agents).filter(|(id,)| !sees.contains(id)) {
        let id = member.split_once(':').map_or("", |(_, id)| id);
        unassign_in(tx, ws, circle, id)?;
    }
    Ok(())
}

fn unassign_in(tx: &mut Tx<'_>, ws: i64, circle: &Circle, member: &str) -> Result<()> {
    tx.exec(
        "UPDATE conversations SET assignee = '' WHERE ws = ?1 AND circle = ?2 AND assignee = ?3",
        &[&ws, circle, &member],
    )?;
    Ok(())
}

/// True where everybody who sees an inbox sends from it.
pub fn all_send(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<bool> {
    let found: Option<(bool,)> =
        tx.opt("SELECT all_send FROM mailboxes WHERE ws = ?1 AND id = ?2", &[&ws, mailbox])?;
    Ok(found.is_none_or(|(all_send,)| all_send))
}

/// True for whoever may send from an inbox that they see. Mailroom itself and the team's rules may.
pub fn may_send(tx: &mut Tx<'_>, actor: &Actor, mailbox: &MailboxId) -> Result<bool> {
    let id: &dyn Arg = match &actor.who {
        Principal::Person { id, .. } => id,
        Principal::Agent { id, .. } => id,
        Principal::System | Principal::Rule { .. } => return Ok(true),
    };
    if all_send(tx, actor.ws, mailbox)? {
        return Ok(true);
    }
    let found: Option<(String,)> = tx.opt(
        "SELECT x.holder FROM mailbox_access x
         WHERE x.ws = ?1 AND x.mailbox = ?2 AND x.may_send = TRUE AND (x.holder = ?3 OR EXISTS (
             SELECT 1 FROM team_members t
             WHERE t.ws = x.ws AND t.team = x.holder AND t.person = ?3
         )) LIMIT 1",
        &[&actor.ws, mailbox, id],
    )?;
    Ok(found.is_some())
}

/// Refuses whoever may not send from an inbox.
pub fn must_send(tx: &mut Tx<'_>, actor: &Actor, mailbox: &MailboxId) -> Result<()> {
    match (may_send(tx, actor, mailbox)?, &actor.who) {
        (true, _) => Ok(()),
        // The page shows it beside what was typed, which stays.
        (false, Principal::Person { .. }) => Err(Error::invalid("send", READS_ONLY)),
        (false, _) => Err(Error::Forbidden(READS_ONLY.into())),
    }
}

/// Refuses whoever may not send from the inbox of a conversation.
pub fn must_send_in(tx: &mut Tx<'_>, actor: &Actor, conversation: &ConversationId) -> Result<()> {
    let found: Option<(MailboxId,)> = tx.opt(
        "SELECT mailbox FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&actor.ws, conversation],
    )?;
    match found {
        Some((mailbox,)) => must_send(tx, actor, &mailbox),
        None => Ok(()),
    }
}
