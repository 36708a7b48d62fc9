//! What waits, is tried again, is held or has failed: the operator and the owners of a workspace look at
//! it, hold it, release it, have it tried again and discard it.

mod deliveries;
mod failed_jobs;
mod figures;
mod messages;
mod queue_cursor;

use base::actor::{Actor, Circle, Circles, Principal};
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::WorkspaceId;
use base::limits::DAY_MS;
use base::string_enum::string_enum;
use base::time::Moment;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::installation::installation;
use model::messages::send_failure::SendFailure;
use serde::Serialize;

use queue_cursor::QueueCursor;

pub use figures::{QueueFigures, queue_figures};

/// Items of one page, at the most and usually.
pub const QUEUE_PAGE_MOST: i64 = 500;
pub const QUEUE_PAGE: i64 = 50;
/// What failed longer ago is not listed.
const LISTED_MS: i64 = 30 * DAY_MS;
/// Items in inboxes that the reader does not see are counted up to this.
const COUNTED: i64 = 1_000;
/// The name of whoever holds something at the command line.
const OPERATOR: &str = "The operator";

string_enum! {
    /// A kind of things that wait.
    QueueKind { Messages = "messages", Webhooks = "webhooks", Jobs = "jobs" }
}

string_enum! {
    /// How far a thing in a queue is.
    QueueState {
        Waiting = "waiting",
        Retrying = "retrying",
        Sending = "sending",
        Held = "held",
        Failed = "failed",
        GivenUp = "given-up",
    }
}

string_enum! {
    /// What somebody does with a thing in a queue.
    QueueAct { Hold = "hold", Release = "release", Retry = "retry", Discard = "discard" }
}

string_enum! {
    /// Why a thing waits, or does not any more.
    WaitReason {
        Held = "held",
        BeingSent = "being-sent",
        Quiet = "quiet",
        NoServer = "no-server",
        ServerFailing = "server-failing",
        WebhookPaused = "webhook-paused",
        WebhookOff = "webhook-off",
        Scheduled = "scheduled",
        Deferred = "deferred",
        Due = "due",
        Failed = "failed",
        GivenUp = "given-up",
    }
}

/// One thing in a queue.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueItem {
    pub kind: QueueKind,
    /// What the commands and forms name it by.
    pub id: String,
    /// The slug of its workspace.
    pub workspace: String,
    pub state: QueueState,
    pub wait_reason: WaitReason,
    /// The recipients, the webhook's address, or the name of the queue.
    pub target: String,
    pub attempts: i64,
    /// When it came into the queue, or failed.
    pub since: Moment,
    pub next_attempt_at: Option<Moment>,
    pub held_at: Option<Moment>,
    pub held_by: Option<String>,
    /// Why the last attempt came to nothing.
    pub last_outcome: Option<SendFailure>,
    /// The conversation of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The type of a webhook's event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    #[serde(skip)]
    pub subject: Option<String>,
    #[serde(skip)]
    circle: Circle,
    #[serde(skip)]
    ws: i64,
}

/// Which things are listed.
#[derive(Clone, Debug, Default)]
pub struct QueueFilter {
    /// A workspace by its number; all without it.
    pub ws: Option<i64>,
    pub kind: Option<QueueKind>,
    pub state: Option<QueueState>,
    /// How many at the most; [`QUEUE_PAGE`] without it.
    pub limit: Option<i64>,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// A page of what waits.
#[derive(Debug, Serialize)]
pub struct QueuePage {
    pub items: Vec<QueueItem>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// What several parts of a list need to know.
struct QueueContext<'a> {
    now: i64,
    /// Nothing leaves at present.
    quiet: bool,
    has_relay: bool,
    ws: Option<i64>,
    /// The reader's circles; `None` for the operator, who sees all.
    circles: Option<&'a Circles>,
    state: Option<QueueState>,
}

/// The parts of the list, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueSection {
    MessagesHeld,
    MessagesOpen,
    MessagesFailed,
    DeliveriesHeld,
    DeliveriesOpen,
    DeliveriesFailed,
    JobsOpen,
    JobsGivenUp,
}

const SECTIONS: [QueueSection; 8] = [
    QueueSection::MessagesHeld,
    QueueSection::MessagesOpen,
    QueueSection::MessagesFailed,
    QueueSection::DeliveriesHeld,
    QueueSection::DeliveriesOpen,
    QueueSection::DeliveriesFailed,
    QueueSection::JobsOpen,
    QueueSection::JobsGivenUp,
];

