//! Undoing what an agent did: one act of its own, or all since a time. What somebody changed since stays,
//! and is told.

use std::collections::BTreeSet;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId, MessageId, NoteId, UndoId};
use base::limits::{AGENT_STEPS_UNDONE, OWN_UNDO_MS};
use base::states::MessageStatus;
use db::Tx;
use model::conversations::agent_acts::{self, AgentActKind, AgentActStep};
use model::conversations::conversation_state::{self, ChangedPart, PastChange};
use model::conversations::timeline::{self, TimelineEvent};
use model::conversations::{self, merges};
use model::indexing::index_rebuild;

use crate::{drafts, messages};

/// What the timeline says about a message that goes with the acts of its agent.
const REASON: &str = "What its agent did was undone.";

/// What became of the acts.
#[derive(Debug, Default)]
pub struct AgentUndo {
    /// The steps that are undone, the latest first.
    pub undone: Vec<UndoneStep>,
    pub left: Vec<StepLeft>,
    /// True when there are more, which the next call undoes.
    pub more: bool,
}

/// One thing that is as it was before.
#[derive(Debug)]
pub struct UndoneStep {
    pub conversation: ConversationId,
    pub kind: AgentActKind,
}

/// One thing that stays, and why.
#[derive(Debug)]
pub struct StepLeft {
    pub conversation: ConversationId,
    pub kind: AgentActKind,
    pub reason: String,
}

/// Undoes an act of the agent's own, within a day.
pub fn undo_own(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, act: &UndoId) -> Result<AgentUndo> {
    let since = cx.now - OWN_UNDO_MS;
    match agent_acts::steps_of(tx, cx.actor, agent, act, since)? {
        (false, _) => Err(Error::NotFound("act to undo")),
        (true, steps) => undo(tx, cx, agent, steps),
    }
}

/// Undoes what an agent did since a time, the latest first, in parts: as long as there is `more`.
pub fn undo_since(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, since: i64) -> Result<AgentUndo> {
    let most = AGENT_STEPS_UNDONE;
    let steps = agent_acts::steps_since(tx, cx.actor, agent, since, most)?;
    let more = steps.len() as i64 == most;
    Ok(AgentUndo { more, ..undo(tx, cx, agent, steps)? })
}

fn undo(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    steps: Vec<AgentActStep>,
) -> Result<AgentUndo> {
    let mut outcome = AgentUndo::default();
    let mut without_notes = BTreeSet::new();
    for step in steps {
        let reason = match undo_step(tx, cx, agent, &step) {
            Ok(reason) => reason,
            // What is gone need not be undone.
            Err(Error::NotFound(_)) => {
                agent_acts::mark_undone(tx, cx, agent, &step)?;
                continue;
            }
            Err(Error::Invalid(problems)) => Some(problems.to_string()),
            Err(error) => return Err(error),
        };
        agent_acts::mark_undone(tx, cx, agent, &step)?;
        let AgentActStep { conversation, kind, .. } = step;
        match reason {
            Some(reason) => outcome.left.push(StepLeft { conversation, kind, reason }),
            None => {
                if kind == AgentActKind::Noted {
                    without_notes.insert(conversation.clone());
                }
                outcome.undone.push(UndoneStep { conversation, kind });
            }
        }
    }
    for conversation in &without_notes {
        index_rebuild::rebuild(tx, cx.actor.ws, conversation)?;
    }
    Ok(outcome)
}

/// Why a step stays; `None` when it is undone.
fn undo_step(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    step: &AgentActStep,
) -> Result<Option<String>> {
    match step.kind {
        AgentActKind::Changed => put_back(tx, cx, step),
        AgentActKind::Noted => hide_note(tx, cx, step),
        AgentActKind::Merged => part(tx, cx, step),
        AgentActKind::Split => join(tx, cx, step),
        AgentActKind::Wrote => take_back(tx, cx, agent, step),
        AgentActKind::Booked => {
            conversations::load(tx, cx.actor, step.conversation.as_str())?;
            Ok(Some("Guest and host were told of the booking; cancel it by hand.".into()))
        }
    }
}

