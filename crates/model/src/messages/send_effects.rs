//! What sending a message changed in its conversation beside it, so that stopping it takes that back.

use base::app::Cx;
use base::error::Result;
use base::ids::{MemberId, MessageId};
use base::states::Status;
use db::{Json, Tx};
use serde::{Deserialize, Serialize};

use crate::conversations::{self, Conversation};

/// What sending a message changed in its conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendEffects {
    /// Who got the conversation, which nobody had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<String>,
    /// How it stood before it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<BeforeClosing>,
}

/// The state of a conversation before it was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeClosing {
    pub status: Status,
    pub snoozed_until: Option<i64>,
}

impl SendEffects {
    /// Keeps them with the message.
    pub fn keep(&self, tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<()> {
        if *self == SendEffects::default() {
            return Ok(());
        }
        tx.exec(
            "UPDATE messages SET send_effects = ?3 WHERE ws = ?1 AND id = ?2",
            &[&ws, message, &Json(self)],
        )?;
        Ok(())
    }
}

/// Takes back what sending a message changed, unless somebody changed it since.
pub fn take_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<()> {
    let ws = cx.actor.ws;
    let (effects,): (Option<Json<SendEffects>>,) =
        tx.one("SELECT send_effects FROM messages WHERE ws = ?1 AND id = ?2", &[&ws, message])?;
    let Some(Json(SendEffects { assigned, closed })) = effects else { return Ok(()) };
    tx.exec("UPDATE messages SET send_effects = NULL WHERE ws = ?1 AND id = ?2", &[&ws, message])?;
    let mut conversation = conversations::load_itself(tx, cx.actor, conversation.id.as_str())?;
    let assignee = conversation.assignee.as_ref().map(MemberId::as_str);
    if assigned.is_some() && assignee == assigned.as_deref() {
        conversations::assign(tx, cx, &conversation, None)?;
    }
    match closed {
        Some(before) if conversation.status == Status::Closed => {
            let BeforeClosing { status, snoozed_until } = before;
            conversations::put_back(tx, cx, &mut conversation, status, snoozed_until)
        }
        _ => Ok(()),
    }
}
