//! What waits to leave: it does as soon as an installation is no longer quiet.

use std::collections::BTreeMap;

use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use db::Tx;
use model::conversations::leaving;

/// The queues by their names, and what is in them.
const QUEUES: &[(&str, &str)] = &[
    ("messages", "messages WHERE sends_at IS NOT NULL"),
    ("notices", "notices"),
    ("notices that wait for others", "notice_facts WHERE due_at IS NOT NULL"),
    ("notices to browsers", "push_messages"),
    ("webhook calls", "deliveries WHERE next_attempt_at IS NOT NULL"),
    ("reminders of protected messages", "secure_messages WHERE remind_at IS NOT NULL"),
    ("reminders of documents", "document_requests WHERE remind_at IS NOT NULL"),
    ("reminders of bookings", "bookings WHERE remind_at IS NOT NULL"),
    ("bookings of agents", "bookings WHERE act_at IS NOT NULL"),
];

/// How much waits in each queue.
pub fn waiting(tx: &mut Tx<'_>) -> Result<BTreeMap<&'static str, i64>> {
    let mut counts = BTreeMap::new();
    for (name, rows) in QUEUES {
        let (count,): (i64,) = tx.one(&format!("SELECT count(*) FROM {rows}"), &[])?;
        counts.insert(*name, count);
    }
    Ok(counts)
}

/// Makes messages drafts again that should have left by now, because the installation that this one
/// is a copy of may have sent them. Says how many.
pub fn stop_overdue(tx: &mut Tx<'_>, now: i64) -> Result<u64> {
    let overdue: Vec<(i64, MessageId, ConversationId)> = tx.all(
        "SELECT m.ws, m.id, m.conversation FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE m.sends_at <= ?1 AND m.status IN ('scheduled', 'sending') AND c.circle <> 'sandbox'",
        &[&now],
    )?;
    for (ws, message, conversation) in &overdue {
        tx.exec(
            "UPDATE messages
             SET status = 'draft', sends_at = NULL, approved = NULL, revision = revision + 1
             WHERE ws = ?1 AND id = ?2",
            &[ws, message],
        )?;
        tx.exec(
            "UPDATE conversations SET has_draft = TRUE WHERE ws = ?1 AND id = ?2",
            &[ws, conversation],
        )?;
        leaving::note(tx, *ws, conversation)?;
    }
    tx.wake(Queue::Pages);
    Ok(overdue.len() as u64)
}
