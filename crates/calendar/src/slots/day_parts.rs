//! One day of a host in parts, for the page that explains why a time is offered or not.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::{HostDays, SlotError, SlotQuery, check, later};
use crate::hours::HoursWindow;
use crate::range::{RangeSet, TimeRange};

/// What a part of a host's day is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayPartKind {
    /// Outside the host's hours.
    Closed,
    /// Within the notice.
    Notice,
    /// After the last day that can be booked.
    Horizon,
    /// The host has as many bookings on this day as the type allows.
    DailyLimit,
    Booking,
    Busy,
    /// Free, but no start leaves enough time.
    TooShort,
    Offered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayPart {
    pub range: TimeRange,
    pub kind: DayPartKind,
}

/// The parts of a host's day in order, with an hour before the first and after the last hours. A day without
/// hours has none. The window of the query must hold the day.
pub fn day_parts(
    query: &SlotQuery<'_>,
    host: usize,
    date: Date,
) -> Result<Vec<DayPart>, SlotError> {
    check(query)?;
    let Some(asked) = query.hosts.get(host) else { return Ok(Vec::new()) };
    let days = HostDays::new(asked, query);
    let windows: Vec<&HoursWindow> =
        days.windows.iter().filter(|window| window.date == date).collect();
    let ends = windows.iter().map(|window| window.range.end);
    let (Some(first), Some(end)) = (windows.first(), ends.max()) else { return Ok(Vec::new()) };
    let edge = SignedDuration::from_hours(1);
    let start = first.range.start.saturating_sub(edge).unwrap_or(Timestamp::MIN);
    let shown = TimeRange::new(start, later(end, edge));
    let offered = offered_ranges(query, &days, &windows);
    let is_full = days.is_full(date);
    let kind = |range: &TimeRange| {
        if !windows.iter().any(|window| window.range.contains(range)) {
            DayPartKind::Closed
        } else if range.start < days.earliest {
            DayPartKind::Notice
        } else if days.last_day.is_some_and(|last| date > last) {
            DayPartKind::Horizon
        } else if days.booked.overlaps(range) {
            DayPartKind::Booking
        } else if days.busy.overlaps(range) {
            DayPartKind::Busy
        } else if is_full {
            DayPartKind::DailyLimit
        } else if offered.overlaps(range) {
            DayPartKind::Offered
        } else {
            DayPartKind::TooShort
        }
    };
    let mut bounds = vec![shown.start, shown.end, days.earliest];
    let hours = windows.iter().map(|window| window.range);
    let sets = [&offered, &days.booked, &days.busy];
    let ranges = hours.chain(sets.iter().flat_map(|set| set.ranges().iter().copied()));
    bounds.extend(ranges.flat_map(|range| [range.start, range.end]));
    bounds.retain(|at| (shown.start..=shown.end).contains(at));
    bounds.sort_unstable();
    bounds.dedup();
    let mut parts: Vec<DayPart> = Vec::new();
    for pair in bounds.windows(2) {
        let range = TimeRange::new(pair[0], pair[1]);
        let kind = kind(&range);
        match parts.last_mut() {
            Some(last) if last.kind == kind => last.range.end = range.end,
            _ => parts.push(DayPart { range, kind }),
        }
    }
    Ok(parts)
}

/// The times of the starts that can be booked.
fn offered_ranges(
    query: &SlotQuery<'_>,
    days: &HostDays<'_>,
    windows: &[&HoursWindow],
) -> RangeSet {
    let mut offered = Vec::new();
    for window in windows {
        let starts = query.rules.starts_in(&window.range, query.window);
        let free = starts.filter(|start| days.obstacle(*start, window).is_none());
        offered.extend(free.map(|start| query.rules.range_at(start)));
    }
    RangeSet::new(offered.into_iter())
}
