//! Conversations with an answer on its way: nobody's turn until it has left, was stopped or failed, or the
//! customer writes again.

use std::collections::HashMap;

use base::actor::Actor;
use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MailboxId};
use db::Tx;

use crate::conversations::{Conversation, views};

/// Lists a conversation by the answer that is on its way, after a message was sent, stopped or given up.
pub fn note(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<()> {
    count(tx, ws, id)?;
    let mut conversation: Conversation = tx.one(
        &format!("SELECT {} FROM conversations WHERE ws = ?1 AND id = ?2", Conversation::COLUMNS),
        &[&ws, id],
    )?;
    let (status, snoozed_until) = (conversation.status, conversation.snoozed_until);
    views::list_in_view(tx, ws, &mut conversation, status, snoozed_until)
}

/// Counts anew when the next answer leaves. What was written before the customer wrote again is no
/// answer to that.
pub fn count(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<()> {
    tx.exec(
        "UPDATE conversations SET leaves_at = (
             SELECT min(coalesce(m.sends_at, m.held_sends_at, m.scheduled_at)) FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.status IN ('scheduled', 'sending')
               AND m.automatic = FALSE AND m.forwards IS NULL
               AND (coalesce(conversations.last_direction, 'outbound') = 'outbound'
                    OR conversations.last_message_at <= m.scheduled_at)
         )
         WHERE ws = ?1 AND id = ?2",
        &[&ws, id],
    )?;
    Ok(())
}

/// How many conversations of each inbox that the actor may see have an answer on its way.
pub fn by_mailbox(tx: &mut Tx<'_>, actor: &Actor) -> Result<HashMap<MailboxId, i64>> {
    let (first, second) = actor.circles.pair();
    let rows: Vec<(MailboxId, i64)> = tx.all(
        "SELECT mailbox, count(*) FROM conversations
         WHERE ws = ?1 AND circle IN (?2, ?3) AND view = 'leaving' GROUP BY mailbox",
        &[&actor.ws, first, second],
    )?;
    Ok(rows.into_iter().collect())
}

/// Lists a conversation whose leaving answers were counted anew.
pub fn refresh_view(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    let (status, snoozed_until) = (conversation.status, conversation.snoozed_until);
    views::put_in_view(tx, cx, conversation, status, snoozed_until)
}

/// The customer wrote again: what is on its way does not answer that.
pub fn end(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    let known: (Option<i64>,) = tx.one(
        "SELECT leaves_at FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    if known.0.is_none() {
        return Ok(());
    }
    tx.exec(
        "UPDATE conversations SET leaves_at = NULL WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    refresh_view(tx, cx, conversation)
}
