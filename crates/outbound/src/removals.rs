//! Conversations that go to the spam or into the trash, with what was to leave from them.

use base::app::Cx;
use base::error::Result;
use base::states::Removal;
use db::Tx;
use model::conversations::Conversation;
use model::conversations::trash;

use crate::messages::{self, OutgoingMessage};

/// Puts a conversation with the spam or into the trash, or back among the others. What was to leave is
/// a draft again.
pub fn set_removed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Option<Removal>,
) -> Result<()> {
    if to.is_some() && conversation.removed != to {
        stop_leaving(tx, cx, conversation)?;
    }
    trash::set_removed(tx, cx, conversation, to)
}

/// Takes back all that somebody wrote and that is still to leave; automatic mail is on its way.
fn stop_leaving(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
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
    Ok(())
}
