//! Pausing an agent: from then on its key only reads, and what it has under way is stopped. The same stops
//! what an agent has under way whose key was revoked.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId, MessageId};
use base::security::agent_policy::PauseReason;
use db::Tx;

use super::alarms::{self, AlarmedAgent};
use super::recent_acts;
use crate::conversations::leaving;
use crate::conversations::timeline::{self, TimelineEvent};
use crate::installation::audit_log::{self, Action};
use crate::webhooks::events::{self, AgentPaused, EventActor};

/// Messages stopped at once. The rest is stopped as it falls due, or when the agent is to work again.
const STOPPED_AT_ONCE: i64 = 2_000;

/// Holds for a message that can be stopped: no person approved it, no attempt is under way, and nobody
/// has it yet.
const CAN_BE_STOPPED: &str = "messages.approved IS NULL AND (
     messages.status = 'scheduled'
     OR messages.status = 'sending' AND messages.lease_until IS NULL AND NOT EXISTS (
         SELECT 1 FROM recipient_outcomes o
         WHERE o.ws = messages.ws AND o.message = messages.id AND o.refusal IS NULL
     )
 )";

/// Pauses an agent and stops what it has under way. Pausing one that is paused changes nothing. The caller
/// has made sure that the actor may.
pub fn pause(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, reason: PauseReason) -> Result<()> {
    let (name, livemode) = name_of(tx, cx, agent)?;
    let paused = tx.exec(
        "UPDATE agents SET paused_at = ?3, paused_by = ?4, pause_reason = ?5
         WHERE ws = ?1 AND id = ?2 AND paused_at IS NULL",
        &[&cx.actor.ws, agent, &cx.now, &cx.actor.name(), &reason],
    )?;
    if paused == 0 {
        return Ok(());
    }
    let stopped = stop_what_waits(tx, cx, agent)?;
    let detail = match (reason, stopped) {
        (PauseReason::Bulk, _) => {
            "changed more conversations at once than its policy allows".into()
        }
        (_, 0) => String::new(),
        (_, stopped) => format!("{stopped} messages became drafts again"),
    };
    audit_log::record(tx, cx, &Circle::team(), Action::AgentPaused, &name, &detail)?;
    let circle = if livemode { Circle::team() } else { Circle::sandbox() };
    let event = AgentPaused {
        agent_id: agent,
        agent_name: &name,
        paused_by: EventActor::of(cx.actor),
        reason,
        stopped,
    };
    events::record(tx, cx, &circle, &event)?;
    match livemode {
        true => alarms::tell_people_of_last(tx, cx, AlarmedAgent { id: agent, name: &name }),
        false => Ok(()),
    }
}

/// Lets a paused agent work again. What it had under way stays stopped, and what the pause left to be
/// stopped as it falls due is stopped now. The caller has made sure that the actor may.
pub fn resume(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId) -> Result<()> {
    let (name, _) = name_of(tx, cx, agent)?;
    let resumed = tx.exec(
        "UPDATE agents SET paused_at = NULL, paused_by = NULL, pause_reason = NULL
         WHERE ws = ?1 AND id = ?2 AND paused_at IS NOT NULL",
        &[&cx.actor.ws, agent],
    )?;
    if resumed == 0 {
        return Ok(());
    }
    while stop_what_waits(tx, cx, agent)? == STOPPED_AT_ONCE {}
    recent_acts::forget_changes(tx, cx.actor.ws, agent)?;
    audit_log::record(tx, cx, &Circle::team(), Action::AgentResumed, &name, "")
}

fn name_of(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId) -> Result<(String, bool)> {
    let found: Option<(String, bool)> = tx.opt(
        "SELECT name, livemode FROM agents WHERE ws = ?1 AND id = ?2 AND revoked_at IS NULL",
        &[&cx.actor.ws, agent],
    )?;
    found.ok_or(Error::NotFound("agent"))
}

/// Makes drafts again of what an agent scheduled itself, and stops the bookings that it has under way. What
/// a person approved is the person's and leaves. Returns how many messages there were.
pub fn stop_what_waits(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId) -> Result<i64> {
    let waiting: Vec<(MessageId, ConversationId)> = tx.all(
        &format!("{} LIMIT ?3", waiting_messages()),
        &[&cx.actor.ws, agent, &STOPPED_AT_ONCE],
    )?;
    for (message, conversation) in &waiting {
        stop(tx, cx, message, conversation)?;
    }
    // The job that would do them stops them: what they hold is given back there.
    let bookings = tx.exec(
        "UPDATE bookings SET act = 'stopped', act_at = ?3
         WHERE ws = ?1 AND act_by = ?2 AND act_at IS NOT NULL",
        &[&cx.actor.ws, agent, &cx.now],
    )?;
    if bookings > 0 {
        tx.wake(Queue::BookingActs);
    }
    Ok(waiting.len() as i64)
}

