//! Conversations: loading one that the actor may see, and the changes every operation shares.

pub mod agent_acts;
mod agent_changes;
pub mod circle_move;
pub mod conversation_state;
pub mod first_answer;
pub mod follow_ups;
pub mod followers;
mod handed_over;
pub mod handover;
pub mod learned_spam;
pub mod leaving;
pub mod mentions;
pub mod merges;
pub mod notes;
pub mod past_snoozes;
pub mod pins;
pub mod sorter_examples;
pub mod sorting;
pub mod tags;
pub mod targets;
pub mod timeline;
pub mod topics;
pub mod trash;
mod views;

use base::actor::{Actor, Circle, Principal};
use base::app::Cx;
use base::assignee::Assignee;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, MemberId, TopicId};
use base::limits::{BASE_SUBJECT_CHARS, SUBJECT_CHARS};
use base::states::{ConversationRisk, Direction, Removal, Status, Urgency, View};
use base::time::Moment;
use db::{Json, Tx};

use crate::conversations::timeline::{TimelineEvent, WokenBy};
use crate::figures::report_facts::{self, ReportMeasure, ReportPlace};
use crate::guests::satisfaction;
use crate::people::agent_limits::changes::ConversationAct;
use crate::people::members;
use crate::people::notifications::facts::{self, NoticePlace};
use crate::webhooks::events::{
    self, ConversationAssigned, ConversationCreated, EventActor, Turn, TurnChanged,
};

pub use agent_changes::admit_change;
pub use views::count_topic;

/// Who decided where the sorting helper did.
pub const HELPER: &str = "helper";

db::row! {
    /// A conversation's row.
    #[derive(Clone, Debug)]
    pub struct Conversation from "conversations" {
        pub id: ConversationId,
        pub num: i64,
        pub circle: Circle,
        pub mailbox: MailboxId,
        pub view: View,
        pub status: Status,
        pub snoozed_until: Option<i64>,
        /// When its next answer leaves, unless the customer wrote since it was sent.
        pub leaves_at: Option<i64>,
        /// Why it is out of the way.
        pub removed: Option<Removal>,
        /// The conversation that has its messages now. [`load`] never returns such a one.
        pub merged_into: Option<ConversationId>,
        pub held: bool,
        announced_turn: Option<Turn>,
        pub subject: String,
        pub contact_name: Option<String>,
        pub contact_email: EmailAddress,
        pub last_message_at: i64,
        pub assignee: Option<MemberId> = "nullif(conversations.assignee, '')",
        pub tags: Json<Vec<String>>,
        /// A topic that was removed is none.
        pub topic_id: Option<TopicId> = "(SELECT t.id FROM topics t
             WHERE t.ws = conversations.ws AND t.id = conversations.topic)",
        pub topic: Option<String> = "(SELECT t.name FROM topics t
             WHERE t.ws = conversations.ws AND t.id = conversations.topic)",
        /// Who decided the topic: a member's id or [`HELPER`]; `None` before anybody did.
        pub topic_by: Option<String> = "CASE WHEN conversations.topic IS NULL OR EXISTS (
                 SELECT 1 FROM topics t
                 WHERE t.ws = conversations.ws AND t.id = conversations.topic
             ) THEN conversations.topic_by END",
        pub topic_reasons: Json<Vec<String>>,
        /// The helper's best guess, whether it was given or only suggested, and its name.
        pub guessed_topic: Option<TopicId>,
        guessed_name: Option<String> = "(SELECT t.name FROM topics t
             WHERE t.ws = conversations.ws AND t.id = conversations.guessed_topic)",
        pub guess_confidence: Option<f64>,
        pub urgency: Option<Urgency>,
        /// Who decided the urgency, as with the topic.
        pub urgency_by: Option<String>,
        pub urgency_reasons: Json<Vec<String>>,
        /// The language of the customer's mail, as two letters.
        pub language: Option<String>,
        pub risk: Option<ConversationRisk>,
        pub risk_reasons: Json<Vec<String>>,
        pub reference: Option<String>,
        pub last_direction: Option<Direction>,
        /// When the customer's oldest unanswered mail came.
        pub waiting_since: Option<i64>,
        /// True while a draft waits for a person.
        pub has_draft: bool,
        /// Some message of it is secure.
        pub has_secure: bool,
        /// The customer's newest message came in on a secure page.
        pub secure_answer: bool,
        pub created_at: i64,
        /// When it was last opened again after it had been closed.
        pub reopened_at: Option<i64>,
        /// When the team's first answer left.
        pub first_answered_at: Option<i64>,
        /// Until when the first answer is to leave, and the conversation to be closed.
        pub answer_due_at: Option<i64>,
        pub resolve_due_at: Option<i64>,
        /// When an agent handed it over to people; `None` once a person took it.
        pub handed_over_at: Option<i64>,
    }
}

