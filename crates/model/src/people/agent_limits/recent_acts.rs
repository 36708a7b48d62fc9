//! What an agent did of late. The rows of one agent take turns, so that its limits hold on several nodes.
//!
//! | kind | subject | id |
//! |---|---|---|
//! | `message`, `draft` | the conversation | the message |
//! | `booking` | what was done | the booking |
//! | `change` | the conversation | empty |
//! | `mailed` | who was mailed | the message, or what was done to which booking |

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::AgentId;
use base::limits::{DAY_MS, HOUR_MS};
use base::string_enum::string_enum;
use db::Tx;

use crate::figures::counting_turns::take_turns;

string_enum! {
    /// What is counted.
    ActKind {
        Message = "message",
        Draft = "draft",
        Booking = "booking",
        Change = "change",
        Mailed = "mailed",
    }
}

impl ActKind {
    /// How long an act counts.
    fn counts_for(self) -> i64 {
        match self {
            ActKind::Mailed => DAY_MS,
            ActKind::Message | ActKind::Draft | ActKind::Booking | ActKind::Change => HOUR_MS,
        }
    }
}

/// Makes acts of one agent that overlap count one after the other.
pub fn take_turn(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<()> {
    take_turns(tx, &[(ws, format!("acts of {agent}").as_str())])
}

/// Counts an act; what counts no more is removed.
pub fn note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    kind: ActKind,
    subject: &str,
    id: &str,
) -> Result<()> {
    tx.exec(
        "DELETE FROM agent_counts WHERE ws = ?1 AND agent = ?2 AND kind = ?3 AND at <= ?4",
        &[&cx.actor.ws, agent, &kind, &(cx.now - kind.counts_for())],
    )?;
    tx.exec(
        "INSERT INTO agent_counts (ws, agent, kind, subject, id, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (ws, agent, kind, subject, id) DO UPDATE SET at = excluded.at",
        &[&cx.actor.ws, agent, &kind, &subject, &id, &cx.now],
    )?;
    Ok(())
}

/// The acts of a kind since a time, counted up to `most`.
pub fn count_since(
    tx: &mut Tx<'_>,
    ws: i64,
    agent: &AgentId,
    kind: ActKind,
    since: i64,
    most: i64,
) -> Result<i64> {
    let (count,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM (
             SELECT 1 AS one FROM agent_counts
             WHERE ws = ?1 AND agent = ?2 AND kind = ?3 AND at > ?4 LIMIT ?5
         ) counted",
        &[&ws, agent, &kind, &since, &most],
    )?;
    Ok(count)
}

/// True when an agent did as much of a kind within an hour as it may.
pub fn is_used_up(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    kind: ActKind,
    limit: Option<i64>,
) -> Result<bool> {
    let Some(limit) = limit else { return Ok(false) };
    if limit == 0 {
        return Ok(true);
    }
    take_turn(tx, cx.actor.ws, agent)?;
    let count = count_since(tx, cx.actor.ws, agent, kind, cx.now - HOUR_MS, limit)?;
    Ok(count >= limit)
}

/// Mails that somebody got of an agent within a day, in all conversations, counted up to `most`.
pub fn mails_to(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    address: &EmailAddress,
    most: i64,
) -> Result<i64> {
    let (count,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM (
             SELECT 1 AS one FROM agent_counts
             WHERE ws = ?1 AND agent = ?2 AND kind = 'mailed' AND subject = ?3 AND at > ?4 LIMIT ?5
         ) counted",
        &[&cx.actor.ws, agent, address, &(cx.now - DAY_MS), &most],
    )?;
    Ok(count)
}

/// Forgets that agents mailed somebody, who is forgotten.
pub fn forget_mailed(tx: &mut Tx<'_>, ws: i64, address: &EmailAddress) -> Result<()> {
    tx.exec_soon(
        "DELETE FROM agent_counts WHERE ws = ?1 AND kind = 'mailed' AND subject = ?2",
        &[&ws, address],
    )?;
    Ok(())
}

/// Forgets which conversations an agent changed, because a person looked at them.
pub fn forget_changes(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<()> {
    tx.exec(
        "DELETE FROM agent_counts WHERE ws = ?1 AND agent = ?2 AND kind = 'change'",
        &[&ws, agent],
    )?;
    Ok(())
}

/// The conversation that an agent changed last.
pub fn last_changed(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<Option<String>> {
    let found: Option<(String,)> = tx.opt(
        "SELECT subject FROM agent_counts WHERE ws = ?1 AND agent = ?2 AND kind = 'change'
         ORDER BY at DESC LIMIT 1",
        &[&ws, agent],
    )?;
    Ok(found.map(|(id,)| id))
}
