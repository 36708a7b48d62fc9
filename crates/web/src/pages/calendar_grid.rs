//! The grid of the calendar: where each appointment and each busy time stands in its day. Rows are quarters
//! of an hour, and what is at the same time stands beside each other.

use base::ids::UserId;
use bookings::calendars::HostBusyTime;
use bookings::{Booking, BookingStatus};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use translation::t;

use crate::booking::day_words;
use crate::layout::wording::{Avatar, weekday};

/// The hours that a grid shows at least.
const FIRST_HOUR: i64 = 8;
const LAST_HOUR: i64 = 18;
/// Minutes of a row.
const ROW: i64 = 15;
const DAY: i64 = 24 * 60;
/// A day of 23 hours is a whole one, too.
const ALL_DAY_MS: i64 = 23 * 60 * 60_000;
/// Appointments beside each other; further ones stand over the last.
const LANES: usize = 4;
/// Working days, which are shown even if nothing is booked.
const WORKING_DAYS: usize = 5;

pub struct CalendarGrid {
    /// `08:00` and so on.
    pub hours: Vec<String>,
    pub days: Vec<GridDay>,
}

pub struct GridDay {
    pub name: String,
    pub short: String,
    pub href: String,
    pub is_today: bool,
    /// How many stand: `2, 1 held`.
    pub count: String,
    pub items: Vec<GridItem>,
    /// The row of the current time.
    pub now: Option<(i64, String)>,
}

/// Something in a day, with the classes that say where it stands.
pub struct GridItem {
    pub place: String,
    pub what: GridEntry,
}

pub enum GridEntry {
    Booking(GridBooking),
    Busy(GridBusyTime),
}

/// A host is busy by a calendar of theirs.
pub struct GridBusyTime {
    pub name: String,
    pub starts: String,
    pub ends: String,
    pub is_all_day: bool,
}

pub struct GridBooking {
    pub href: String,
    pub starts: String,
    pub ends: String,
    /// The guest, after the state of what is not booked.
    pub guest: String,
    /// What is to be said about that state.
    pub note: String,
    pub kind: String,
    pub host: String,
    /// All of it, for what the grid has no room for.
    pub title: String,
    pub avatar: Avatar,
    pub class: &'static str,
}

/// An appointment or a busy time on its day's clock, in minutes.
struct Span<'a> {
    what: SpanOf<'a>,
    start: i64,
    end: i64,
}

#[derive(Clone, Copy)]
enum SpanOf<'a> {
    Booking(&'a Booking),
    Busy(&'a HostBusyTime),
}

/// The days that a grid shows.
pub struct GridSpan<'a> {
    pub dates: &'a [Date],
    pub now: i64,
    pub zone: &'a TimeZone,
    /// The person whose appointments alone are shown.
    pub host: Option<&'a UserId>,
}

impl CalendarGrid {
    pub fn of(found: &[Booking], busy: &[HostBusyTime], span: &GridSpan<'_>) -> CalendarGrid {
        let GridSpan { dates, now, zone, host } = *span;
        let mut spans: Vec<Vec<Span<'_>>> =
            dates.iter().map(|date| spans_of(found, *date, zone)).collect();
        // A weekend without appointments is left out.
        if spans.iter().skip(WORKING_DAYS).all(|day| day.is_empty()) {
            spans.truncate(WORKING_DAYS);
        }
        let starts = spans.iter().flatten().map(|span| span.start / 60);
        let ends = spans.iter().flatten().map(|span| (span.end + 59) / 60);
        let first = starts.min().unwrap_or(FIRST_HOUR).min(FIRST_HOUR);
        let last = ends.max().unwrap_or(LAST_HOUR).max(LAST_HOUR);
        let now = clock(now, zone);
        let days = dates.iter().zip(spans).map(|(date, mut spans)| {
            let count = count_of_day(spans.iter().filter_map(Span::booking));
            spans.extend(busy_spans_of(busy, *date, (first * 60, last * 60), zone));
            spans.sort_by_key(|span| (span.start, span.end));
            GridDay {
                name: day_words(*date),
                short: t!("{weekday} {day}", weekday = weekday(date.weekday()), day = date.day()),
                href: address("day", Some(*date), host),
                is_today: now.0 == *date,
                count,
                now: (now.0 == *date && (first * 60..last * 60).contains(&now.1))
                    .then(|| (row(now.1, first), words(now.1))),
                items: place(spans, first, zone),
            }
        });
        CalendarGrid {
            hours: (first..last).map(|hour| format!("{hour:02}:00")).collect(),
            days: days.collect(),
        }
    }
}