impl QueueSection {
    fn kind(self) -> QueueKind {
        use QueueSection::*;
        match self {
            MessagesHeld | MessagesOpen | MessagesFailed => QueueKind::Messages,
            DeliveriesHeld | DeliveriesOpen | DeliveriesFailed => QueueKind::Webhooks,
            JobsOpen | JobsGivenUp => QueueKind::Jobs,
        }
    }

    fn may_have(self, state: QueueState) -> bool {
        use QueueSection::*;
        match state {
            QueueState::Waiting | QueueState::Sending => {
                matches!(self, MessagesOpen | DeliveriesOpen)
            }
            QueueState::Retrying => matches!(self, MessagesOpen | DeliveriesOpen | JobsOpen),
            QueueState::Held => matches!(self, MessagesHeld | DeliveriesHeld | JobsOpen),
            QueueState::Failed => matches!(self, MessagesFailed | DeliveriesFailed),
            QueueState::GivenUp => self == JobsGivenUp,
        }
    }

    /// At most `most` items after this key, each with its own.
    fn items(
        self,
        tx: &mut Tx<'_>,
        context: &QueueContext<'_>,
        after: Option<&[String]>,
        most: i64,
    ) -> Result<Vec<(Vec<String>, QueueItem)>> {
        use QueueSection::*;
        match self {
            MessagesHeld => messages::list_held(tx, context, after, most),
            MessagesOpen => messages::list_open(tx, context, after, most),
            MessagesFailed => messages::list_failed(tx, context, after, most),
            DeliveriesHeld => deliveries::list_held(tx, context, after, most),
            DeliveriesOpen => deliveries::list_open(tx, context, after, most),
            DeliveriesFailed => deliveries::list_failed(tx, context, after, most),
            JobsOpen => failed_jobs::list_open(tx, context, after, most),
            JobsGivenUp => failed_jobs::list_given_up(tx, context, after, most),
        }
    }
}

/// A page of what waits, for the operator.
pub fn list_queues(tx: &mut Tx<'_>, app: &App, filter: &QueueFilter) -> Result<QueuePage> {
    let context = QueueContext {
        now: app.clock.now(),
        quiet: installation(tx)?.quiet().is_some(),
        has_relay: app.has_relay,
        ws: filter.ws,
        circles: None,
        state: filter.state,
    };
    list(tx, &context, filter)
}

/// A page of what waits in the actor's workspace and inboxes that they see.
pub fn list_own_queues(tx: &mut Tx<'_>, cx: &Cx<'_>, filter: &QueueFilter) -> Result<QueuePage> {
    cx.actor.must_administer()?;
    let context = own_context(tx, cx, filter.state)?;
    list(tx, &context, filter)
}

/// How many messages and deliveries wait, are held or failed in inboxes that the actor does not see,
/// counted up to a thousand.
pub fn count_unseen(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<i64> {
    cx.actor.must_administer()?;
    let found = messages::count_unseen(tx, cx)? + deliveries::count_unseen(tx, cx)?;
    Ok(found.min(COUNTED))
}

fn own_context<'a>(
    tx: &mut Tx<'_>,
    cx: &Cx<'a>,
    state: Option<QueueState>,
) -> Result<QueueContext<'a>> {
    let is_person = matches!(cx.actor.who, Principal::Person { .. });
    Ok(QueueContext {
        now: cx.now,
        quiet: installation(tx)?.quiet().is_some(),
        has_relay: cx.has_relay,
        ws: Some(cx.actor.ws),
        circles: is_person.then_some(&cx.actor.circles),
        state,
    })
}

fn list(tx: &mut Tx<'_>, context: &QueueContext<'_>, filter: &QueueFilter) -> Result<QueuePage> {
    let limit = filter.limit.unwrap_or(QUEUE_PAGE);
    if !(1..=QUEUE_PAGE_MOST).contains(&limit) {
        let sentence = format!("must be a number from 1 to {QUEUE_PAGE_MOST}");
        return Err(Error::invalid("limit", sentence));
    }
    let cursor = match &filter.cursor {
        Some(cursor) => Some(QueueCursor::parse(cursor)?),
        None => None,
    };
    let mut found: Vec<(QueueCursor, QueueItem)> = Vec::new();
    for (number, section) in SECTIONS.into_iter().enumerate() {
        let after = cursor.as_ref().filter(|cursor| cursor.section == number);
        let is_past = cursor.as_ref().is_some_and(|cursor| cursor.section > number);
        let is_asked = filter.kind.is_none_or(|kind| kind == section.kind())
            && filter.state.is_none_or(|state| section.may_have(state));
        if is_past || !is_asked {
            continue;
        }
        // One more than the page, which tells whether there is a next.
        let most = limit + 1 - found.len() as i64;
        if most <= 0 {
            break;
        }
        let after = after.map(|cursor| cursor.key.as_slice());
        let items = section.items(tx, context, after, most)?;
        let placed = |(key, item)| (QueueCursor { section: number, key }, item);
        found.extend(items.into_iter().map(placed));
    }
    let has_more = found.len() as i64 > limit;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| has_more).map(|(cursor, _)| cursor.to_string());
    Ok(QueuePage { items: found.into_iter().map(|(_, item)| item).collect(), next })
}

