//! Undoing what an agent did: one act of its own, or all since a time. What somebody changed since stays,
//! and is told.

use std::collections::BTreeSet;
use std::fmt;

use base::actor::Principal;
use base::app::Cx;
use base::concurrency::call_progress;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId, MessageId, NoteId, UndoId};
use base::limits::{AGENT_STEPS_UNDONE, OWN_UNDO_MS};
use base::security::scopes::Scope;
use base::states::MessageStatus;
use bookings::{Booking, BookingStatus, agent_acts as planned_acts, booking, mail, types};
use db::Tx;
use model::conversations::agent_acts::{self, AgentActKind, AgentActStep};
use model::conversations::conversation_state::{self, ChangedPart, PastChange};
use model::conversations::timeline::{self, TimelineEvent};
use model::conversations::{self, merges};
use model::indexing::index_rebuild;
use model::people::agent_limits::changes::ConversationAct;

use crate::own_drafts::EDITED;
use crate::{drafts, messages, taking_back};

/// What the timeline says about a message that goes with the acts of its agent.
const REASON: &str = "What its agent did was undone.";

/// Why a message that an agent stopped, discarded or closed the page of is not brought back.
const WITHDRAWN: &str = "A message that was stopped, discarded or taken back stays so.";

/// What became of the acts.
#[derive(Debug, Default)]
pub struct AgentUndo {
    /// The steps that are undone, the latest first.
    pub undone: Vec<UndoneStep>,
    pub left: Vec<StepLeft>,
    /// True when there are more, which the next call undoes.
    pub more: bool,
}

/// What an agent acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActTarget {
    Conversation(ConversationId),
    /// An appointment that belongs to no conversation.
    Booking(String),
}

impl ActTarget {
    fn of(step: &AgentActStep) -> ActTarget {
        match &step.conversation {
            Some(conversation) => ActTarget::Conversation(conversation.clone()),
            None => ActTarget::Booking(step.thing.clone()),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            ActTarget::Conversation(id) => id.as_str(),
            ActTarget::Booking(id) => id,
        }
    }
}

impl fmt::Display for ActTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is as it was before.
#[derive(Debug)]
pub struct UndoneStep {
    pub on: ActTarget,
    pub kind: AgentActKind,
}

/// One thing that stays, and why.
#[derive(Debug)]
pub struct StepLeft {
    pub on: ActTarget,
    pub kind: AgentActKind,
    pub reason: String,
}

/// Undoes an act of the agent's own, within a day.
pub fn undo_own(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, act: &UndoId) -> Result<AgentUndo> {
    let since = cx.now - OWN_UNDO_MS;
    match agent_acts::steps_of(tx, cx.actor, agent, act, since)? {
        (false, _) => Err(Error::NotFound("act to undo")),
        (true, steps) => Ok(undo(tx, cx, agent, steps)?.0),
    }
}

/// Undoes what an agent did since a time, the latest first, in parts: as long as there is `more`.
pub fn undo_since(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: &AgentId, since: i64) -> Result<AgentUndo> {
    let most = AGENT_STEPS_UNDONE;
    let steps = agent_acts::steps_since(tx, cx.actor, agent, since, most)?;
    let is_full = steps.len() as i64 == most;
    let (outcome, settled) = undo(tx, cx, agent, steps)?;
    Ok(AgentUndo { more: is_full && settled > 0, ..outcome })
}