/// The conversation, or the same error for missing and invisible ones (API section 5.7). The id of a
/// merged one leads to the one that has its messages.
pub fn load(tx: &mut Tx<'_>, actor: &Actor, id: &str) -> Result<Conversation> {
    let found = load_itself(tx, actor, id)?;
    match &found.merged_into {
        Some(into) => load_itself(tx, actor, into.as_str()),
        None => Ok(found),
    }
}

/// The conversation of exactly this id, merged or not.
pub fn load_itself(tx: &mut Tx<'_>, actor: &Actor, id: &str) -> Result<Conversation> {
    let id = ConversationId::parse(id).ok_or(Error::NotFound("conversation"))?;
    let (first, second) = actor.circles.pair();
    tx.opt(
        &format!(
            "SELECT {} FROM conversations WHERE ws = ?1 AND id = ?2 AND circle IN (?3, ?4)",
            Conversation::COLUMNS
        ),
        &[&actor.ws, &id, first, second],
    )?
    .ok_or(Error::NotFound("conversation"))
}

/// The initial values of a conversation.
pub struct NewConversation<'a> {
    pub circle: &'a Circle,
    pub mailbox: &'a MailboxId,
    pub subject: &'a str,
    pub contact_name: Option<&'a str>,
    pub contact_email: &'a str,
    pub reference: Option<&'a str>,
    /// When its first mail arrived: its first position in lists.
    pub listed_at: i64,
}

/// Starts a conversation: open, unassigned, still without mail.
pub fn begin(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    beginning: &NewConversation<'_>,
) -> Result<Conversation> {
    let (num,): (i64,) = tx.one(
        tx.pick(
            "SELECT coalesce(max(num), 0) + 1 FROM conversations",
            "SELECT nextval('conversation_nums')",
        ),
        &[],
    )?;
    let subject: String = beginning.subject.chars().take(SUBJECT_CHARS).collect();
    let conversation: Conversation = tx.one(
        &format!(
            "INSERT INTO conversations (
                ws, id, num, circle, mailbox, view, status, held, subject, base_subject, snippet,
                contact_name, contact_email, last_message_at, message_count, next_serial, assignee,
                tags, risk_reasons, reference, created_at
             ) VALUES (
                ?1, ?2, ?3, ?4, ?5, 'open', 'open', FALSE, ?6, ?7, '', ?8, ?9, ?10, 0, 1, '', '[]',
                '[]', ?11, ?12
             ) RETURNING {}",
            Conversation::COLUMNS
        ),
        &[
            &cx.actor.ws,
            &ConversationId::new(cx.ids, cx.now),
            &num,
            beginning.circle,
            beginning.mailbox,
            &subject,
            &base_subject(beginning.subject),
            &beginning.contact_name,
            &beginning.contact_email,
            &beginning.listed_at,
            &beginning.reference,
            &cx.now,
        ],
    )?;
    views::count_open(tx, cx.actor.ws, &conversation, 1)?;
    Ok(conversation)
}

impl Conversation {
    /// Where people are told that something happened.
    pub fn notice_place(&self) -> NoticePlace<'_> {
        NoticePlace { conversation: &self.id, mailbox: &self.mailbox, circle: &self.circle }
    }

    /// Where it is counted in reports.
    pub fn report_place(&self) -> ReportPlace<'_> {
        ReportPlace { circle: &self.circle, mailbox: &self.mailbox }
    }

    /// When it was begun, or opened again.
    pub fn opened_at(&self) -> i64 {
        self.reopened_at.unwrap_or(self.created_at)
    }

    pub fn turn(&self) -> Turn {
        match self.status {
            Status::Open => Turn::Ours,
            Status::Waiting => Turn::Theirs,
            Status::Closed => Turn::Done,
        }
    }

    /// True when a person or agent decided the topic, "none of these" included.
    pub fn is_topic_decided(&self) -> bool {
        self.topic_by.as_deref().is_some_and(|by| by != HELPER)
    }

    pub fn is_urgency_decided(&self) -> bool {
        self.urgency_by.as_deref().is_some_and(|by| by != HELPER)
    }

    /// The helper's best guess, where it was not sure enough to set it and nobody decided.
    pub fn suggested_topic(&self) -> Option<&str> {
        self.guessed_name.as_deref().filter(|_| self.topic_by.is_none())
    }

    pub fn assignee_named(&self, tx: &mut Tx<'_>, ws: i64) -> Result<Option<Assignee>> {
        match &self.assignee {
            Some(id) => members::find_name(tx, ws, id),
            None => Ok(None),
        }
    }
}

