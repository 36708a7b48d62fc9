//! The first answer to a customer: when it left, and how long they waited for it.

use base::app::Cx;
use base::error::Result;
use db::Tx;

use crate::conversations::Conversation;
use crate::conversations::targets;
use crate::figures::report_facts;
use crate::mailboxes::office_hours;

/// Notes that a message of the team left at this time, before it ends the customer's waiting.
pub fn note_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    at: i64,
) -> Result<()> {
    if conversation.first_answered_at.is_some() {
        return Ok(());
    }
    let waiting_since = conversation.waiting_since.filter(|asked_at| *asked_at <= at);
    let asked_at = match waiting_since {
        Some(asked_at) => Some(asked_at),
        None => first_asked_at(tx, cx, conversation, at)?,
    };
    let Some(asked_at) = asked_at else { return Ok(()) };
    tx.exec_soon(
        "UPDATE conversations SET first_answered_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &at],
    )?;
    conversation.first_answered_at = Some(at);
    targets::note_answer(tx, cx, &conversation.id, at)?;
    let waited = office_hours::between(tx, cx.actor.ws, &conversation.mailbox, asked_at, at)?;
    report_facts::count_answer(tx, cx, &conversation.report_place(), waited, at)
}

/// When a person of the other side first wrote. Whoever closes a conversation with the answer ends the
/// waiting before the answer leaves.
fn first_asked_at(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    before: i64,
) -> Result<Option<i64>> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT counted_at FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND NOT auto_reply
           AND counted_at <= ?3
         ORDER BY counted_at LIMIT 1",
        &[&cx.actor.ws, &conversation.id, &before],
    )?;
    Ok(found.map(|(at,)| at))
}
