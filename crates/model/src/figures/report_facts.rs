//! Facts: what reports count, written in the transaction of the change. Facts are only added, so that
//! concurrent changes never wait for one another; a job folds them into counters of quarter hours, days and months.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, EventId, MailboxId, RequestId, UserId};
use base::limits::{DAY_MS, MINUTE_MS};
use base::string_enum::string_enum;
use db::Tx;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::figures::report_histogram::bucket;
use crate::mailboxes::office_hours;

/// Facts wait this long, so that many are folded at once.
const FOLDED_AFTER_MS: i64 = 2_000;
/// The counters that are finest are of quarter hours, because no zone's clock is off by less.
pub const QUARTER_HOUR_MS: i64 = 15 * MINUTE_MS;
/// Quarter hours of a day.
pub const QUARTER_HOURS: i64 = DAY_MS / QUARTER_HOUR_MS;
/// The name under which the drafting helper is counted.
pub const HELPER_NAME: &str = "helper";

string_enum! {
    /// What is counted. The comment of each says what its `name` is.
    ReportMeasure {
        // An hour of the week in UTC, from 0 for Monday 00:00 to 167.
        Received = "received",
        // Who wrote it: a member, the helper, or nobody for what a rule drafted or left elsewhere.
        Sent = "sent",
        // None.
        Begun = "begun",
        // A tag, by the day on which the conversation began.
        Tagged = "tagged",
        // A topic, by the day on which the conversation began.
        Topic = "topic",
        // A span of the histogram.
        FirstAnswer = "first-answer",
        // A span of the histogram.
        TimeToClose = "time-to-close",
        // Who closed it; nobody for the service itself.
        Closed = "closed",
        // Who drafted it.
        DraftAsIs = "draft-as-is",
        DraftEdited = "draft-edited",
        DraftDiscarded = "draft-discarded",
        // `answer` or `close`.
        TargetKept = "target-kept",
        TargetMissed = "target-missed",
        // None.
        DocumentsAsked = "documents-asked",
        DocumentsReceived = "documents-received",
        // None.
        SatisfactionAsked = "satisfaction-asked",
        // The score that a customer gave, from 1 to 5, by the day of the first answer.
        Rated = "rated",
        // A topic or nothing, and the score.
        RatedTopic = "rated-topic",
        // Who answered (see `guests/answerer`), and the score.
        RatedAnswerer = "rated-answerer",
    }
}

/// Where something is counted: its inbox, and who may see it.
#[derive(Clone, Copy)]
pub struct ReportPlace<'a> {
    pub circle: &'a Circle,
    pub mailbox: &'a MailboxId,
}

/// Counts something at a time.
pub fn count(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &ReportPlace<'_>,
    measure: ReportMeasure,
    name: &str,
    at: i64,
    n: i64,
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let (day, quarter_hour) = (at.div_euclid(DAY_MS), at.rem_euclid(DAY_MS) / QUARTER_HOUR_MS);
    tx.exec_soon(
        "INSERT INTO report_facts (
             ws, id, circle, measure, day, mailbox, name, n, due_at, quarter_hour
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        &[
            &cx.actor.ws,
            &EventId::new(cx.ids, cx.now),
            place.circle,
            &measure,
            &day,
            place.mailbox,
            &name,
            &n,
            &(cx.now + FOLDED_AFTER_MS),
            &quarter_hour,
        ],
    )?;
    tx.wake(Queue::Reports);
    Ok(())
}

/// Counts a conversation with a tag or topic, by the day on which it began; or no longer, where `n` is
/// negative. What the backfill has still to count is left to it, or it would count twice.
pub fn count_label(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (place, conversation, began): (&ReportPlace<'_>, &ConversationId, i64),
    measure: ReportMeasure,
    name: &str,
    n: i64,
) -> Result<()> {
    let later: Option<(i64,)> = tx.opt(
        "SELECT c.num FROM report_backfill b
         JOIN conversations c ON c.num > b.num AND c.created_at < b.until AND NOT c.held
         WHERE b.name = 'history' AND c.ws = ?1 AND c.id = ?2",
        &[&cx.actor.ws, conversation],
    )?;
    match later {
        Some(_) => Ok(()),
        None => count(tx, cx, place, measure, name, began, n),
    }
}

/// Counts a mail that came in.
pub fn count_received(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &ReportPlace<'_>,
    at: i64,
) -> Result<()> {
    let time = civil(at);
    let hour = i64::from(time.weekday().to_monday_zero_offset()) * 24 + i64::from(time.hour());
    count(tx, cx, place, ReportMeasure::Received, &hour.to_string(), at, 1)
}

/// Counts a message that left, under its author's id.
pub fn count_sent(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &ReportPlace<'_>,
    author: &str,
    at: i64,
) -> Result<()> {
    count(tx, cx, place, ReportMeasure::Sent, author, at, 1)
}

/// Counts how long the customer waited for the first answer.
pub fn count_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &ReportPlace<'_>,
    waited_ms: i64,
    at: i64,
) -> Result<()> {
    count(tx, cx, place, ReportMeasure::FirstAnswer, &bucket(waited_ms).to_string(), at, 1)
}

/// Counts a conversation that is closed at a time, and how long it was open; with -1, one whose closing is undone
/// by whoever closed it.
pub fn count_closing(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &ReportPlace<'_>,
    opened_at: i64,
    at: i64,
    n: i64,
) -> Result<()> {
    let open_ms = office_hours::between(tx, cx.actor.ws, place.mailbox, opened_at, at)?;
    let name = bucket(open_ms).to_string();
    count(tx, cx, place, ReportMeasure::TimeToClose, &name, at, n)?;
    let by = cx.actor.member();
    let by = by.as_ref().map_or("", |by| by.as_str());
    count(tx, cx, place, ReportMeasure::Closed, by, at, n)
}

string_enum! {
    /// How a person approved the draft of an agent or the helper.
    DraftFate { AsIs = "as-is", Edited = "edited" }
}

/// Counts a draft that left as it was or edited, or with `None` one that was discarded. `author` is
/// an agent or the helper; what people write themselves and what rules draft is no draft here.
pub fn count_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &ReportPlace<'_>,
    author: Option<&str>,
    fate: Option<DraftFate>,
) -> Result<()> {
    match author {
        Some(author) => count_draft_of(tx, cx, place, author, fate, cx.now),
        None => Ok(()),
    }
}

pub fn count_draft_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &ReportPlace<'_>,
    author: &str,
    fate: Option<DraftFate>,
    at: i64,
) -> Result<()> {
    let measure = match fate {
        Some(DraftFate::AsIs) => ReportMeasure::DraftAsIs,
        Some(DraftFate::Edited) => ReportMeasure::DraftEdited,
        None => ReportMeasure::DraftDiscarded,
    };
    match author.starts_with(UserId::PREFIX) {
        true => Ok(()),
        false => count(tx, cx, place, measure, author, at, 1),
    }
}

/// How many documents a request asks for.
pub fn asked_for(tx: &mut Tx<'_>, ws: i64, request: &RequestId) -> Result<i64> {
    let (asked,): (i64,) = tx.one(
        "SELECT count(*) FROM requested_documents WHERE ws = ?1 AND request = ?2",
        &[&ws, request],
    )?;
    Ok(asked)
}

/// The time in UTC, by which counters go.
fn civil(at: i64) -> jiff::Zoned {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(TimeZone::UTC)
}

/// Days since 1970-01-01.
pub fn day_number(date: Date) -> i64 {
    let epoch = Date::constant(1970, 1, 1);
    i64::from(date.since((jiff::Unit::Day, epoch)).map_or(0, |span| span.get_days()))
}