/// Assigns or unassigns a conversation, and records the event.
pub fn assign(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    to: Option<&Assignee>,
) -> Result<()> {
    let act = match to.map(|to| &to.id) {
        None | Some(MemberId::User(_)) => ConversationAct::HandOver,
        Some(MemberId::Agent(_)) => ConversationAct::Change,
    };
    admit_change(tx, cx, conversation, act)?;
    let from = conversation.assignee_named(tx, cx.actor.ws)?;
    let id = to.map_or("", |to| to.id.as_str());
    tx.exec_soon(
        "UPDATE conversations SET assignee = ?3, assigned_by_rule = ?4 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &id, &matches!(cx.actor.who, Principal::Rule { .. })],
    )?;
    handed_over::end(tx, cx, &conversation.id, conversation.handed_over_at)?;
    let assigned = TimelineEvent::Assigned { from, to: to.cloned() };
    timeline::record(tx, cx, &conversation.id, &assigned)?;
    facts::note_assigned(tx, cx, conversation.notice_place(), to.map(|to| &to.id))?;
    let event = ConversationAssigned {
        conversation_id: &conversation.id,
        assignee: to,
        assigned_by: EventActor::of(cx.actor),
    };
    events::record(tx, cx, &conversation.circle, &event)
}

/// Moves a conversation to a status and ends a snooze. Setting the status it has changes nothing.
pub fn set_status(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Status,
) -> Result<()> {
    let from = conversation.status;
    if from == to {
        return Ok(());
    }
    admit_change(tx, cx, conversation, ConversationAct::Change)?;
    views::put_in_view(tx, cx, conversation, to, None)?;
    handed_over::end(tx, cx, &conversation.id, conversation.handed_over_at)?;
    if from == Status::Closed {
        note_reopened(tx, cx, conversation)?;
    }
    if to == Status::Closed && !conversation.held {
        let (place, opened_at) = (conversation.report_place(), conversation.opened_at());
        report_facts::count_closing(tx, cx, &place, opened_at, cx.now, 1)?;
        targets::note_closing(tx, cx, &conversation.id)?;
        satisfaction::plan_question(tx, cx, &conversation.id, &conversation.mailbox)?;
    }
    if to == Status::Closed && conversation.held {
        end_hold(tx, cx, conversation)?;
        targets::refresh(tx, cx, &conversation.id)?;
    }
    timeline::record(tx, cx, &conversation.id, &TimelineEvent::StatusChanged { from, to })?;
    announce_turn(tx, cx, conversation)
}

fn note_reopened(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET reopened_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &cx.now],
    )?;
    conversation.reopened_at = Some(cx.now);
    targets::refresh(tx, cx, &conversation.id)
}

/// Moves a conversation of the past to a status, without an event or an entry in its timeline.
pub fn settle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    to: Status,
) -> Result<()> {
    if conversation.status != to {
        views::put_in_view(tx, cx, conversation, to, conversation.snoozed_until)?;
    }
    let turn = conversation.turn();
    if conversation.announced_turn == Some(turn) {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE conversations SET announced_turn = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &turn],
    )?;
    conversation.announced_turn = Some(turn);
    Ok(())
}

/// Tells that a conversation began, and counts it.
pub fn announce_beginning(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    // What was fetched late began when its mail arrived.
    let at = conversation.created_at.min(conversation.last_message_at);
    let place = &conversation.report_place();
    report_facts::count(tx, cx, place, ReportMeasure::Begun, "", at, 1)?;
    let event = ConversationCreated {
        conversation_id: &conversation.id,
        mailbox_id: &conversation.mailbox,
    };
    events::record(tx, cx, &conversation.circle, &event)
}

/// Tells whose turn it has become, if that is news.
pub fn announce_turn(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    let (turn, previous) = (conversation.turn(), conversation.announced_turn);
    if previous == Some(turn) {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE conversations SET announced_turn = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &turn],
    )?;
    conversation.announced_turn = Some(turn);
    let assignee = conversation.assignee_named(tx, cx.actor.ws)?;
    let event = TurnChanged {
        conversation_id: &conversation.id,
        turn,
        previous,
        assignee: assignee.as_ref(),
    };
    events::record(tx, cx, &conversation.circle, &event)
}

