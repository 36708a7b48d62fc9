//! How long an inbox keeps closed conversations that nobody touches.

use base::error::Result;
use base::ids::{ConversationId, MailboxId};
use db::Tx;

use crate::erasure::deletions::COUNTED;

/// The days that can be set.
pub const KEPT_DAYS_LEAST: i64 = 7;
pub const KEPT_DAYS_MOST: i64 = 36_500;

/// Conversations of `m` in inbox `?2` of workspace `?1` that are closed and in which nothing happened
/// since `?3`.
pub const UNTOUCHED: &str = "FROM conversations c
    WHERE c.ws = ?1 AND c.mailbox = ?2 AND c.view = 'closed' AND c.last_message_at < ?3
      AND NOT EXISTS (
          SELECT 1 FROM timeline_events e
          WHERE e.ws = c.ws AND e.conversation = c.id AND e.at >= ?3
      )
      AND NOT EXISTS (
          SELECT 1 FROM notes n WHERE n.ws = c.ws AND n.conversation = c.id AND n.at >= ?3
      )
      AND NOT EXISTS (
          SELECT 1 FROM messages m
          WHERE m.ws = c.ws AND m.conversation = c.id AND m.status = 'scheduled'
      )";

/// The days that an inbox keeps closed conversations; `None` where it keeps them for good.
pub fn kept_days(tx: &mut Tx<'_>, ws: i64, id: &MailboxId) -> Result<Option<i64>> {
    let (days,): (Option<i64>,) =
        tx.one("SELECT kept_days FROM mailboxes WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    Ok(days)
}

/// How many conversations would go into the trash at once; counting ends at [`COUNTED`].
pub fn untouched_since(tx: &mut Tx<'_>, ws: i64, id: &MailboxId, since: i64) -> Result<i64> {
    let (count,): (i64,) = tx.one(
        &format!(
            "SELECT CAST(count(*) AS BIGINT) FROM (SELECT c.id {UNTOUCHED} LIMIT ?4) AS counted"
        ),
        &[&ws, id, &since, &COUNTED],
    )?;
    Ok(count)
}

/// True while a conversation may still go: nothing happened in it meanwhile.
pub fn is_untouched(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    since: i64,
    id: &ConversationId,
) -> Result<bool> {
    let found: Option<(ConversationId,)> =
        tx.opt(&format!("SELECT c.id {UNTOUCHED} AND c.id = ?4"), &[&ws, mailbox, &since, id])?;
    Ok(found.is_some())
}
