//! The grid of the calendar: where each appointment stands in its day. Rows are quarters of an hour, and
//! appointments at the same time stand beside each other.

use inbox::model::bookings::{Booking, BookingStatus};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::web::layout::wording::Avatar;

/// The hours that a grid shows at least.
const FIRST_HOUR: i64 = 8;
const LAST_HOUR: i64 = 18;
/// Minutes of a row.
const ROW: i64 = 15;
const DAY: i64 = 24 * 60;
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
    pub count: String,
    pub items: Vec<GridBooking>,
    /// The row of the current time.
    pub now: Option<(i64, String)>,
}

pub struct GridBooking {
    pub href: String,
    pub starts: String,
    pub ends: String,
    pub guest: String,
    pub kind: String,
    pub host: String,
    pub avatar: Avatar,
    /// Classes that say where it stands and what it is.
    pub place: String,
    pub class: &'static str,
    pub status: &'static str,
}

/// An appointment on its day's clock, in minutes.
struct Span<'a> {
    booking: &'a Booking,
    start: i64,
    end: i64,
}

impl CalendarGrid {
    pub fn of(found: &[Booking], dates: &[Date], now: i64, zone: &TimeZone) -> CalendarGrid {
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
        let days = dates.iter().zip(spans).map(|(date, spans)| GridDay {
            name: date.strftime("%A %-d %B").to_string(),
            short: date.strftime("%A %-d").to_string(),
            href: format!("/calendar?view=day&day={date}"),
            is_today: now.0 == *date,
            count: if spans.is_empty() { String::new() } else { spans.len().to_string() },
            now: (now.0 == *date && (first * 60..last * 60).contains(&now.1))
                .then(|| (row(now.1, first), words(now.1))),
            items: placed(spans, first),
        });
        CalendarGrid {
            hours: (first..last).map(|hour| format!("{hour:02}:00")).collect(),
            days: days.collect(),
        }
    }
}

fn spans_of<'a>(found: &'a [Booking], date: Date, zone: &TimeZone) -> Vec<Span<'a>> {
    let spans = found.iter().filter_map(|booking| {
        let (starts, ends) = (clock(booking.starts_at, zone), clock(booking.ends_at, zone));
        // What ends after midnight is shown up to it.
        let end = if ends.0 > date { DAY } else { ends.1.max(starts.1 + ROW).min(DAY) };
        (starts.0 == date).then_some(Span { booking, start: starts.1, end })
    });
    spans.collect()
}

/// Gives overlapping appointments lanes; those that meet directly or through others share a width.
fn placed(spans: Vec<Span<'_>>, first: i64) -> Vec<GridBooking> {
    let mut items = Vec::new();
    let mut group: Vec<(Span<'_>, usize)> = Vec::new();
    let mut group_end = 0;
    for span in spans {
        if span.start >= group_end {
            items.extend(finished(std::mem::take(&mut group), first));
            group_end = 0;
        }
        group_end = group_end.max(span.end);
        let is_free = |lane: &usize| {
            group.iter().all(|(other, taken)| taken != lane || other.end <= span.start)
        };
        let lane = (0..LANES).find(is_free).unwrap_or(LANES - 1);
        group.push((span, lane));
    }
    items.extend(finished(group, first));
    items
}

fn finished(group: Vec<(Span<'_>, usize)>, first: i64) -> Vec<GridBooking> {
    let lanes = group.iter().map(|(_, lane)| lane + 1).max().unwrap_or(1);
    group.into_iter().map(|(span, lane)| view(&span, (lane, lanes), first)).collect()
}

fn view(span: &Span<'_>, (lane, lanes): (usize, usize), first: i64) -> GridBooking {
    let booking = span.booking;
    let from = row(span.start, first);
    let rows = ((span.end + ROW - 1) / ROW - span.start / ROW).max(1);
    let (class, status) = match booking.status {
        BookingStatus::Booked => ("", ""),
        BookingStatus::Held => ("g-held", "Held: "),
        BookingStatus::Cancelled => ("g-gone", "Cancelled: "),
    };
    GridBooking {
        href: format!("/calendar/{}", booking.id),
        starts: words(span.start),
        ends: words(span.end % DAY),
        guest: booking.guest_name.clone(),
        kind: booking.type_name.clone(),
        host: booking.host_name.clone(),
        avatar: Avatar::person(&booking.host_name),
        place: format!("q{from} x{rows} of{lanes} at{lane}"),
        class,
        status,
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
