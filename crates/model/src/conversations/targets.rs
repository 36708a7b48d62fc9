//! Response targets: until when the first answer is to leave and a conversation to be closed, counted in
//! the office hours of its inbox.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, MailboxId, MemberId};
use base::limits::{DAY_MS, MINUTE_MS};
use base::states::{Removal, Status, Urgency};
use base::time::Moment;
use db::Tx;

use crate::conversations::timeline::{self, TargetKind, TimelineEvent};
use crate::figures::report_facts::{self, ReportMeasure, ReportPlace};
use crate::mailboxes::office_hours::{self, OfficeHours};
use crate::people::notifications::facts::{self, NoticeKind, NoticePlace};
use crate::webhooks::events::{self, TargetMissed};

/// Mail that is filed later than this has no target: somebody dealt with it elsewhere.
const RECENT_MS: i64 = DAY_MS;

db::row! {
    /// What the targets of a conversation depend on.
    struct TargetCase from "conversations" {
        id: ConversationId,
        circle: Circle,
        mailbox: MailboxId,
        status: Status,
        held: bool,
        removed: Option<Removal>,
        urgency: Option<Urgency>,
        created_at: i64,
        reopened_at: Option<i64>,
        waiting_since: Option<i64>,
        first_answered_at: Option<i64>,
        answer_due_at: Option<i64>,
        resolve_due_at: Option<i64>,
        answer_missed: bool,
        resolve_missed: bool,
        assignee: Option<MemberId> = "nullif(conversations.assignee, '')",
    }
}

/// Sets the targets of a conversation anew, after mail came in or its urgency or status changed.
pub fn refresh(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<()> {
    refresh_case(tx, cx, id).map(drop)
}

/// The same; returns what the targets depend on, and the targets.
fn refresh_case(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<TargetCase> {
    let mut case = load(tx, cx, id)?;
    let hours = office_hours::of(tx, cx.actor.ws, &case.mailbox)?;
    let had = case.answer_due_at.is_some() || case.resolve_due_at.is_some();
    if hours.is_none() && !had {
        return Ok(case);
    }
    if case.status == Status::Closed && answer_leaves(tx, cx, id)? {
        return Ok(case);
    }
    let hours = if is_asked(tx, cx, &case)? { hours } else { None };
    case.aim(hours.as_ref());
    save(tx, cx, &case)?;
    Ok(case)
}

/// True where a person of the other side wrote, and not long before the conversation was filed.
fn is_asked(tx: &mut Tx<'_>, cx: &Cx<'_>, case: &TargetCase) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT serial FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND NOT auto_reply
           AND counted_at > ?3
         LIMIT 1",
        &[&cx.actor.ws, &case.id, &(case.created_at - RECENT_MS)],
    )?;
    Ok(found.is_some())
}

/// True while an answer is on its way: it was sent and the conversation closed in one go, and until it
/// has left, its target runs on.
fn answer_leaves(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT serial FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'outbound' AND NOT automatic
           AND status IN ('scheduled', 'sending')
         LIMIT 1",
        &[&cx.actor.ws, id],
    )?;
    Ok(found.is_some())
}

/// Notes that the first answer left: the target was kept, or missed a moment ago.
pub fn note_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId, at: i64) -> Result<()> {
    let mut case = load(tx, cx, id)?;
    let Some(due) = case.answer_due_at.take() else { return Ok(()) };
    if !case.answer_missed {
        settle(tx, cx, &case, TargetKind::Answer, due, at)?;
    }
    save(tx, cx, &case)
}

