//! Approving, editing, discarding and stopping drafts.

use base::actor::Principal;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MessageId};
use base::limits::{REPLY_CHARS, thousands};
use base::states::MessageStatus;
use bookings::offers;
use db::Tx;
use model::conversations::timeline::{self, TimelineEvent};
use model::conversations::{self, Conversation};
use model::figures::report_facts::DraftFate;
use model::indexing::search_index;
use model::messages::attachments;
use model::messages::draft_outcomes::{self, DraftOutcome};
use model::messages::helper_drafts;
use model::messages::placeholders::signed_text;
use model::messages::recipients::{self, RecipientList};
use model::messages::send_effects::SendEffects;
use model::messages::written_text::{TextFormat, WrittenText};
use model::webhooks::events::{self, DraftApproved, DraftAuthor, EventActor};
use outbound::drafts;
use outbound::messages::{self, OutgoingMessage};
use outbound::scheduling::{self, MessageTimes, WriterKind};

use crate::writing::autosaves::{Autosave, AutosaveKey, AutosaveKind, autosave, load_autosave};
use crate::writing::compose::{recipient_line, take_unassigned};
use crate::writing::seen::{DecisionOutcome, SeenDraft, Writers, newer_than};
use crate::writing::unsent_files::list;

/// What a person leaves of a draft that they approve.
#[derive(Clone, Copy, Debug, Default)]
pub struct DraftApproval<'a> {
    /// `None` leaves them as they are.
    pub recipients: Option<&'a RecipientList>,
    /// Markdown if the draft is rich; `None` leaves it as it is.
    pub text: Option<&'a str>,
    /// A time that the person chose, instead of the end of the undo window.
    pub leaves_at: Option<i64>,
}

