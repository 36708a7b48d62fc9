//! Stopping a message and letting it leave now, as people press the buttons: twice, in two tabs, or too late.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MessageId};
use base::states::MessageStatus;
use db::Tx;
use model::conversations;
use outbound::scheduling;

use crate::writing::drafts::{self, StoppedMessage};

/// What came of pressing Stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopOutcome {
    Stopped(StoppedMessage),
    StoppedBefore,
    TooLate,
}

/// What came of pressing Send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendNowOutcome {
    Leaves,
    HasLeft,
    StoppedBefore,
    /// It is held in the queue, or failed.
    Stays,
    /// The actor reads the inbox only.
    MayNotSend,
}

/// Stops a message if it still waits. Answers its conversation, too.
pub fn press_stop(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
) -> Result<(ConversationId, StopOutcome)> {
    let message = find(tx, cx, id)?;
    let outcome = match message.status {
        MessageStatus::Draft => StopOutcome::StoppedBefore,
        MessageStatus::Scheduled => StopOutcome::Stopped(drafts::stop_message(tx, cx, id)?),
        MessageStatus::Sending | MessageStatus::Sent | MessageStatus::Failed => {
            StopOutcome::TooLate
        }
    };
    Ok((message.conversation, outcome))
}

/// Lets a message leave at once if it still waits. Answers its conversation, too.
pub fn press_send_now(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
) -> Result<(ConversationId, SendNowOutcome)> {
    let message = find(tx, cx, id)?;
    let outcome = match message.status {
        MessageStatus::Draft => SendNowOutcome::StoppedBefore,
        MessageStatus::Sending | MessageStatus::Sent => SendNowOutcome::HasLeft,
        MessageStatus::Failed => SendNowOutcome::Stays,
        MessageStatus::Scheduled if message.is_held => SendNowOutcome::Stays,
        MessageStatus::Scheduled => {
            if scheduling::may_send_now(tx, cx, &message.mailbox)? {
                drafts::send_now(tx, cx, id)?;
                SendNowOutcome::Leaves
            } else {
                SendNowOutcome::MayNotSend
            }
        }
    };
    Ok((message.conversation, outcome))
}

db::row! {
    struct PressedMessage from "m" {
        conversation: ConversationId,
        mailbox: MailboxId,
        status: MessageStatus,
        is_held: bool = "m.held_at IS NOT NULL",
    }
}

/// A message of ours that the actor may see. What its author stopped is discarded, and found as well.
fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<PressedMessage> {
    let missing = || Error::NotFound("message");
    let message: Option<PressedMessage> = tx.opt(
        &format!(
            "SELECT {} FROM messages m WHERE m.ws = ?1 AND m.id = ?2 AND m.status IS NOT NULL",
            PressedMessage::COLUMNS
        ),
        &[&cx.actor.ws, id],
    )?;
    let message = message.ok_or_else(missing)?;
    conversations::load(tx, cx.actor, message.conversation.as_str()).map_err(|_| missing())?;
    Ok(message)
}
