//! What rules have to look at, queued in the transaction of what happened. Rules act in the inboxes of the
//! team and in those for some of it, not in private ones.

use base::actor::Principal;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::MessageId;
use base::limits::MINUTE_MS;
use base::string_enum::string_enum;
use db::Tx;

use crate::conversations::Conversation;

string_enum! {
    /// When a rule runs.
    RuleEvent {
        Arrives = "mail-arrives",
        Replies = "customer-replies",
        OutsideHours = "outside-hours",
        Tagged = "tagged",
        Unanswered = "no-answer",
    }
}

/// Queues a mail of a customer that came in. `begins` where it began its conversation.
pub fn enqueue_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    begins: bool,
) -> Result<()> {
    if !conversation.circle.is_shared() {
        return Ok(());
    }
    let rules: Vec<(String, RuleEvent, i64)> = tx.all(
        "SELECT id, event, wait_minutes FROM rules WHERE ws = ?1 AND enabled AND event <> 'tagged'",
        &[&cx.actor.ws],
    )?;
    let is_meant = |event: RuleEvent| match event {
        RuleEvent::Arrives | RuleEvent::OutsideHours => true,
        RuleEvent::Replies => !begins,
        RuleEvent::Tagged | RuleEvent::Unanswered => false,
    };
    if rules.iter().any(|(_, event, _)| is_meant(*event)) {
        let event = if begins { RuleEvent::Arrives } else { RuleEvent::Replies };
        insert(tx, cx, conversation, message.as_str(), event, "", cx.now)?;
    }
    let unanswered = RuleEvent::Unanswered;
    let has_waits = rules.iter().any(|(_, event, _)| *event == unanswered);
    if !has_waits || !begins_waiting(tx, cx, message)? {
        return Ok(());
    }
    for (rule, _, wait) in rules.iter().filter(|(_, event, _)| *event == unanswered) {
        let due_at = cx.now + wait * MINUTE_MS;
        insert(tx, cx, conversation, message.as_str(), unanswered, rule, due_at)?;
    }
    Ok(())
}

/// True for the oldest mail that waits, which alone is waited for. Nobody answers automatic replies.
fn begins_waiting(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT m.serial FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE m.ws = ?1 AND m.id = ?2 AND NOT m.auto_reply AND c.waiting_since = m.counted_at",
        &[&cx.actor.ws, message],
    )?;
    Ok(found.is_some())
}

/// Queues a conversation that a person or agent put a tag on. What a rule does is no reason for another.
pub fn enqueue_tagged(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    let is_by_member = matches!(cx.actor.who, Principal::Person { .. } | Principal::Agent { .. });
    if !is_by_member || !conversation.circle.is_shared() {
        return Ok(());
    }
    let found: Option<(String,)> = tx.opt(
        "SELECT id FROM rules WHERE ws = ?1 AND enabled AND event = 'tagged' LIMIT 1",
        &[&cx.actor.ws],
    )?;
    match found {
        Some(_) => insert(tx, cx, conversation, "", RuleEvent::Tagged, "", cx.now),
        None => Ok(()),
    }
}

fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &str,
    event: RuleEvent,
    rule: &str,
    due_at: i64,
) -> Result<()> {
    // A mail is looked at once, and tags that are added together are.
    let thing = if message.is_empty() { conversation.id.as_str() } else { message };
    let id = format!("{} {thing} {rule}", event.as_str());
    tx.exec_soon(
        "INSERT INTO rule_jobs (ws, id, conversation, message, event, rule, created_at, due_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (ws, id) DO NOTHING",
        &[&cx.actor.ws, &id, &conversation.id, &message, &event, &rule, &cx.now, &due_at],
    )?;
    tx.wake(Queue::Rules);
    Ok(())
}