/// Approves a draft as it was seen, unless the customer wrote meanwhile. Answers when it leaves.
pub fn approve_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    seen: SeenDraft,
    approval: &DraftApproval<'_>,
) -> Result<DecisionOutcome<i64>> {
    let (message, mut conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    must_be_person(cx)?;
    let newer = newer_than(tx, cx, &conversation, seen.conversation, Writers::Customer)?;
    if let Some(newer) = newer {
        return Ok(DecisionOutcome::Meanwhile(newer));
    }
    must_be_seen(&message, seen.revision)?;
    let readdressed = match approval.recipients {
        Some(recipients) => set_recipients(tx, cx, id, recipients)?,
        None => false,
    };
    let message = messages::with_words(tx, cx, message)?;
    let text = check_text(approval.text.unwrap_or_else(|| source_text(&message)))?;
    let sends_at = departure(tx, cx, &conversation, &message, approval.leaves_at)?;
    let drafted = helper_drafts::drafted_text(tx, cx.actor.ws, id)?;
    let edited = match drafted {
        Some(drafted) => {
            approve_helpers(tx, cx, &conversation, &message, &drafted, text, sends_at)?
        }
        None => {
            approve_written(tx, cx, &conversation, &message, text, sends_at)?;
            message.edited || readdressed || text != source_text(&message)
        }
    };
    let me = cx.actor.member();
    let is_own = message.author.as_deref() == me.as_ref().map(|me| me.as_str());
    if message.author.is_none() || is_own {
        // It goes out in the name of whoever approves it.
        let assigned = take_unassigned(tx, cx, &mut conversation)?;
        SendEffects { assigned, closed: None }.keep(tx, cx.actor.ws, id)?;
    }
    let fate = if edited { DraftFate::Edited } else { DraftFate::AsIs };
    tx.exec(
        "UPDATE messages SET approved = ?3, edited = (edited OR ?4) WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &fate, &edited],
    )?;
    let approved = TimelineEvent::Approved { message_id: id.clone(), edited };
    timeline::record(tx, cx, &conversation.id, &approved)?;
    let event = DraftApproved {
        conversation_id: &conversation.id,
        message_id: id,
        drafted_by: DraftAuthor::of(message.author.as_deref()),
        approved_by: EventActor::of(cx.actor),
        edited,
    };
    events::record(tx, cx, &conversation.circle, &event)?;
    Ok(DecisionOutcome::Done(sends_at))
}

/// When an approved draft leaves. A draft whose reminder would come before it has left, or that offers
/// times, cannot wait for the chosen time.
fn departure(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
    leaves_at: Option<i64>,
) -> Result<i64> {
    let writer = WriterKind::of(message.author.as_deref());
    if leaves_at.is_none() {
        return MessageTimes::default().departure(tx, cx, conversation, writer);
    }
    let kept = scheduling::chosen_times(tx, cx, conversation, message)?;
    let times = MessageTimes { leaves_at, ..kept };
    let offer = offers::of_message(tx, cx.actor.ws, &message.id)?;
    scheduling::must_not_wait_with_offer(times, offer.is_some())?;
    let departure = times.departure(tx, cx, conversation, writer)?;
    times.check_follow_up(cx, departure)?;
    Ok(departure)
}

/// Approves what an agent or a rule drafted. What a rule drafted goes out in the name of the person who
/// approves it.
fn approve_written(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
    text: &str,
    sends_at: i64,
) -> Result<()> {
    if message.author.is_some() {
        let written = rewrite(message, text);
        return scheduling::schedule_at(tx, cx, conversation, message, &written, sends_at);
    }
    tx.exec(
        "UPDATE messages SET from_name = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id, &cx.actor.name()],
    )?;
    let author = cx.actor.member().map(|me| me.as_str().to_owned());
    let signed = OutgoingMessage { author, ..message.clone() };
    let written = rewrite(message, &signed_text(cx.actor.name(), text));
    scheduling::schedule_at(tx, cx, conversation, &signed, &written, sends_at)
}

/// Approves a draft of the helper: it goes out in the name of the person who approves it, with their
/// signature. Answers whether it was edited.
fn approve_helpers(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
    drafted: &str,
    text: &str,
    sends_at: i64,
) -> Result<bool> {
    tx.exec(
        "UPDATE messages SET from_name = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id, &cx.actor.name()],
    )?;
    let me = cx.actor.member().map(|me| me.as_str().to_owned());
    let signed = OutgoingMessage { author: me, ..message.clone() };
    let text = signed_text(cx.actor.name(), text);
    let drafted = signed_text(cx.actor.name(), drafted);
    let written = rewrite(message, &text);
    scheduling::schedule_at(tx, cx, conversation, &signed, &written, sends_at)?;
    // The editor may write the same Markdown in another way, so the words count.
    let changed = draft_outcomes::changed_share(&drafted, &text);
    let edited = changed > 0.0;
    let outcome = if edited { DraftOutcome::Edited } else { DraftOutcome::AsItWas };
    draft_outcomes::note(tx, cx, &message.id, outcome, changed)?;
    Ok(edited)
}

/// Changes a draft's text; returns its new revision.
pub fn edit_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    revision: i64,
    text: &str,
) -> Result<i64> {
    let (message, _) = messages::load_outgoing(tx, cx.actor, id)?;
    must_be_seen(&message, revision)?;
    let message = messages::with_words(tx, cx, message)?;
    let written = rewrite(&message, check_text(text)?);
    let edited = message.edited || text != source_text(&message);
    let written = messages::kept_words(tx, cx, &message, written)?;
    tx.exec(
        "UPDATE messages SET text = ?3, markdown = ?4, edited = ?5, revision = revision + 1
         WHERE ws = ?1 AND id = ?2 AND status = 'draft'",
        &[&cx.actor.ws, id, &written.text, &written.markdown, &edited],
    )?;
    search_index::draft(tx, cx, id)?;
    Ok(message.revision + 1)
}

/// Sets a draft's recipients, if its revision is still the one that was seen.
pub fn address_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    revision: i64,
    recipients: &RecipientList,
) -> Result<()> {
    let (message, _) = messages::load_outgoing(tx, cx.actor, id)?;
    must_be_seen(&message, revision)?;
    set_recipients(tx, cx, id, recipients).map(drop)
}

/// Answers whether they are others than before.
fn set_recipients(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    recipients: &RecipientList,
) -> Result<bool> {
    match recipients.problem() {
        Some(sentence) => Err(Error::invalid("to", sentence)),
        None => messages::address(tx, cx, id, recipients),
    }
}

