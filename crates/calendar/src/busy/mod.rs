//! Busy times of a calendar within a window: series expanded, changes and cancellations applied.

mod moment;
mod series;

use std::collections::HashMap;

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::ics::{CalendarEvent, EventDetail, EventStatus, FeedError, ParticipationStatus, read};
use crate::limits::{BUSY_DAYS, BUSY_INTERVALS};
use crate::range::TimeRange;
use crate::rule::ExpansionBudget;
pub(crate) use moment::{Clocks, EventMoment};
use series::Series;

/// Whose busy times are asked for, and when.
pub struct BusyQuery<'a> {
    pub window: TimeRange,
    /// The zone of all-day events, and of times without a zone where the calendar names none.
    pub host_zone: &'a TimeZone,
    /// An event that the host declined under one of these addresses is free.
    pub host_addresses: &'a [&'a str],
    /// Bookings of this installation that came back through the host's calendar are not busy a
    /// second time.
    pub is_own_uid: &'a dyn Fn(&str) -> bool,
}

/// A time that an event takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BusyInterval {
    #[serde(flatten)]
    pub range: TimeRange,
    pub uid: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusyTimes {
    /// In order of their starts; they may overlap.
    pub intervals: Vec<BusyInterval>,
    /// Events that have no start that can be read.
    pub skipped: usize,
}

/// The busy times of an ICS feed, or of the objects of a CalDAV calendar one after another.
///
/// Tentative events are busy; cancelled, transparent and declined ones are free, and so are events
/// without any length. A feed that ends in the middle is refused: what is missing would be offered.
pub fn busy_times(feed: &[u8], query: &BusyQuery<'_>) -> Result<BusyTimes, FeedError> {
    let longest = SignedDuration::from_hours(24 * BUSY_DAYS);
    if query.window.start.duration_until(query.window.end) > longest {
        return Err(FeedError::WindowTooLong);
    }
    let calendar = read(feed, EventDetail::Times)?;
    if !calendar.is_complete {
        return Err(FeedError::Truncated);
    }
    let clocks = Clocks::new(&calendar, query.host_zone);
    let is_free = |event: &CalendarEvent| is_free(event, query);
    let mut work = ExpansionBudget::new();
    let mut intervals = Vec::new();
    for events in by_uid(&calendar.events) {
        let uid = &events[0].uid;
        if (query.is_own_uid)(uid) {
            continue;
        }
        let series = Series::new(&events, &clocks, &is_free);
        let ranges = series.busy(query.window, &mut work).map_err(|_| FeedError::TooMuchWork)?;
        intervals.extend(ranges.into_iter().map(|range| BusyInterval { range, uid: uid.clone() }));
        if intervals.len() > BUSY_INTERVALS {
            return Err(FeedError::TooMuchWork);
        }
    }
    intervals.sort_by(|a, b| (a.range, &a.uid).cmp(&(b.range, &b.uid)));
    Ok(BusyTimes { intervals, skipped: calendar.skipped })
}

/// The versions and changes of each event. Events without a UID are each their own.
fn by_uid(events: &[CalendarEvent]) -> Vec<Vec<&CalendarEvent>> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<&CalendarEvent>> = Vec::new();
    for event in events {
        let next = groups.len();
        let at = match event.uid.as_str() {
            "" => next,
            uid => *places.entry(uid).or_insert(next),
        };
        if at == next {
            groups.push(Vec::new());
        }
        groups[at].push(event);
    }
    groups
}

fn is_free(event: &CalendarEvent, query: &BusyQuery<'_>) -> bool {
    let is_host = |email: &str| query.host_addresses.iter().any(|h| h.eq_ignore_ascii_case(email));
    event.is_transparent
        || event.status == EventStatus::Cancelled
        || event.attendees.iter().any(|attendee| {
            attendee.status == ParticipationStatus::Declined && is_host(&attendee.email)
        })
}