fn put_back(tx: &mut Tx<'_>, cx: &Cx<'_>, step: &AgentActStep) -> Result<Option<String>> {
    let mut conversation = conversations::load_itself(tx, cx.actor, step.conversation.as_str())?;
    if conversation.merged_into.is_some() {
        return Ok(Some("It was merged into another conversation since.".into()));
    }
    let (Some(before), Some(after)) = (&step.before, &step.after) else { return Ok(None) };
    let act = PastChange { before, after, acted_at: step.at };
    let left = conversation_state::put_back(tx, cx, &mut conversation, &act)?;
    Ok((!left.is_empty()).then(|| changed_since(&left)))
}

fn changed_since(parts: &[ChangedPart]) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
    format!("Changed again since, and left as it is: {}.", parts.join(", "))
}

/// The note stays in the database, where the activity names it, and is shown nowhere.
fn hide_note(tx: &mut Tx<'_>, cx: &Cx<'_>, step: &AgentActStep) -> Result<Option<String>> {
    let conversation = conversations::load(tx, cx.actor, step.conversation.as_str())?;
    let id = NoteId::parse(&step.thing).ok_or(Error::NotFound("note"))?;
    let hidden = tx.exec(
        "UPDATE notes SET hidden_at = ?4
         WHERE ws = ?1 AND conversation = ?2 AND id = ?3 AND hidden_at IS NULL",
        &[&cx.actor.ws, &conversation.id, &id, &cx.now],
    )?;
    if hidden == 0 {
        return Err(Error::NotFound("note"));
    }
    tx.exec(
        "DELETE FROM mentions
         WHERE ws = ?1 AND person IN (SELECT id FROM users WHERE ws = ?1) AND id = ?2",
        &[&cx.actor.ws, &id],
    )?;
    timeline::record(tx, cx, &conversation.id, &TimelineEvent::NoteHidden { note_id: id })?;
    Ok(None)
}

fn part(tx: &mut Tx<'_>, cx: &Cx<'_>, step: &AgentActStep) -> Result<Option<String>> {
    conversations::load_itself(tx, cx.actor, step.conversation.as_str())?;
    match merges::undo_merge(tx, cx, step.conversation.as_str()) {
        Ok(_) => Ok(None),
        Err(Error::NotFound("merge")) => Ok(Some("The merge was undone before.".into())),
        Err(error) => Err(error),
    }
}

/// What was split off goes back, unless it cannot any more.
fn join(tx: &mut Tx<'_>, cx: &Cx<'_>, step: &AgentActStep) -> Result<Option<String>> {
    let mut origin = conversations::load(tx, cx.actor, step.conversation.as_str())?;
    let mut new = conversations::load_itself(tx, cx.actor, &step.thing)?;
    if new.merged_into.is_some() {
        return Ok(Some("What was split off is part of another conversation by now.".into()));
    }
    if let Some(refusal) = merges::refusal(&new, &origin) {
        return Ok(Some(refusal.sentence()));
    }
    merges::merge(tx, cx, &mut new, &mut origin)?;
    Ok(None)
}

/// A message that has not left is stopped, and does not wait for approval either.
fn take_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    step: &AgentActStep,
) -> Result<Option<String>> {
    let id = MessageId::parse(&step.thing).ok_or(Error::NotFound("message"))?;
    let (mut message, conversation) = messages::load_outgoing(tx, cx.actor, &id)?;
    if message.author.as_deref() != Some(agent.as_str()) {
        return Ok(Some("A person made the message their own.".into()));
    }
    if message.status == MessageStatus::Scheduled {
        if is_approved(tx, cx, &message.id)? {
            return Ok(Some("A person approved the message.".into()));
        }
        messages::stop(tx, cx, &conversation, &message)?;
        message.status = MessageStatus::Draft;
    }
    if message.status != MessageStatus::Draft {
        return Ok(Some("The message has left.".into()));
    }
    drafts::discard(tx, cx, &conversation, &message, REASON)?;
    Ok(None)
}

fn is_approved(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<bool> {
    let (approved,): (bool,) = tx.one(
        "SELECT approved IS NOT NULL FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id],
    )?;
    Ok(approved)
}
