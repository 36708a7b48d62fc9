//! What an agent does about messages that an agent wrote and nobody should get or read: stopping one before
//! it leaves, discarding a draft, closing the page of a secure message. People do the same by the functions
//! below, without limits.

use base::actor::Principal;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AgentId, MessageId};
use base::states::MessageStatus;
use db::Tx;
use model::conversations::agent_acts::{self, AgentActKind};
use model::conversations::{self, Conversation};
use model::guests::secure;
use model::people::agent_limits::changes::ConversationAct;

use crate::drafts;
use crate::messages::{self, OutgoingMessage};

/// Stops a message before it leaves; stopping a draft changes nothing.
pub fn stop(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
) -> Result<()> {
    must_take_back(tx, cx, message)?;
    if message.status == MessageStatus::Draft {
        return Ok(());
    }
    messages::stop(tx, cx, conversation, message)?;
    // Only then: where this pauses the agent, all that it scheduled is stopped.
    note(tx, cx, conversation, message)
}

/// Takes a draft out of the queue and the timeline.
pub fn discard(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &OutgoingMessage,
    reason: &str,
) -> Result<()> {
    drafts::discard(tx, cx, conversation, draft, reason)?;
    note(tx, cx, conversation, draft)
}

/// Closes the page of a secure message that has left, whoever wrote it; doing it twice changes nothing.
pub fn revoke(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
) -> Result<()> {
    match secure::revoke(tx, cx, conversation, &message.id)? {
        true => note(tx, cx, conversation, message),
        false => Ok(()),
    }
}

/// True for a message that a person approved and nobody has stopped since.
pub fn is_approved(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<bool> {
    let (approved,): (bool,) = tx.one(
        "SELECT approved IS NOT NULL FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id],
    )?;
    Ok(approved)
}

/// Refuses an agent what is a person's: they wrote it, or approved it.
fn must_take_back(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage) -> Result<()> {
    if !matches!(cx.actor.who, Principal::Agent { .. }) {
        return Ok(());
    }
    let by_agent = message.author.as_deref().is_some_and(|author| AgentId::parse(author).is_some());
    if !by_agent {
        return Err(Error::Forbidden("Only a person can stop what a person sends.".into()));
    }
    match is_approved(tx, cx, &message.id)? {
        true => Err(Error::Forbidden("Only a person can stop what a person approved.".into())),
        false => Ok(()),
    }
}

fn note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
) -> Result<()> {
    conversations::admit_change(tx, cx, conversation, ConversationAct::TakeBack)?;
    let (kind, id) = (AgentActKind::Withdrew, message.id.as_str());
    agent_acts::note_made(tx, cx, kind, &conversation.id, id)
}
