//! Reads the calendar part of a mail: what somebody invites to, or what an attendee answers.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::busy::{Clocks, EventMoment};
use crate::civil::{DAY_SECONDS, date_time_of};
use crate::ics::value::WrittenTime;
use crate::ics::{
    CalendarEvent, CalendarPerson, EventDetail, EventStatus, EventTime, FeedError, ParsedCalendar,
    read,
};
use crate::limits::SHOWN_EVENTS;
use crate::rule::RecurrencePattern;

/// What the sender wants (RFC 5546 1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InvitationMethod {
    Request,
    Cancel,
    Reply,
    /// An attendee proposes another time.
    Counter,
    /// To be known, not to be answered; also where no method is given.
    Publish,
    Other,
}

/// A time as the calendar has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InvitedTime {
    /// A whole day. An end is the last day, not the one after it.
    Day(Date),
    /// The same on every clock.
    Floating(DateTime),
    Instant {
        instant: Timestamp,
        local: DateTime,
        /// The IANA name; `None` for a zone that only the calendar itself describes.
        zone: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvitedEvent {
    pub uid: String,
    pub sequence: i64,
    pub summary: Option<String>,
    pub description: Option<String>,
    pub location: Option<String>,
    pub url: Option<String>,
    pub start: InvitedTime,
    pub end: Option<InvitedTime>,
    pub recurrence: Option<EventRecurrence>,
    /// The one occurrence of a series that this is about.
    pub occurrence: Option<InvitedTime>,
    pub organizer: Option<CalendarPerson>,
    pub attendees: Vec<CalendarPerson>,
    pub is_cancelled: bool,
    pub is_tentative: bool,
}

/// How an event repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventRecurrence {
    pub patterns: Vec<RecurrencePattern>,
    /// Dates beside those of the patterns, and dates that are left out.
    pub more_dates: usize,
    pub excluded_dates: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CalendarInvitation {
    pub method: InvitationMethod,
    /// The series before its single occurrences.
    pub events: Vec<InvitedEvent>,
    /// Events that are not among these, because there are too many.
    pub more: usize,
}

/// An attendee's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CalendarReply {
    pub uid: String,
    pub sequence: i64,
    /// The one occurrence of a series that is answered.
    pub occurrence: Option<InvitedTime>,
    /// Who answered what: one, unless the sender's program is odd.
    pub attendees: Vec<CalendarPerson>,
    pub comment: Option<String>,
}

/// What a mail's calendar part says, for people to see.
pub fn read_invitation(bytes: &[u8]) -> Result<CalendarInvitation, FeedError> {
    let calendar = read(bytes, EventDetail::Everything)?;
    let method = method(&calendar);
    let clocks = Clocks::new(&calendar, &TimeZone::UTC);
    let mut events: Vec<&CalendarEvent> = calendar.events.iter().collect();
    events.sort_by_key(|event| event.recurrence_id.is_some());
    let invited = |event: &CalendarEvent| invited_event(event, &calendar, &clocks, method);
    Ok(CalendarInvitation {
        method,
        events: events.iter().take(SHOWN_EVENTS).map(|event| invited(event)).collect(),
        more: events.len().saturating_sub(SHOWN_EVENTS),
    })
}

/// The answers of a mail's calendar part; none if it is not a reply.
pub fn read_reply(bytes: &[u8]) -> Result<Vec<CalendarReply>, FeedError> {
    let calendar = read(bytes, EventDetail::Everything)?;
    if method(&calendar) != InvitationMethod::Reply {
        return Ok(Vec::new());
    }
    let clocks = Clocks::new(&calendar, &TimeZone::UTC);
    let reply = |event: &CalendarEvent| CalendarReply {
        uid: event.uid.clone(),
        sequence: event.sequence,
        occurrence: event.recurrence_id.map(|time| invited_time(time, &calendar, &clocks)),
        attendees: event.attendees.clone(),
        comment: event.comment.clone(),
    };
    Ok(calendar.events.iter().take(SHOWN_EVENTS).map(reply).collect())
}

fn method(calendar: &ParsedCalendar) -> InvitationMethod {
    match calendar.method.as_deref() {
        Some("REQUEST") => InvitationMethod::Request,
        Some("CANCEL") => InvitationMethod::Cancel,
        Some("REPLY") => InvitationMethod::Reply,
        Some("COUNTER") => InvitationMethod::Counter,
        Some("PUBLISH") | None => InvitationMethod::Publish,
        Some(_) => InvitationMethod::Other,
    }
}

fn invited_event(
    event: &CalendarEvent,
    calendar: &ParsedCalendar,
    clocks: &Clocks<'_>,
    method: InvitationMethod,
) -> InvitedEvent {
    InvitedEvent {
        uid: event.uid.clone(),
        sequence: event.sequence,
        summary: event.summary.clone(),
        description: event.description.clone(),
        location: event.location.clone(),
        url: event.url.clone(),
        start: invited_time(event.start, calendar, clocks),
        end: end(event, calendar, clocks),
        recurrence: recurrence(event),
        occurrence: event.recurrence_id.map(|time| invited_time(time, calendar, clocks)),
        organizer: event.organizer.clone(),
        attendees: event.attendees.clone(),
        is_cancelled: event.status == EventStatus::Cancelled || method == InvitationMethod::Cancel,
        is_tentative: event.status == EventStatus::Tentative,
    }
}

fn invited_time(time: EventTime, calendar: &ParsedCalendar, clocks: &Clocks<'_>) -> InvitedTime {
    let moment = clocks.moment(time);
    invited_moment(moment, moment.instant(), is_floating(time, calendar))
}

/// The end on the start's clock, so that both are shown in one zone.
fn end(
    event: &CalendarEvent,
    calendar: &ParsedCalendar,
    clocks: &Clocks<'_>,
) -> Option<InvitedTime> {
    let start = clocks.moment(event.start);
    if start.is_day {
        let days = clocks.length_of(event).seconds().div_euclid(DAY_SECONDS).max(1);
        return Some(InvitedTime::Day(date_time_of(start.civil + (days - 1) * DAY_SECONDS).date()));
    }
    event.end?;
    let end = start.range(clocks.length_of(event)).end;
    Some(invited_moment(start, end, is_floating(event.start, calendar)))
}

fn invited_moment(clock_of: EventMoment<'_>, instant: Timestamp, is_floating: bool) -> InvitedTime {
    let local = clock_of.clock.civil(instant);
    match (clock_of.is_day, is_floating) {
        (true, _) => InvitedTime::Day(clock_of.date_time().date()),
        (false, true) => InvitedTime::Floating(local),
        (false, false) => {
            let zone = clock_of.clock.name().map(str::to_owned);
            InvitedTime::Instant { instant, local, zone }
        }
    }
}

fn is_floating(time: EventTime, calendar: &ParsedCalendar) -> bool {
    let has_zone = || time.zone.is_some_and(|at| calendar.zones[at].is_some());
    matches!(time.time, WrittenTime::Local(_)) && calendar.floating_zone.is_none() && !has_zone()
}

fn recurrence(event: &CalendarEvent) -> Option<EventRecurrence> {
    let date = event.start.written_date();
    let recurrence = EventRecurrence {
        patterns: event.rules.iter().map(|rule| rule.describe(date)).collect(),
        more_dates: event.dates.len(),
        excluded_dates: event.excluded.len(),
    };
    let repeats = !recurrence.patterns.is_empty() || recurrence.more_dates > 0;
    repeats.then_some(recurrence)
}