/// Undoes steps; answers how many of them are settled for good, too.
fn undo(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    steps: Vec<AgentActStep>,
) -> Result<(AgentUndo, usize)> {
    let (mut outcome, mut settled) = (AgentUndo::default(), 0);
    let mut without_notes = BTreeSet::new();
    let total = steps.len();
    for (done, step) in steps.into_iter().enumerate() {
        call_progress::step(done, total)?;
        let reason = match undo_step(tx, cx, agent, &step) {
            Ok(reason) => reason,
            // What is gone need not be undone.
            Err(Error::NotFound(_)) => {
                agent_acts::mark_undone(tx, cx, agent, &step)?;
                settled += 1;
                continue;
            }
            // Somebody whom no policy stops can still undo it.
            Err(error @ (Error::PolicyRefused { .. } | Error::AgentPaused)) => {
                let (on, kind) = (ActTarget::of(&step), step.kind);
                outcome.left.push(StepLeft { on, kind, reason: error.to_string() });
                continue;
            }
            // Nothing of the step was undone: what can be refused is looked at before.
            Err(error @ (Error::Invalid(_) | Error::Conflict(_) | Error::Forbidden(_))) => {
                Some(error.to_string())
            }
            Err(error) => return Err(error),
        };
        agent_acts::mark_undone(tx, cx, agent, &step)?;
        settled += 1;
        let (on, kind) = (ActTarget::of(&step), step.kind);
        match reason {
            Some(reason) => outcome.left.push(StepLeft { on, kind, reason }),
            None => {
                if kind == AgentActKind::Noted {
                    without_notes.extend(step.conversation);
                }
                outcome.undone.push(UndoneStep { on, kind });
            }
        }
    }
    for conversation in &without_notes {
        index_rebuild::rebuild(tx, cx.actor.ws, conversation)?;
    }
    Ok((outcome, settled))
}

/// Why a step stays; `None` when it is undone.
fn undo_step(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    step: &AgentActStep,
) -> Result<Option<String>> {
    match step.kind {
        AgentActKind::Changed => put_back(tx, cx, agent, step),
        AgentActKind::Noted => hide_note(tx, cx, step),
        AgentActKind::Merged => part(tx, cx, agent, step),
        AgentActKind::Split => join(tx, cx, agent, step),
        AgentActKind::Wrote => take_back(tx, cx, agent, step),
        AgentActKind::Booked => call_off(tx, cx, step),
        AgentActKind::Rebooked => keep_as_booked(tx, cx, step),
        AgentActKind::Withdrew => Ok(Some(WITHDRAWN.into())),
    }
}

/// The conversation that a step is about; appointments alone have none.
fn conversation_of(step: &AgentActStep) -> Result<&str> {
    let id = step.conversation.as_ref().ok_or(Error::NotFound("conversation"))?;
    Ok(id.as_str())
}

fn put_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    step: &AgentActStep,
) -> Result<Option<String>> {
    let mut conversation = conversations::load_itself(tx, cx.actor, conversation_of(step)?)?;
    if conversation.merged_into.is_some() {
        return Ok(Some("It was merged into another conversation since.".into()));
    }
    let (Some(before), Some(after)) = (&step.before, &step.after) else { return Ok(None) };
    conversations::admit_change(tx, cx, &conversation, ConversationAct::Change)?;
    let later = agent_acts::later_work(tx, cx, agent, &conversation.id, step.at)?;
    let act = PastChange { before, after, acted_at: step.at, later };
    let left = conversation_state::put_back(tx, cx, &mut conversation, &act)?;
    Ok((!left.is_empty()).then(|| changed_since(&left)))
}

fn changed_since(parts: &[ChangedPart]) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
    format!("Changed again since, and left as it is: {}.", parts.join(", "))
}

