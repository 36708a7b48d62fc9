//! How a conversation stands, as far as acts change it, and putting it back as it stood.

use base::app::Cx;
use base::error::Result;
use base::ids::{MemberId, TopicId};
use base::states::{Status, Urgency};
use base::string_enum::string_enum;
use db::Tx;
use serde::{Deserialize, Serialize};

use crate::conversations::tags::TagName;
use crate::conversations::{self, Conversation, sorting, tags, targets};
use crate::figures::report_facts;
use crate::people::members;

string_enum! {
    /// A part of a conversation that acts change.
    ChangedPart {
        Status = "status",
        Tags = "tags",
        Assignee = "assignee",
        Topic = "topic",
        Urgency = "urgency",
    }
}

/// Status and snooze, with what follows from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusState {
    pub status: Status,
    pub snoozed_until: Option<i64>,
    /// Since when the customer waited.
    pub waiting_since: Option<i64>,
    pub held: bool,
}

/// What a conversation is about, and who decided it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SortingState {
    pub topic: Option<TopicId>,
    pub topic_by: Option<String>,
    pub urgency: Option<Urgency>,
    pub urgency_by: Option<String>,
}

/// How a conversation stood at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationState {
    pub standing: StatusState,
    pub assignee: Option<MemberId>,
    pub tags: Vec<String>,
    pub sorting: SortingState,
    pub last_message_at: i64,
}

/// What others than its agent did to a conversation since an act of it.
#[derive(Clone, Copy, Debug)]
pub struct LaterWork {
    /// They gave it to somebody or to nobody.
    pub assigned: bool,
    /// They closed, opened, snoozed, released or removed it.
    pub moved: bool,
    /// They wrote a note or a message in it.
    pub wrote: bool,
    /// They did any of these, or changed it otherwise.
    pub any: bool,
}

/// An act of the past on one conversation.
pub struct PastChange<'a> {
    pub before: &'a ConversationState,
    pub after: &'a ConversationState,
    pub acted_at: i64,
    /// What others did since.
    pub later: LaterWork,
}

impl StatusState {
    pub fn of(conversation: &Conversation) -> StatusState {
        StatusState {
            status: conversation.status,
            snoozed_until: conversation.snoozed_until,
            waiting_since: conversation.waiting_since,
            held: conversation.held,
        }
    }

    fn is_so(&self, other: &StatusState) -> bool {
        (self.status, self.snoozed_until) == (other.status, other.snoozed_until)
    }
}

impl SortingState {
    fn of(conversation: &Conversation) -> SortingState {
        SortingState {
            topic: conversation.topic_id.clone(),
            topic_by: conversation.topic_by.clone(),
            urgency: conversation.urgency,
            urgency_by: conversation.urgency_by.clone(),
        }
    }

    fn has_topic_of(&self, other: &SortingState) -> bool {
        (&self.topic, &self.topic_by) == (&other.topic, &other.topic_by)
    }

    fn has_urgency_of(&self, other: &SortingState) -> bool {
        (self.urgency, &self.urgency_by) == (other.urgency, &other.urgency_by)
    }
}

impl ConversationState {
    pub fn of(conversation: &Conversation) -> ConversationState {
        ConversationState {
            standing: StatusState::of(conversation),
            assignee: conversation.assignee.clone(),
            tags: conversation.tags.0.clone(),
            sorting: SortingState::of(conversation),
            last_message_at: conversation.last_message_at,
        }
    }
}

/// Puts back what an act changed, part by part. Returns the parts that somebody changed since, which
/// stay as they are.
pub fn put_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    act: &PastChange<'_>,
) -> Result<Vec<ChangedPart>> {
    let PastChange { before, after, acted_at, later } = *act;
    let now = ConversationState::of(conversation);
    let mut left = Vec::new();
    let (added, removed) = (beyond(&after.tags, &before.tags), beyond(&before.tags, &after.tags));
    if !added.is_empty() || !removed.is_empty() {
        tags::change(tx, cx, conversation, &removed, &added)?;
    }
    if !after.sorting.has_topic_of(&before.sorting) {
        match now.sorting.has_topic_of(&after.sorting) {
            true => sorting::put_topic_back(
                tx,
                cx,
                conversation,
                before.sorting.topic.as_ref(),
                before.sorting.topic_by.as_deref(),
            )?,
            false => left.push(ChangedPart::Topic),
        }
    }
    if !after.sorting.has_urgency_of(&before.sorting) {
        match now.sorting.has_urgency_of(&after.sorting) {
            true => sorting::put_urgency_back(
                tx,
                cx,
                conversation,
                before.sorting.urgency,
                before.sorting.urgency_by.as_deref(),
            )?,
            false => left.push(ChangedPart::Urgency),
        }
    }
    if after.assignee != before.assignee {
        match now.assignee == after.assignee && !later.assigned {
            true => give_back(tx, cx, conversation, before.assignee.as_ref())?,
            false => left.push(ChangedPart::Assignee),
        }
    }
    if !after.standing.is_so(&before.standing) {
        let is_quiet =
            conversation.last_message_at == after.last_message_at && !later.moved && !later.wrote;
        // The mail that was withheld was dropped when it was closed, and the sorting helper learned from it.
        let was_held = before.standing.held && !after.standing.held;
        match now.standing.is_so(&after.standing) && is_quiet && !was_held {
            true => put_status_back(tx, cx, conversation, &before.standing, acted_at)?,
            false => left.push(ChangedPart::Status),
        }
    }
    Ok(left)
}

/// The names of the first list that the second lacks.
fn beyond(names: &[String], others: &[String]) -> Vec<TagName> {
    let missing = names.iter().filter(|name| !others.contains(name));
    missing.map(|name| TagName::new(name)).collect()
}

/// Gives a conversation back to whom it belonged, if they still see it.
pub fn give_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Option<&MemberId>,
) -> Result<()> {
    let to = match to {
        Some(id) => members::in_circle(tx, cx.actor.ws, &conversation.circle, id)?,
        None => None,
    };
    conversations::assign(tx, cx, conversation, to.as_ref())?;
    conversation.assignee = to.map(|to| to.id);
    Ok(())
}

/// Sets status and snooze as they were before an act. What a closing counted as done is not.
pub fn put_status_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    before: &StatusState,
    acted_at: i64,
) -> Result<()> {
    let undoes_closing =
        conversation.status == Status::Closed && before.status != Status::Closed && !before.held;
    if undoes_closing {
        let (place, opened_at) = (conversation.report_place(), conversation.opened_at());
        report_facts::count_closing(tx, cx, &place, opened_at, acted_at, -1)?;
    }
    conversations::put_back(tx, cx, conversation, before.status, before.snoozed_until)?;
    conversations::wait_since(tx, cx, conversation, before.waiting_since)?;
    match undoes_closing {
        true => targets::put_back(tx, cx, &conversation.id, acted_at),
        false => targets::refresh(tx, cx, &conversation.id),
    }
}