/// Ends a hold. The withheld events are recorded by `release`; closing drops them.
pub fn end_hold(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    if !conversation.held {
        return Ok(());
    }
    conversation.held = false;
    tx.exec_soon(
        "UPDATE conversations SET held = FALSE WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    tx.exec_soon(
        "UPDATE messages SET withheld = NULL
         WHERE ws = ?1 AND conversation = ?2 AND withheld IS NOT NULL",
        &[&cx.actor.ws, &conversation.id],
    )?;
    Ok(())
}

/// Takes the warning of the scam check off.
pub fn clear_risk(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &mut Conversation) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET risk = NULL, risk_reasons = '[]' WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    conversation.risk = None;
    timeline::record(tx, cx, &conversation.id, &TimelineEvent::WarningRemoved {})
}

/// Puts an open conversation away until a time.
pub fn snooze(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    until: i64,
) -> Result<()> {
    if until <= cx.now {
        return Err(Error::invalid("until", "must be in the future"));
    }
    if conversation.status != Status::Open {
        return Err(Error::invalid("status", "only an open conversation can be snoozed"));
    }
    admit_change(tx, cx, conversation, ConversationAct::Change)?;
    views::put_in_view(tx, cx, conversation, Status::Open, Some(until))?;
    tx.wake(Queue::Snoozes);
    let snoozed = TimelineEvent::Snoozed { until: Moment(until) };
    timeline::record(tx, cx, &conversation.id, &snoozed)
}

/// Ends a snooze, if there is one; `by` says what ended it.
pub fn wake(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    by: WokenBy,
) -> Result<()> {
    if conversation.snoozed_until.is_none() {
        return Ok(());
    }
    views::put_in_view(tx, cx, conversation, conversation.status, None)?;
    timeline::record(tx, cx, &conversation.id, &TimelineEvent::Woken { by })
}

/// Leads the id of a conversation to another one, or back to itself, without an entry in its timeline.
/// What waits for a time in it waits no longer.
pub fn set_merged(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    into: Option<&ConversationId>,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET merged_into = ?3, sorts_at = NULL, answer_due_at = NULL,
             resolve_due_at = NULL, target_due_at = NULL, satisfaction_due_at = NULL
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &into],
    )?;
    conversation.merged_into = into.cloned();
    views::put_in_view(tx, cx, conversation, conversation.status, None)
}

/// Sets since when the customer waits.
pub fn wait_since(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    since: Option<i64>,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET waiting_since = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &since],
    )?;
    conversation.waiting_since = since;
    Ok(())
}

/// Sets a status and a snooze as they were before, and records what changed.
pub fn put_back(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    status: Status,
    snoozed_until: Option<i64>,
) -> Result<()> {
    let from = conversation.status;
    let snoozed_until = snoozed_until.filter(|until| *until > cx.now);
    views::put_in_view(tx, cx, conversation, status, snoozed_until)?;
    if let Some(until) = snoozed_until {
        tx.wake(Queue::Snoozes);
        let snoozed = TimelineEvent::Snoozed { until: Moment(until) };
        timeline::record(tx, cx, &conversation.id, &snoozed)?;
    }
    if from != status {
        let changed = TimelineEvent::StatusChanged { from, to: status };
        timeline::record(tx, cx, &conversation.id, &changed)?;
    }
    announce_turn(tx, cx, conversation)
}

/// Writes down whether a draft of the conversation waits for a person.
pub fn note_drafts(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET has_draft = EXISTS (
             SELECT 1 FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.status = 'draft'
               AND m.discarded_at IS NULL
         )
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    Ok(())
}

/// Resets read marks at or after a time, because a mail of that time has been fetched only now.
pub fn mark_unread(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId, at: i64) -> Result<()> {
    tx.exec_soon(
        "DELETE FROM read_marks
         WHERE ws = ?1 AND person IN (SELECT id FROM users WHERE ws = ?1)
           AND conversation = ?2 AND read_at >= ?3",
        &[&cx.actor.ws, id, &at],
    )?;
    Ok(())
}

/// The number that the next message of a conversation gets.
pub fn next_serial(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<i64> {
    let (next,): (i64,) = tx.one(
        "UPDATE conversations SET next_serial = next_serial + 1
         WHERE ws = ?1 AND id = ?2 RETURNING next_serial",
        &[&ws, id],
    )?;
    Ok(next - 1)
}

/// The base subject that threading compares.
pub fn base_subject(subject: &str) -> String {
    mail::base_subject(subject).chars().take(BASE_SUBJECT_CHARS).collect()
}