/// One thing and what is known of it beside, for the operator.
pub fn show_queued(
    tx: &mut Tx<'_>,
    app: &App,
    ws: Option<i64>,
    id: &str,
) -> Result<(QueueItem, serde_json::Value)> {
    let actor = operator_of(tx, ws, id)?;
    let cx = app.cx(&actor);
    let item = find(tx, &cx, id)?;
    let details = match item.kind {
        QueueKind::Messages => messages::details(tx, &item)?,
        QueueKind::Webhooks => deliveries::details(tx, &item)?,
        QueueKind::Jobs => failed_jobs::details(tx, &item)?,
    };
    Ok((item, details))
}

/// Does something with a thing, for the operator, in whichever workspace it is.
pub fn operate_queue(
    tx: &mut Tx<'_>,
    app: &App,
    ws: Option<i64>,
    id: &str,
    act: QueueAct,
) -> Result<QueueItem> {
    let actor = operator_of(tx, ws, id)?;
    change_queue(tx, &app.cx(&actor), id, act)
}

/// Does something with a thing of the actor's workspace, and writes it into the audit log.
pub fn change_queue(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, act: QueueAct) -> Result<QueueItem> {
    cx.actor.must_administer()?;
    let item = find(tx, cx, id)?;
    // Whoever may see the thing acts as its circle does, so that its conversation is found.
    let seeing = Actor { circles: Circles::only(item.circle.clone()), ..cx.actor.clone() };
    let cx = &Cx { actor: &seeing, ..*cx };
    let by = match cx.actor.who {
        Principal::System => OPERATOR,
        _ => cx.actor.name(),
    };
    match item.kind {
        QueueKind::Messages => messages::change(tx, cx, &item, act, by)?,
        QueueKind::Webhooks => deliveries::change(tx, cx, &item, act, by)?,
        QueueKind::Jobs => failed_jobs::change(tx, cx, &item, act, by)?,
    }
    let action = match act {
        QueueAct::Hold => Action::QueueHeld,
        QueueAct::Release => Action::QueueReleased,
        QueueAct::Retry => Action::QueueRetried,
        QueueAct::Discard => Action::QueueDiscarded,
    };
    audit_log::record(tx, cx, &item.circle, action, id, &item.target)?;
    match find(tx, cx, id) {
        // What was discarded or is done at once is told as it was.
        Err(Error::NotFound(_)) => Ok(item),
        found => found,
    }
}

/// A thing by the id that lists show.
fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<QueueItem> {
    let context = own_context(tx, cx, None)?;
    let found = match id.split_once('_') {
        Some(("msg", _)) => messages::find(tx, &context, id)?,
        Some(("whk", _)) => deliveries::find(tx, &context, id)?,
        Some(("job", _)) => failed_jobs::find(tx, &context, id)?,
        _ => None,
    };
    found.ok_or(Error::NotFound("message, webhook delivery or job in the queues"))
}

/// The operator as an actor in the workspace that has the thing.
fn operator_of(tx: &mut Tx<'_>, ws: Option<i64>, id: &str) -> Result<Actor> {
    let known: Vec<(i64, WorkspaceId)> =
        tx.all("SELECT ws, id FROM workspaces ORDER BY ws", &[])?;
    for (number, workspace) in known {
        if ws.is_some_and(|ws| ws != number) {
            continue;
        }
        let has_it = match id.split_once('_') {
            Some(("msg", _)) => messages::is_here(tx, number, id)?,
            Some(("whk", _)) => deliveries::is_here(tx, number, id)?,
            Some(("job", _)) => failed_jobs::is_here(tx, number, id)?,
            _ => false,
        };
        if has_it {
            return Ok(Actor::system(number, workspace, Circle::team()));
        }
    }
    Err(Error::NotFound("message, webhook delivery or job in the queues"))
}

/// The refusal of something that a process is at work on.
fn under_way(thing: &str) -> Error {
    Error::Conflict(format!("{thing} is being sent at this moment. Try again in a minute."))
}
