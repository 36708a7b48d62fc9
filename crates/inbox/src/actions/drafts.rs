//! Approving, editing, discarding and stopping drafts.

use db::Tx;

use crate::app::Cx;
use crate::base::actor::Principal;
use crate::base::error::{Error, Result};
use crate::base::ids::MessageId;
use crate::base::limits::{REPLY_CHARS, thousands};
use crate::base::states::MessageStatus;
use crate::model::drafts;
use crate::model::events::{self, Event};
use crate::model::messages::{self, OutgoingMessage};
use crate::model::recipients::RecipientList;
use crate::model::timeline::{self, TimelineEvent};

/// Approves a draft as it was seen, with the text as the person left it; it leaves after the undo
/// window. Answers when.
pub fn approve_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    revision: i64,
    text: &str,
) -> Result<i64> {
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    must_be_person(cx)?;
    must_be_seen(&message, revision)?;
    let text = checked(text)?;
    let edited = message.edited || text != message.text;
    let sends_at = messages::schedule(tx, cx, &conversation, &message, text)?;
    let approved = TimelineEvent::Approved { message_id: id.clone(), edited };
    timeline::record(tx, cx, &conversation.id, &approved)?;
    let drafted_by = message.author.as_deref();
    let event = Event::DraftApproved { message: id, drafted_by, edited };
    events::record(tx, cx, conversation.subject_of_events(), &event)?;
    Ok(sends_at)
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
    let text = checked(text)?;
    tx.exec(
        "UPDATE messages SET text = ?3, edited = ?4, revision = revision + 1
         WHERE ws = ?1 AND id = ?2 AND status = 'draft'",
        &[&cx.actor.ws, id, &text, &(message.edited || text != message.text)],
    )?;
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
    if let Some(sentence) = recipients.problem() {
        return Err(Error::invalid("to", sentence));
    }
    messages::address(tx, cx, id, recipients)
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

/// Stops a message during its undo window; it is a draft again.
pub fn stop_message(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<()> {
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    messages::stop(tx, cx, &conversation, &message)
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

fn checked(text: &str) -> Result<&str> {
    if text.trim().is_empty() || text.contains('\0') || text.chars().count() > REPLY_CHARS {
        let most = thousands(REPLY_CHARS);
        let sentence = format!("must be 1 to {most} characters and not only white space");
        return Err(Error::invalid("text", sentence));
    }
    Ok(text)
}
