//! The list that a conversation is found in, and the counts of open ones.

use base::app::Cx;
use base::error::Result;
use base::states::{Removal, Status, View};
use db::Tx;

use crate::conversations::Conversation;
use crate::figures::counters::{self, Counter};

/// The list that a conversation is found in: by its status, a snooze and an answer on its way.
pub fn put_in_view(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    status: Status,
    snoozed_until: Option<i64>,
) -> Result<()> {
    list_in_view(tx, cx.actor.ws, conversation, status, snoozed_until)
}

/// The one place that writes status, snooze and view, and keeps the open count true. The view and the
/// answer on its way are read anew: sending and stopping change them.
pub fn list_in_view(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &mut Conversation,
    status: Status,
    snoozed_until: Option<i64>,
) -> Result<()> {
    let (was, leaves_at): (View, Option<i64>) = tx.one(
        "SELECT view, leaves_at FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation.id],
    )?;
    let view = match (conversation.removed, snoozed_until, status) {
        _ if conversation.merged_into.is_some() => View::Merged,
        (Some(Removal::Spam), _, _) => View::Spam,
        (Some(Removal::Trash), _, _) => View::Trash,
        (None, Some(_), _) => View::Snoozed,
        (None, None, Status::Open) if leaves_at.is_some() => View::Leaving,
        (None, None, Status::Open) => View::Open,
        (None, None, Status::Waiting) => View::Waiting,
        (None, None, Status::Closed) => View::Closed,
    };
    tx.exec_soon(
        "UPDATE conversations SET status = ?3, snoozed_until = ?4, view = ?5,
             waiting_since = CASE WHEN ?5 = 'closed' THEN NULL ELSE waiting_since END
         WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation.id, &status, &snoozed_until, &view],
    )?;
    let change = i64::from(view == View::Open) - i64::from(was == View::Open);
    count_open(tx, ws, conversation, change)?;
    conversation.status = status;
    conversation.snoozed_until = snoozed_until;
    conversation.leaves_at = leaves_at;
    conversation.view = view;
    Ok(())
}

pub fn count_open(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    change: i64,
) -> Result<()> {
    let (circle, counter) = (&conversation.circle, Counter::Open(&conversation.mailbox));
    counters::add(tx, ws, circle, counter, conversation.id.as_str(), change)?;
    match &conversation.topic_id {
        Some(topic) => {
            let counter = Counter::OpenOfTopic(topic);
            counters::add(tx, ws, circle, counter, conversation.id.as_str(), change)
        }
        None => Ok(()),
    }
}

/// Counts an open conversation with those of its topic, before or after the topic changes.
pub fn count_topic(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    change: i64,
) -> Result<()> {
    match &conversation.topic_id {
        Some(topic) if conversation.view == View::Open => {
            let (circle, counter) = (&conversation.circle, Counter::OpenOfTopic(topic));
            counters::add(tx, cx.actor.ws, circle, counter, conversation.id.as_str(), change)
        }
        _ => Ok(()),
    }
}
