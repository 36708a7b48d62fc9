//! The messages that the drafting helper has to look at.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{MailboxId, MessageId};
use db::Tx;

use crate::mailboxes::DraftingMode;

/// Puts a message into the queue; the helper looks at it after the commit.
pub fn enqueue(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO drafting_jobs (ws, message, due_at, asked) VALUES (?1, ?2, ?3, FALSE)
         ON CONFLICT (ws, message) DO NOTHING",
        &[&cx.actor.ws, message, &cx.now],
    )?;
    tx.wake(Queue::Drafting);
    Ok(())
}

/// Puts a customer's message into the queue, if its inbox has drafting switched on. Read here and not
/// with the inbox, which fetchers hold for long.
pub fn enqueue_received(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
    message: &MessageId,
) -> Result<()> {
    let wanted: Option<(DraftingMode,)> = tx.opt(
        "SELECT drafting FROM mailboxes WHERE ws = ?1 AND id = ?2 AND drafting <> 'off'",
        &[&cx.actor.ws, mailbox],
    )?;
    match wanted {
        Some(_) => enqueue(tx, cx, message),
        None => Ok(()),
    }
}

/// Takes a message out of the queue; false when it is not there any more.
pub fn finish(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<bool> {
    let finished =
        tx.exec("DELETE FROM drafting_jobs WHERE ws = ?1 AND message = ?2", &[&ws, message])?;
    Ok(finished > 0)
}