/// The note stays in the database, where the activity names it, and is shown nowhere.
fn hide_note(tx: &mut Tx<'_>, cx: &Cx<'_>, step: &AgentActStep) -> Result<Option<String>> {
    let conversation = conversations::load(tx, cx.actor, conversation_of(step)?)?;
    let id = NoteId::parse(&step.thing).ok_or(Error::NotFound("note"))?;
    conversations::admit_change(tx, cx, &conversation, ConversationAct::TakeBack)?;
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

/// What was merged is parted, unless somebody has gone on with the whole.
fn part(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    step: &AgentActStep,
) -> Result<Option<String>> {
    let source = conversations::load_itself(tx, cx.actor, conversation_of(step)?)?;
    if source.merged_into.is_some() {
        let whole = conversations::load(tx, cx.actor, source.id.as_str())?;
        if agent_acts::later_work(tx, cx, agent, &whole.id, step.at)?.any {
            return Ok(Some("Somebody has gone on with what was merged.".into()));
        }
    }
    conversations::admit_change(tx, cx, &source, ConversationAct::Change)?;
    match merges::undo_merge(tx, cx, source.id.as_str()) {
        Ok(_) => Ok(None),
        Err(Error::NotFound("merge")) => Ok(Some("The merge was undone before.".into())),
        Err(error) => Err(error),
    }
}

/// What was split off goes back, unless it cannot any more or somebody has gone on with it.
fn join(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    step: &AgentActStep,
) -> Result<Option<String>> {
    let mut origin = conversations::load(tx, cx.actor, conversation_of(step)?)?;
    let mut new = conversations::load_itself(tx, cx.actor, &step.thing)?;
    if new.merged_into.is_some() {
        return Ok(Some("What was split off is part of another conversation by now.".into()));
    }
    let later = agent_acts::later_work(tx, cx, agent, &new.id, step.at)?;
    if later.any || has_other_mail(tx, cx, agent, &new.id)? {
        return Ok(Some("Somebody has gone on with what was split off.".into()));
    }
    if let Some(refusal) = merges::refusal(&new, &origin) {
        return Ok(Some(refusal.sentence()));
    }
    merges::merge(tx, cx, &mut new, &mut origin)?;
    Ok(None)
}

/// True for a conversation that has more than the message it began with and what the agent wrote.
fn has_other_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    conversation: &ConversationId,
) -> Result<bool> {
    let found: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND discarded_at IS NULL
           AND (author IS NULL OR author <> ?3)
           AND serial > (SELECT min(serial) FROM messages WHERE ws = ?1 AND conversation = ?2)
         LIMIT 1",
        &[&cx.actor.ws, conversation, agent],
    )?;
    Ok(found.is_some())
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
    if message.status == MessageStatus::Draft && message.edited {
        return Ok(Some(EDITED.into()));
    }
    conversations::admit_change(tx, cx, &conversation, ConversationAct::TakeBack)?;
    if message.status == MessageStatus::Scheduled {
        if taking_back::is_approved(tx, cx, &message.id)? {
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

/// What is planned is stopped; a booking that was made is cancelled, and guest and host are told.
fn call_off(tx: &mut Tx<'_>, cx: &Cx<'_>, step: &AgentActStep) -> Result<Option<String>> {
    let found = bookings::load(tx, cx.actor, &step.thing)?;
    let kept = |sentence: &str| Ok(Some(sentence.to_owned()));
    match found.status {
        BookingStatus::Held => planned_acts::stop(tx, cx, &found).map(|()| None),
        BookingStatus::Cancelled if found.rescheduled_to.is_some() => {
            kept("The appointment was moved since.")
        }
        BookingStatus::Cancelled => kept("The appointment was cancelled since."),
        BookingStatus::Booked if found.starts_at <= cx.now => {
            kept("The appointment has begun or is over.")
        }
        BookingStatus::Booked => {
            must_tell_guest(tx, cx, &found)?;
            booking::cancel(tx, cx, &found, "")?;
            Ok(None)
        }
    }
}

/// Guest and host are told of it by mail.
fn must_tell_guest(tx: &mut Tx<'_>, cx: &Cx<'_>, found: &Booking) -> Result<()> {
    if let Principal::Agent { scopes, .. } = &cx.actor.who
        && !scopes.has(Scope::Send)
    {
        let sentence = "The guest would be told by mail, which needs the scope send.";
        return Err(Error::Forbidden(sentence.into()));
    }
    let kind = types::of_booking(tx, cx.actor.ws, &found.type_id)?;
    mail::must_write(tx, cx.actor, &kind, found.conversation.as_ref())
}

/// A move or a cancellation that is planned is stopped. One that was done stays: guest and host know of it.
fn keep_as_booked(tx: &mut Tx<'_>, cx: &Cx<'_>, step: &AgentActStep) -> Result<Option<String>> {
    let found = bookings::load(tx, cx.actor, &step.thing)?;
    let is_planned = planned_acts::is_planned(tx, cx, &found.id)?;
    let is_untouched = found.status == BookingStatus::Booked && found.rescheduled_from.is_none();
    match (is_planned, is_untouched) {
        (true, _) => planned_acts::stop(tx, cx, &found).map(|()| None),
        // A cancellation that somebody stopped before.
        (false, true) => Err(Error::NotFound("booking")),
        (false, false) => Ok(Some(
            "Guest and host were told that the appointment is moved or cancelled; change it by hand."
                .into(),
        )),
    }
}
