//! Snoozes that a conversation brings along from another help desk.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use db::Tx;

use crate::conversations::{Conversation, views};

/// Snoozes a conversation or ends its snooze, as it is there, without an entry in its timeline: nobody
/// here did it.
pub fn take_over(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    until: Option<i64>,
) -> Result<()> {
    if conversation.snoozed_until == until {
        return Ok(());
    }
    let status = conversation.status;
    views::put_in_view(tx, cx, conversation, status, until)?;
    tx.wake(Queue::Snoozes);
    Ok(())
}
