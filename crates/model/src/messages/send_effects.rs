//! What sending a message changed in its conversation beside it, so that stopping it takes that back.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MemberId, MessageId};
use base::states::Status;
use db::{Json, Tx};
use serde::{Deserialize, Serialize};

use crate::conversations::conversation_state::{StatusState, put_status_back};
use crate::conversations::{self, Conversation};

/// What sending a message changed in its conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SendEffects {
    /// Who got the conversation, which nobody had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<String>,
    /// How it stood before it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<BeforeClosing>,
}

/// A conversation before it was closed with the message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BeforeClosing {
    pub standing: StatusState,
    /// When it was opened again for the last time.
    pub reopened_at: Option<i64>,
    pub closed_at: i64,
}

impl BeforeClosing {
    /// `None` where it is closed already.
    pub fn of(cx: &Cx<'_>, conversation: &Conversation) -> Option<BeforeClosing> {
        (conversation.status != Status::Closed).then(|| BeforeClosing {
            standing: StatusState::of(conversation),
            reopened_at: conversation.reopened_at,
            closed_at: cx.now,
        })
    }

    /// True while nobody opened it since.
    fn is_still_closed(&self, conversation: &Conversation) -> bool {
        conversation.status == Status::Closed && conversation.reopened_at == self.reopened_at
    }
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
    conversation: &ConversationId,
    message: &MessageId,
) -> Result<()> {
    let ws = cx.actor.ws;
    let (effects,): (Option<Json<SendEffects>>,) =
        tx.one("SELECT send_effects FROM messages WHERE ws = ?1 AND id = ?2", &[&ws, message])?;
    let Some(Json(SendEffects { assigned, closed })) = effects else { return Ok(()) };
    tx.exec("UPDATE messages SET send_effects = NULL WHERE ws = ?1 AND id = ?2", &[&ws, message])?;
    let mut conversation = conversations::load_itself(tx, cx.actor, conversation.as_str())?;
    let assignee = conversation.assignee.as_ref().map(MemberId::as_str);
    if assigned.is_some() && assignee == assigned.as_deref() {
        conversations::assign(tx, cx, &conversation, None)?;
        conversation.assignee = None;
    }
    match closed {
        Some(before) if before.is_still_closed(&conversation) => {
            put_status_back(tx, cx, &mut conversation, &before.standing, before.closed_at)
        }
        _ => Ok(()),
    }
}
