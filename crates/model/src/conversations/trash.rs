//! Whether a conversation is with the spam, in the trash or among the others.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::limits::TRASH_MS;
use base::states::Removal;
use db::Tx;

use crate::conversations::targets;
use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::{Conversation, views};

/// Writes where a conversation is now; what is in the trash is erased after a time. Who moves one there
/// calls `removals`, which also stops what was to leave from it.
pub fn set_removed(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Option<Removal>,
) -> Result<()> {
    let from = conversation.removed;
    if from == to {
        return Ok(());
    }
    let erase_at = (to == Some(Removal::Trash)).then_some(cx.now + TRASH_MS);
    tx.exec_soon(
        "UPDATE conversations SET removed = ?3, erase_at = ?4 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &to, &erase_at],
    )?;
    conversation.removed = to;
    let (status, snoozed_until) = (conversation.status, conversation.snoozed_until);
    views::put_in_view(tx, cx, conversation, status, snoozed_until)?;
    targets::refresh(tx, cx, &conversation.id)?;
    if erase_at.is_some() {
        tx.wake(Queue::Trash);
    }
    let event = match (from, to) {
        (_, Some(Removal::Spam)) => TimelineEvent::Spam {},
        (_, Some(Removal::Trash)) => TimelineEvent::Deleted {},
        (Some(Removal::Spam), None) => TimelineEvent::NotSpam {},
        (_, None) => TimelineEvent::Restored {},
    };
    timeline::record(tx, cx, &conversation.id, &event)
}

/// Takes a conversation out of the trash because something new came into it, so that this is not erased
/// with the rest.
pub fn leave(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    match conversation.removed {
        Some(Removal::Trash) => set_removed(tx, cx, conversation, None),
        Some(Removal::Spam) | None => Ok(()),
    }
}