/// Messages of an agent's own that can still be stopped.
pub fn count_waiting(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<i64> {
    let (count,): (i64,) = tx.one(
        &format!("SELECT CAST(count(*) AS BIGINT) FROM ({}) waiting", waiting_messages()),
        &[&ws, agent],
    )?;
    Ok(count)
}

/// Each half names the rows of one index: what an agent scheduled, and what is being sent.
fn waiting_messages() -> String {
    format!(
        "SELECT id, conversation FROM messages
         WHERE ws = ?1 AND author = ?2 AND status = 'scheduled' AND {CAN_BE_STOPPED}
         UNION ALL
         SELECT id, conversation FROM messages
         WHERE ws = ?1 AND author = ?2 AND status IN ('scheduled', 'sending')
           AND status = 'sending' AND {CAN_BE_STOPPED}"
    )
}

/// A message that leaves again begins anew, as if nobody had tried to send it.
fn stop(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    conversation: &ConversationId,
) -> Result<()> {
    let stopped = tx.exec(
        &format!(
            "UPDATE messages SET status = 'draft', sends_at = NULL, held_at = NULL, attempts = 0,
                first_attempt_at = NULL, outcome_code = NULL, outcome_text = NULL,
                revision = revision + 1
             WHERE ws = ?1 AND id = ?2 AND {CAN_BE_STOPPED}"
        ),
        &[&cx.actor.ws, message],
    )?;
    if stopped == 0 {
        return Ok(());
    }
    tx.exec_soon(
        "DELETE FROM recipient_outcomes WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message],
    )?;
    tx.exec_soon(
        "UPDATE conversations SET has_draft = TRUE WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, conversation],
    )?;
    let undone = TimelineEvent::Undone { message_id: message.clone() };
    timeline::record(tx, cx, conversation, &undone)?;
    leaving::note(tx, cx.actor.ws, conversation)
}

/// True for a message that is about to leave, of an agent that was paused or revoked as it scheduled it:
/// the one may have overlapped the other.
pub fn waits_in_vain(tx: &mut Tx<'_>, ws: i64, message: &str) -> Result<bool> {
    let found: Option<(MessageId,)> = tx.opt(
        &format!(
            "SELECT messages.id FROM messages
             JOIN agents a ON a.ws = messages.ws AND a.id = messages.author
             WHERE messages.ws = ?1 AND messages.id = ?2 AND {CAN_BE_STOPPED}
               AND (a.paused_at IS NOT NULL OR a.revoked_at IS NOT NULL)"
        ),
        &[&ws, &message],
    )?;
    Ok(found.is_some())
}

/// Makes a draft again of a message that can still be stopped, whoever scheduled it.
pub fn stop_message(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &str) -> Result<()> {
    let found: Option<(MessageId, ConversationId)> = tx.opt(
        "SELECT id, conversation FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message],
    )?;
    let Some((message, conversation)) = found else { return Ok(()) };
    tx.wake(Queue::Pages);
    stop(tx, cx, &message, &conversation)
}

/// True for an agent that does nothing any more, or nothing for now.
pub fn is_ended(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<bool> {
    let found: Option<(AgentId,)> = tx.opt(
        "SELECT id FROM agents
         WHERE ws = ?1 AND id = ?2 AND paused_at IS NULL AND revoked_at IS NULL",
        &[&ws, agent],
    )?;
    Ok(found.is_none())
}

/// Why nothing more is sent in the name of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentHalt {
    Paused,
    Revoked,
}

/// Whether the writer of a message is an agent that is halted. What a person approved is the person's.
pub fn halt_of_writer(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<Option<AgentHalt>> {
    let found: Option<(bool,)> = tx.opt(
        "SELECT a.revoked_at IS NOT NULL FROM messages m
         JOIN agents a ON a.ws = m.ws AND a.id = m.author
         WHERE m.ws = ?1 AND m.id = ?2 AND m.approved IS NULL
           AND (a.paused_at IS NOT NULL OR a.revoked_at IS NOT NULL)",
        &[&ws, message],
    )?;
    Ok(found.map(|(is_revoked,)| match is_revoked {
        true => AgentHalt::Revoked,
        false => AgentHalt::Paused,
    }))
}

/// True for an agent that was paused, also by what this transaction did.
pub fn is_paused(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<bool> {
    let found: Option<(AgentId,)> = tx.opt(
        "SELECT id FROM agents WHERE ws = ?1 AND id = ?2 AND paused_at IS NOT NULL",
        &[&ws, agent],
    )?;
    Ok(found.is_some())
}