/// The address of the calendar, in a view and for a person.
pub fn address(view: &str, day: Option<Date>, host: Option<&UserId>) -> String {
    let day = day.map(|day| format!("&day={day}")).unwrap_or_default();
    let host = host.map(|host| format!("&host={host}")).unwrap_or_default();
    format!("/calendar?view={view}{day}{host}")
}

/// What stands of a day: `2`, or `2, 1 held`. What was cancelled is not counted.
pub fn count_of_day<'a>(bookings: impl Iterator<Item = &'a Booking>) -> String {
    let (mut booked, mut held) = (0_usize, 0_usize);
    for booking in bookings {
        match booking.status {
            BookingStatus::Booked => booked += 1,
            BookingStatus::Held => held += 1,
            BookingStatus::Cancelled => {}
        }
    }
    let held = (held > 0).then(|| t!("{count} held", count = held));
    let booked = (booked > 0).then(|| booked.to_string());
    booked.into_iter().chain(held).collect::<Vec<_>>().join(", ")
}

impl Span<'_> {
    fn booking(&self) -> Option<&Booking> {
        match self.what {
            SpanOf::Booking(booking) => Some(booking),
            SpanOf::Busy(_) => None,
        }
    }
}

fn spans_of<'a>(found: &'a [Booking], date: Date, zone: &TimeZone) -> Vec<Span<'a>> {
    let spans = found.iter().filter_map(|booking| {
        let (starts, ends) = (clock(booking.starts_at, zone), clock(booking.ends_at, zone));
        // What ends after midnight is shown up to it.
        let end = if ends.0 > date { DAY } else { ends.1.max(starts.1 + ROW).min(DAY) };
        let what = SpanOf::Booking(booking);
        (starts.0 == date).then_some(Span { what, start: starts.1, end })
    });
    spans.collect()
}

/// What of a day's busy times is within the shown hours.
fn busy_spans_of<'a>(
    busy: &'a [HostBusyTime],
    date: Date,
    (first, last): (i64, i64),
    zone: &TimeZone,
) -> Vec<Span<'a>> {
    let spans = busy.iter().filter_map(|one| {
        let (start, end) = within_day(one, date, zone)?;
        let (start, end) = (start.max(first), end.min(last));
        (start < end).then_some(Span { what: SpanOf::Busy(one), start, end })
    });
    spans.collect()
}

/// The part of a busy time that is on a day, in minutes of its clock.
fn within_day(busy: &HostBusyTime, date: Date, zone: &TimeZone) -> Option<(i64, i64)> {
    let (starts, ends) = (clock(busy.starts_at, zone), clock(busy.ends_at, zone));
    if starts.0 > date || ends.0 < date {
        return None;
    }
    let start = if starts.0 < date { 0 } else { starts.1 };
    let end = if ends.0 > date { DAY } else { ends.1 };
    (start < end).then_some((start, end))
}

