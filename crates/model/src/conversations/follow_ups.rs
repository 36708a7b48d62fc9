//! Follow-ups: a conversation comes back at a time unless the customer answers before. Meanwhile it is
//! snoozed and waits for the customer, whereas a plain snooze is of an open one.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{MemberId, MessageId, UserId};
use base::states::Status;
use base::time::Moment;
use db::Tx;

use crate::conversations::timeline::{self, TimelineEvent, WokenBy};
use crate::conversations::{self, Conversation, views};
use crate::people::notifications::facts::{self, NoticeKind};

/// Keeps with a message when its conversation comes back if nobody answers it.
pub fn keep(tx: &mut Tx<'_>, ws: i64, message: &MessageId, at: i64) -> Result<()> {
    tx.exec_soon(
        "UPDATE messages SET follow_up_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, message, &at],
    )?;
    Ok(())
}

/// Puts a conversation away until the time that was kept with a message which has left now. What was
/// closed meanwhile stays closed.
pub fn begin(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &MessageId,
) -> Result<()> {
    let (at,): (Option<i64>,) = tx.one(
        "SELECT follow_up_at FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, message],
    )?;
    let Some(until) = at.filter(|at| *at > cx.now) else { return Ok(()) };
    if conversation.status != Status::Waiting {
        return Ok(());
    }
    views::put_in_view(tx, cx, conversation, Status::Waiting, Some(until))?;
    tx.wake(Queue::Snoozes);
    let follow_up = TimelineEvent::FollowUp { until: Moment(until) };
    timeline::record(tx, cx, &conversation.id, &follow_up)
}

/// Ends a snooze whose time has come. After a follow-up it is the team's turn, and whoever wrote the
/// message is told.
pub fn end_snooze(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    if conversation.status != Status::Waiting {
        return conversations::wake(tx, cx, conversation, WokenBy::Clock);
    }
    let until = conversation.snoozed_until;
    conversations::wake(tx, cx, conversation, WokenBy::NoAnswer)?;
    conversations::set_status(tx, cx, conversation, Status::Open)?;
    let author: Option<(Option<String>,)> = tx.opt(
        "SELECT author FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND follow_up_at = ?3
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &conversation.id, &until],
    )?;
    let author = author.and_then(|(author,)| UserId::parse(&author?));
    let person = match (author, &conversation.assignee) {
        (Some(author), _) => author,
        (None, Some(MemberId::User(assignee))) => assignee.clone(),
        (None, _) => return Ok(()),
    };
    facts::note(tx, cx, conversation.notice_place(), NoticeKind::Unanswered, &person)
}
