//! Conversations that an agent changes: marked mail is for people, and many at once are an alarm.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AgentId;
use base::limits::MINUTE_MS;
use base::security::agent_policy::{BulkLimit, MarkedMailRule, PauseReason, PolicyRule};
use db::Tx;

use super::alarms::{self, AlarmedAgent};
use super::pausing;
use super::recent_acts::{self, ActKind};
use super::{HAND_OVER, limits_of, refusal};
use crate::people::notifications::facts::NoticePlace;

/// People are told of an agent without such a limit that changes this many.
pub const ALARM: BulkLimit = BulkLimit { conversations: 200, minutes: 5 };

/// What an agent does to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationAct {
    /// It says something to the team, or gives the conversation to a person or to nobody.
    HandOver,
    /// It takes back what an agent wrote, so that nobody gets it or reads it any more.
    TakeBack,
    /// Anything else that changes it.
    Change,
}

/// Admits a change of a conversation by whoever is asking, and counts an agent's. Where it is the last
/// of so many, the agent is paused with it.
pub fn admit_change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: NoticePlace<'_>,
    is_marked: bool,
    act: ConversationAct,
) -> Result<()> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(()) };
    let must_hand_over = policy.marked_mail == MarkedMailRule::HandOver && is_marked;
    if must_hand_over && act == ConversationAct::Change {
        return Err(refusal(PolicyRule::MarkedMail, HAND_OVER));
    }
    match policy.bulk_per_minutes {
        Some(limit) => {
            recent_acts::take_turn(tx, cx.actor.ws, agent)?;
            let before = count(tx, cx, agent, limit)?;
            // Paused within this very transaction.
            if before >= limit.conversations && !is_counted(tx, cx, agent, place, limit)? {
                return Err(Error::AgentPaused);
            }
            note(tx, cx, agent, place)?;
            let reached =
                before < limit.conversations && count(tx, cx, agent, limit)? >= limit.conversations;
            if reached { pause_for_burst(tx, cx, agent) } else { Ok(()) }
        }
        None => {
            note(tx, cx, agent, place)?;
            alarm_once(tx, cx, agent, place)
        }
    }
}

fn note(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, place: NoticePlace<'_>) -> Result<()> {
    recent_acts::note(tx, cx, agent, ActKind::Change, place.conversation.as_str(), "")
}

/// The conversations that an agent changed within the limit's minutes, counted up to the limit.
fn count(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, limit: BulkLimit) -> Result<i64> {
    let since = cx.now - limit.minutes * MINUTE_MS;
    recent_acts::count_since(tx, cx.actor.ws, agent, ActKind::Change, since, limit.conversations)
}

fn is_counted(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    place: NoticePlace<'_>,
    limit: BulkLimit,
) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT at FROM agent_counts
         WHERE ws = ?1 AND agent = ?2 AND kind = 'change' AND subject = ?3 AND id = '' AND at > ?4",
        &[&cx.actor.ws, agent, place.conversation, &(cx.now - limit.minutes * MINUTE_MS)],
    )?;
    Ok(found.is_some())
}

/// Pauses an agent that changed as many conversations as it may. The service does, not the agent itself.
pub fn pause_for_burst(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId) -> Result<()> {
    let circle = if cx.actor.livemode() { Circle::team() } else { Circle::sandbox() };
    let system = Actor::system(cx.actor.ws, cx.actor.workspace.clone(), circle);
    pausing::pause(tx, &Cx { actor: &system, ..*cx }, agent, PauseReason::Bulk)
}

fn alarm_once(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, place: NoticePlace<'_>) -> Result<()> {
    if count(tx, cx, agent, ALARM)? < ALARM.conversations {
        return Ok(());
    }
    let first = tx.exec(
        "UPDATE agents SET alarmed_at = ?3
         WHERE ws = ?1 AND id = ?2 AND (alarmed_at IS NULL OR alarmed_at <= ?4)",
        &[&cx.actor.ws, agent, &cx.now, &(cx.now - ALARM.minutes * MINUTE_MS)],
    )?;
    if first == 0 {
        return Ok(());
    }
    tracing::warn!(agent = %agent, "an agent changed very many conversations");
    alarms::tell_people(tx, cx, AlarmedAgent { id: agent, name: cx.actor.name() }, place)
}
