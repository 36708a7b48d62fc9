//! Conversations that go to the spam or into the trash, with what was to leave from them.

use base::app::Cx;
use base::error::Result;
use base::states::Removal;
use db::Tx;
use model::conversations::trash;
use model::conversations::{self, Conversation};

use crate::messages::{self, OutgoingMessage};

/// Puts a conversation with the spam or into the trash, or back among the others. What was to leave is
/// a draft again.
pub fn set_removed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Option<Removal>,
) -> Result<()> {
    if to.is_some() && conversation.removed != to && stop_leaving(tx, cx, conversation)? {
        // Stopping gave status and assignee back.
        *conversation = conversations::load_itself(tx, cx.actor, conversation.id.as_str())?;
    }
    trash::set_removed(tx, cx, conversation, to)
}

/// Takes back all that somebody wrote and that is still to leave; automatic mail is on its way. True if
/// there was something.
fn stop_leaving(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<bool> {
    let leaving: Vec<OutgoingMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m WHERE m.ws = ?1 AND m.conversation = ?2
               AND m.status = 'scheduled' AND m.automatic = FALSE",
            OutgoingMessage::COLUMNS
        ),
        &[&cx.actor.ws, &conversation.id],
    )?;
    for message in &leaving {
        messages::stop(tx, cx, conversation, message)?;
    }
    Ok(!leaving.is_empty())
}
