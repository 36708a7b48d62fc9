//! Pausing an agent: from then on its key only reads, and what it has under way is stopped. The same stops
//! what an agent has under way whose key was revoked.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId, MailboxId, MessageId, UserId};
use base::security::agent_policy::PauseReason;
use db::Tx;

use super::recent_acts;
use crate::conversations::timeline::{self, TimelineEvent};
use crate::installation::audit_log::{self, Action};
use crate::people::notifications::choices;
use crate::people::notifications::facts::{self, NoticeKind, NoticePlace};
use crate::webhooks::events::{self, AgentPaused, EventActor};

/// Messages stopped in one transaction. The rest is stopped as it falls due.
const STOPPED_AT_ONCE: i64 = 2_000;

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
    tell_people_of_last(tx, cx, agent, &name)
}

/// Lets a paused agent work again. What it had under way stays stopped. The caller has made sure that the
/// actor may.
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
        "SELECT id, conversation FROM messages
         WHERE ws = ?1 AND author = ?2 AND status = 'scheduled' AND approved IS NULL LIMIT ?3",
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

fn stop(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    conversation: &ConversationId,
) -> Result<()> {
    let stopped = tx.exec(
        "UPDATE messages SET status = 'draft', sends_at = NULL, held_at = NULL,
            revision = revision + 1
         WHERE ws = ?1 AND id = ?2 AND status = 'scheduled'",
        &[&cx.actor.ws, message],
    )?;
    if stopped == 0 {
        return Ok(());
    }
    tx.exec(
        "UPDATE conversations SET has_draft = TRUE WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, conversation],
    )?;
    timeline::record(tx, cx, conversation, &TimelineEvent::Undone { message_id: message.clone() })
}

/// True for a message that is about to leave, of an agent that was paused or revoked as it scheduled it:
/// the one may have overlapped the other.
pub fn waits_in_vain(tx: &mut Tx<'_>, ws: i64, message: &str) -> Result<bool> {
    let found: Option<(MessageId,)> = tx.opt(
        "SELECT m.id FROM messages m
         JOIN agents a ON a.ws = m.ws AND a.id = m.author
         WHERE m.ws = ?1 AND m.id = ?2 AND m.status = 'scheduled' AND m.approved IS NULL
           AND (a.paused_at IS NOT NULL OR a.revoked_at IS NOT NULL)",
        &[&ws, &message],
    )?;
    Ok(found.is_some())
}

/// Makes a draft again of a scheduled message, whoever scheduled it.
pub fn stop_message(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &str) -> Result<()> {
    let found: Option<(MessageId, ConversationId)> = tx.opt(
        "SELECT id, conversation FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message],
    )?;
    match found {
        Some((message, conversation)) => stop(tx, cx, &message, &conversation),
        None => Ok(()),
    }
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

/// Tells owners and admins, and whoever chose to be told, each in the way that they chose.
pub(super) fn tell_people(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &str,
    place: NoticePlace<'_>,
) -> Result<()> {
    let admins: Vec<(UserId,)> = tx.all(
        "SELECT id FROM users WHERE ws = ?1 AND role IN ('owner', 'admin') ORDER BY created_at, id",
        &[&cx.actor.ws],
    )?;
    let mut people: Vec<UserId> = admins.into_iter().map(|(id,)| id).collect();
    people.extend(choices::choosers(tx, cx.actor.ws, NoticeKind::AgentAlarm, place.mailbox)?);
    people.sort();
    people.dedup();
    for person in &people {
        facts::note_by(tx, cx, place, NoticeKind::AgentAlarm, person, agent)?;
    }
    Ok(())
}

/// Leads to the conversation that the agent worked on last, wherever it is.
fn tell_people_of_last(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, name: &str) -> Result<()> {
    let Some(id) = recent_acts::last_changed(tx, cx.actor.ws, agent)? else { return Ok(()) };
    let found: Option<(ConversationId, MailboxId, Circle)> = tx.opt(
        "SELECT id, mailbox, circle FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &id],
    )?;
    let Some((conversation, mailbox, circle)) = found else { return Ok(()) };
    let place = NoticePlace { conversation: &conversation, mailbox: &mailbox, circle: &circle };
    tell_people(tx, cx, name, place)
}
