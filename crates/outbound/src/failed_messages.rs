//! Messages of ours that were not delivered: what is recorded, and who hears of it.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MessageId;
use base::states::Status;
use db::Tx;
use model::conversations::leaving;
use model::conversations::timeline::{self, TimelineEvent};
use model::conversations::{self, Conversation};
use model::messages::recipients;
use model::messages::send_failure::{self, SendFailure};
use model::people::notifications::facts;
use model::webhooks::events::{self, MessageFailed};

use crate::messages::{OutgoingMessage, load_outgoing};

/// Records that a message cannot be delivered.
pub fn mark_failed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
    failure: &SendFailure,
) -> Result<()> {
    let failed = tx.exec(
        &format!("{FAIL} AND status IN ('scheduled', 'sending')"),
        &[&cx.actor.ws, &message.id, &cx.now],
    )?;
    if failed == 0 {
        return Err(Error::NotFound("scheduled message"));
    }
    let bounced = TimelineEvent::Bounced { message_id: message.id.clone(), recipients: None };
    timeline::record(tx, cx, &message.conversation, &bounced)?;
    note_failure(tx, cx, conversation, message, failure)
}

/// Ends a message that has not left, because somebody took it out of the queue.
pub fn mark_discarded(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
    failure: &SendFailure,
) -> Result<()> {
    let failed = tx.exec(
        &format!(
            "{FAIL} AND status IN ('scheduled', 'sending')
               AND (lease_until IS NULL OR lease_until <= ?3)"
        ),
        &[&cx.actor.ws, &message.id, &cx.now],
    )?;
    if failed == 0 {
        return Err(Error::Conflict("The message is being sent at this moment.".into()));
    }
    let discarded = TimelineEvent::SendDiscarded { message_id: message.id.clone() };
    timeline::record(tx, cx, &message.conversation, &discarded)?;
    note_failure(tx, cx, conversation, message, failure)
}

const FAIL: &str = "UPDATE messages SET status = 'failed', sends_at = NULL, held_at = NULL,
        lease_until = NULL, failed_at = ?3
     WHERE ws = ?1 AND id = ?2";

/// Records why a message is not tried any more, which is in the timeline. One that cannot be read is
/// nobody's news.
pub fn note_given_up(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    failure: &SendFailure,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE messages SET failed_at = ?3 WHERE ws = ?1 AND id = ?2 AND status = 'failed'",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    send_failure::keep(tx, cx.actor.ws, id, failure)?;
    match load_outgoing(tx, cx.actor, id) {
        Ok((message, conversation)) => note_failure(tx, cx, &conversation, &message, failure),
        Err(Error::NotFound(_)) => Ok(()),
        Err(Error::Store(db::StoreError::Column { .. } | db::StoreError::Field { .. })) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Tells whoever wrote it, and webhooks that chose it, that a message failed and why.
fn note_failure(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &OutgoingMessage,
    failure: &SendFailure,
) -> Result<()> {
    send_failure::keep(tx, cx.actor.ws, &message.id, failure)?;
    leaving::note(tx, cx.actor.ws, &conversation.id)?;
    let (author, assignee) = (message.author.as_deref(), conversation.assignee.as_ref());
    facts::note_failed(tx, cx, conversation.notice_place(), author, assignee)?;
    let event = MessageFailed {
        conversation_id: &conversation.id,
        message_id: &message.id,
        mailbox_id: &message.mailbox,
        reason: failure,
    };
    events::record(tx, cx, &conversation.circle, &event)
}

/// Records that a message came back: it was not delivered. If it is the latest message, it becomes
/// the team's turn again, because the customer has nothing to reply to.
pub fn mark_bounced(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &OutgoingMessage,
    failure: &SendFailure,
) -> Result<()> {
    let failed = tx.exec(
        &format!("{FAIL} AND status IN ('sending', 'sent')"),
        &[&cx.actor.ws, &message.id, &cx.now],
    )?;
    if failed == 0 {
        return Ok(());
    }
    let bounced = TimelineEvent::Bounced { message_id: message.id.clone(), recipients: None };
    timeline::record(tx, cx, &message.conversation, &bounced)?;
    note_failure(tx, cx, conversation, message, failure)?;
    let latest: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'outbound' AND counted_at IS NOT NULL
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &message.conversation],
    )?;
    let is_latest = latest.is_some_and(|(id,)| id == message.id);
    match is_latest && conversation.status == Status::Waiting {
        true => conversations::set_status(tx, cx, conversation, Status::Open),
        false => Ok(()),
    }
}

/// Records that a recipient called a message spam.
pub fn note_complaint(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage) -> Result<()> {
    let recipients = recipients::of_message(tx, cx.actor.ws, &message.id)?;
    let email = recipients.to.into_iter().next().map(|party| party.email);
    timeline::record(tx, cx, &message.conversation, &TimelineEvent::SpamComplaint { email })
}

/// Records that a message that has gone out did not reach everyone it was for.
pub fn note_refused(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    refused: &[String],
    failure: &SendFailure,
) -> Result<()> {
    send_failure::keep(tx, cx.actor.ws, &message.id, failure)?;
    let recipients = Some(refused.to_vec());
    let bounced = TimelineEvent::Bounced { message_id: message.id.clone(), recipients };
    timeline::record(tx, cx, &message.conversation, &bounced)
}