/// The same for closing.
pub fn note_closing(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<()> {
    let mut case = load(tx, cx, id)?;
    let due = case.resolve_due_at.take();
    let had_answer = case.answer_due_at.is_some();
    if had_answer && !answer_leaves(tx, cx, id)? {
        case.answer_due_at = None;
    }
    if let (Some(due), false) = (due, case.resolve_missed) {
        settle(tx, cx, &case, TargetKind::Close, due, cx.now)?;
    }
    case.resolve_missed = false;
    if due.is_some() || had_answer { save(tx, cx, &case) } else { Ok(()) }
}

/// Sets the targets as they were before a closing that somebody undoes: what it counted as kept is not,
/// and what was missed by then is not missed twice.
pub fn put_back(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId, closed_at: i64) -> Result<()> {
    let mut case = refresh_case(tx, cx, id)?;
    let Some(due) = case.resolve_due_at else { return Ok(()) };
    if closed_at <= due {
        let place = &ReportPlace { circle: &case.circle, mailbox: &case.mailbox };
        let (measure, target) = (ReportMeasure::TargetKept, TargetKind::Close.as_str());
        return report_facts::count(tx, cx, place, measure, target, closed_at, -1);
    }
    case.resolve_missed = true;
    save(tx, cx, &case)
}

/// Records what is missed by now. Nothing is missed while mail is held, nor once it is closed and no
/// answer is on its way any more.
pub fn miss(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<()> {
    let mut case = load(tx, cx, id)?;
    if case.status != Status::Closed || !answer_leaves(tx, cx, id)? {
        // Hours and targets may have changed since.
        let hours = office_hours::of(tx, cx.actor.ws, &case.mailbox)?;
        case.aim(hours.as_ref());
    }
    if let Some(due) = case.answer_due_at.filter(|due| !case.answer_missed && *due <= cx.now) {
        settle(tx, cx, &case, TargetKind::Answer, due, cx.now + 1)?;
        case.answer_missed = true;
    }
    if let Some(due) = case.resolve_due_at.filter(|due| !case.resolve_missed && *due <= cx.now) {
        settle(tx, cx, &case, TargetKind::Close, due, cx.now + 1)?;
        case.resolve_missed = true;
    }
    save(tx, cx, &case)
}

impl TargetCase {
    fn aim(&mut self, hours: Option<&OfficeHours>) {
        let is_urgent = self.urgency == Some(Urgency::High);
        let minutes = |usual: Option<i64>, urgent: Option<i64>| match is_urgent {
            true => urgent.or(usual),
            false => usual,
        };
        let due = |from: i64, minutes: i64| hours?.after(from, minutes * MINUTE_MS);
        let answer = hours.and_then(|hours| minutes(hours.answer_minutes, hours.answer_urgent));
        let resolve = hours.and_then(|hours| minutes(hours.resolve_minutes, hours.resolve_urgent));
        let is_open = self.status != Status::Closed && !self.held && self.removed.is_none();
        let asked_at = self.waiting_since.filter(|_| is_open && self.first_answered_at.is_none());
        let opened_at = is_open.then_some(self.reopened_at.unwrap_or(self.created_at));
        self.answer_due_at = asked_at.zip(answer).and_then(|(from, minutes)| due(from, minutes));
        self.resolve_due_at = opened_at.zip(resolve).and_then(|(from, minutes)| due(from, minutes));
    }

    /// When the next target is missed.
    fn next_due(&self) -> Option<i64> {
        let answer = self.answer_due_at.filter(|_| !self.answer_missed);
        let resolve = self.resolve_due_at.filter(|_| !self.resolve_missed);
        [answer, resolve].into_iter().flatten().min()
    }
}

fn load(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<TargetCase> {
    Ok(tx.one(
        &format!("SELECT {} FROM conversations WHERE ws = ?1 AND id = ?2", TargetCase::COLUMNS),
        &[&cx.actor.ws, id],
    )?)
}

fn save(tx: &mut Tx<'_>, cx: &Cx<'_>, case: &TargetCase) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET answer_due_at = ?3, resolve_due_at = ?4, answer_missed = ?5,
             resolve_missed = ?6, target_due_at = ?7
         WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            &case.id,
            &case.answer_due_at,
            &case.resolve_due_at,
            &case.answer_missed,
            &case.resolve_missed,
            &case.next_due(),
        ],
    )?;
    tx.wake(Queue::Targets);
    Ok(())
}

/// Counts a target as kept or missed; a missed one stands in the timeline.
fn settle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    case: &TargetCase,
    target: TargetKind,
    due: i64,
    at: i64,
) -> Result<()> {
    let place = &ReportPlace { circle: &case.circle, mailbox: &case.mailbox };
    if at <= due {
        let measure = ReportMeasure::TargetKept;
        return report_facts::count(tx, cx, place, measure, target.as_str(), at, 1);
    }
    report_facts::count(tx, cx, place, ReportMeasure::TargetMissed, target.as_str(), due, 1)?;
    let place =
        NoticePlace { conversation: &case.id, mailbox: &case.mailbox, circle: &case.circle };
    facts::note_for_team(tx, cx, place, NoticeKind::TargetMissed, case.assignee.as_ref())?;
    let missed = TimelineEvent::TargetMissed { target, due: Moment(due) };
    timeline::record(tx, cx, &case.id, &missed)?;
    let event = TargetMissed { conversation_id: &case.id, target };
    events::record(tx, cx, &case.circle, &event)
}