/// Takes a draft out of the queue and the timeline.
pub fn discard_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    revision: i64,
    reason: &str,
) -> Result<()> {
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    must_be_seen(&message, revision)?;
    drafts::discard(tx, cx, &conversation, &message, reason)
}

/// Where a message is after it was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedMessage {
    /// It is the unsent text of its author, who stopped it.
    InComposer,
    /// It is a draft that waits for a person, with the time at which it was to leave if somebody chose
    /// one.
    Draft { leaves_at: Option<i64> },
}

/// Stops a message before it leaves. What the actor wrote comes back into their composer, with the
/// times that were chosen for it, unless they are writing something else there; all other messages
/// are drafts again.
pub fn stop_message(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<StoppedMessage> {
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    let times = scheduling::chosen_times(tx, cx, &conversation, &message)?;
    messages::stop(tx, cx, &conversation, &message)?;
    let draft = StoppedMessage::Draft { leaves_at: times.leaves_at };
    let Principal::Person { id: me, .. } = &cx.actor.who else { return Ok(draft) };
    let place = AutosaveKey::Conversation(conversation.id.clone());
    let is_own = message.author.as_deref() == Some(me.as_str());
    let is_free = load_autosave(tx, cx, &place)?.is_none() && list(tx, cx, &place)?.is_empty();
    // A document request stays with its message, and so do the sealed words of a secure one.
    if !is_own || !is_free || message.request.is_some() || message.secure {
        return Ok(draft);
    }
    let RecipientList { to, cc, bcc } = recipients::of_message(tx, cx.actor.ws, id)?;
    let kind = match message.forwards {
        Some(_) => AutosaveKind::Forward,
        None => AutosaveKind::Reply,
    };
    let unsent = Autosave {
        to: recipient_line(&to),
        cc: recipient_line(&cc),
        bcc: recipient_line(&bcc),
        forwards: message.forwards.clone(),
        times,
        ..Autosave::new(kind, source_text(&message).to_owned())
    };
    autosave(tx, cx, &place, &unsent)?;
    attachments::detach_from_message(tx, cx.actor.ws, &conversation.id, me, id)?;
    // Its words are in the composer alone, where they may become a secure message.
    tx.exec(
        "UPDATE messages SET discarded_at = ?3, text = '', markdown = NULL, attachments = '[]'
         WHERE ws = ?1 AND id = ?2 AND status = 'draft'",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    search_index::draft(tx, cx, id)?;
    conversations::note_drafts(tx, cx, &conversation)?;
    Ok(StoppedMessage::InComposer)
}

/// Lets a scheduled message leave at once. Answers its conversation; to whoever presses once more, and to
/// the second of two people, it is on its way already.
pub fn send_now(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<ConversationId> {
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    must_be_person(cx)?;
    scheduling::send_now(tx, cx, &message)?;
    Ok(conversation.id)
}

/// A draft stays in the format that it was written in.
fn rewrite(message: &OutgoingMessage, text: &str) -> WrittenText {
    let format = match message.markdown {
        Some(_) => TextFormat::Markdown,
        None => TextFormat::Plain,
    };
    WrittenText::new(text, format)
}

fn source_text(message: &OutgoingMessage) -> &str {
    message.markdown.as_deref().unwrap_or(&message.text)
}

fn must_be_person(cx: &Cx<'_>) -> Result<()> {
    match cx.actor.who {
        Principal::Person { .. } => Ok(()),
        _ => Err(Error::Forbidden("Only a person can approve a draft.".into())),
    }
}

/// A decision counts only for the draft that was looked at.
fn must_be_seen(message: &OutgoingMessage, revision: i64) -> Result<()> {
    if message.status != MessageStatus::Draft {
        return Err(Error::invalid("message", "is not a draft any more"));
    }
    if message.revision != revision {
        return Err(Error::invalid(
            "revision",
            "the draft was changed meanwhile; look at it again",
        ));
    }
    Ok(())
}

fn check_text(text: &str) -> Result<&str> {
    if text.trim().is_empty() || text.contains('\0') || text.chars().count() > REPLY_CHARS {
        let most = thousands(REPLY_CHARS);
        let sentence = format!("must be 1 to {most} characters and not only white space");
        return Err(Error::invalid("text", sentence));
    }
    Ok(text)
}