/// Gives what overlaps lanes; those that meet directly or through others share a width.
fn place(spans: Vec<Span<'_>>, first: i64, zone: &TimeZone) -> Vec<GridItem> {
    let mut items = Vec::new();
    let mut group: Vec<(Span<'_>, usize)> = Vec::new();
    let mut group_end = 0;
    for span in spans {
        if span.start >= group_end {
            items.extend(finish_group(std::mem::take(&mut group), first, zone));
            group_end = 0;
        }
        group_end = group_end.max(span.end);
        let is_free = |lane: &usize| {
            group.iter().all(|(other, taken)| taken != lane || other.end <= span.start)
        };
        let lane = (0..LANES).find(is_free).unwrap_or(LANES - 1);
        group.push((span, lane));
    }
    items.extend(finish_group(group, first, zone));
    items
}

fn finish_group(group: Vec<(Span<'_>, usize)>, first: i64, zone: &TimeZone) -> Vec<GridItem> {
    let lanes = group.iter().map(|(_, lane)| lane + 1).max().unwrap_or(1);
    let item = |(span, lane): (Span<'_>, usize)| {
        let from = row(span.start, first);
        let rows = ((span.end + ROW - 1) / ROW - span.start / ROW).max(1);
        GridItem {
            place: format!("q{from} x{rows} of{lanes} at{lane}"),
            what: match span.what {
                SpanOf::Booking(booking) => GridEntry::Booking(booking_view(booking, &span, zone)),
                SpanOf::Busy(busy) => GridEntry::Busy(busy_view(busy, &span)),
            },
        }
    };
    group.into_iter().map(item).collect()
}

fn booking_view(booking: &Booking, span: &Span<'_>, zone: &TimeZone) -> GridBooking {
    let guest = &booking.guest_name;
    let (class, guest) = match booking.status {
        BookingStatus::Booked => ("", guest.clone()),
        BookingStatus::Held => ("g-held", t!("Held: {guest}", guest)),
        BookingStatus::Cancelled => ("g-gone", t!("Cancelled: {guest}", guest)),
    };
    let (starts, ends) = (words(span.start), words(span.end % DAY));
    let (kind, host) = (&booking.type_name, &booking.host_name);
    GridBooking {
        href: format!("/calendar/{}", booking.id),
        title: t!(
            "{starts} to {ends}, {guest}, {kind}, with {host}",
            starts,
            ends,
            guest,
            kind,
            host
        ),
        starts,
        ends,
        guest,
        note: note_of(booking, zone),
        kind: kind.clone(),
        host: host.clone(),
        // Of several who are there, the first.
        avatar: Avatar::person(host.split(", ").next().unwrap_or(host)),
        class,
    }
}

/// What is to be said about a state: until when a time is held, or who cancelled.
fn note_of(booking: &Booking, zone: &TimeZone) -> String {
    match (booking.status, booking.holds_until) {
        (BookingStatus::Held, Some(until)) => {
            t!("Waits for the code until {clock}.", clock = words(clock(until, zone).1))
        }
        // Only members are named: everybody else who cancels is the guest.
        (BookingStatus::Cancelled, _) if booking.cancelled_by.is_empty() => {
            t!("By the guest.").to_owned()
        }
        _ => String::new(),
    }
}

fn busy_view(busy: &HostBusyTime, span: &Span<'_>) -> GridBusyTime {
    GridBusyTime {
        name: busy.name.clone(),
        starts: words(span.start),
        ends: words(span.end % DAY),
        is_all_day: busy.ends_at - busy.starts_at >= ALL_DAY_MS,
    }
}

/// The row of a time, the first being 1.
fn row(minutes: i64, first: i64) -> i64 {
    (minutes - first * 60) / ROW + 1
}

fn words(minutes: i64) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

fn clock(ms: i64, zone: &TimeZone) -> (Date, i64) {
    let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let at = zone.to_datetime(at);
    (at.date(), i64::from(at.hour()) * 60 + i64::from(at.minute()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(starts: &str, ends: &str) -> HostBusyTime {
        let ms = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        HostBusyTime {
            person: base::ids::UserId::parse("usr_1").unwrap(),
            name: "Ines".into(),
            starts_at: ms(starts),
            ends_at: ms(ends),
        }
    }

    #[test]
    fn busy_times_stand_in_the_shown_hours_of_each_of_their_days() {
        let dates: Vec<Date> = (16..=20).map(|day| Date::constant(2026, 11, day)).collect();
        let times = [
            // 09:00 to 09:30 in Berlin, then from Tuesday 16:00 to Thursday, then a night.
            busy("2026-11-16T08:00:00Z", "2026-11-16T08:30:00Z"),
            busy("2026-11-17T15:00:00Z", "2026-11-18T23:00:00Z"),
            busy("2026-11-19T22:00:00Z", "2026-11-20T05:00:00Z"),
        ];
        let zone = calendar::zone_named("Europe/Berlin").unwrap();
        let span = GridSpan { dates: &dates, now: 0, zone: &zone, host: None };
        let grid = CalendarGrid::of(&[], &times, &span);
        assert_eq!(grid.hours.len(), 10, "busy times make the grid no longer");
        let places: Vec<Vec<&str>> = grid
            .days
            .iter()
            .map(|day| day.items.iter().map(|item| item.place.as_str()).collect())
            .collect();
        let expected =
            [vec!["q5 x2 of1 at0"], vec!["q33 x8 of1 at0"], vec!["q1 x40 of1 at0"], vec![], vec![]];
        assert_eq!(places, expected);
        assert!(grid.days.iter().all(|day| day.count.is_empty()), "they are not counted");
    }
}
