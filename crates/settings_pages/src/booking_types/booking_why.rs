//! Why a time is offered or not: one day of a host, with what takes its starts and where that is changed.

use base::app::Cx;
use base::ids::UserId;
use base::limits::{BOOKING_HORIZON_DAYS, DAY_MS, SLOT_DAYS};
use bookings::availability::{self, Availability, HostAvailability};
use bookings::types::{BookingType, HostChoice};
use bookings::zone_or_utc;
use calendar::{DayPart, DayPartKind, SlotObstacle};
use db::Tx;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use translation::{msg, t};
use web::booking::day_words;
use web::forms::form::FormFields;
use web::layout::wording::date_words;
use web::pages::calendar_grid::address;
use web::visitor::Visitor;

use crate::booking_types::booking_preview::civil;

/// Units of the strip's width, and of a letter and a clock time in it.
const STRIP: i64 = 900;
const LETTER: i64 = 7;
const CLOCK: i64 = 40;

/// What takes starts from a day, and how that is said.
const LOSSES: [(SlotObstacle, &str); 5] = [
    (SlotObstacle::Notice, msg!("too soon")),
    (SlotObstacle::Horizon, msg!("too far away")),
    (SlotObstacle::DailyLimit, msg!("beyond the limit a day")),
    (SlotObstacle::Booking, msg!("taken by bookings")),
    (SlotObstacle::Busy, msg!("busy in a calendar")),
];

/// The day and the host that are asked about.
pub struct WhyAsked {
    host: Option<UserId>,
    day: Option<Date>,
}

impl WhyAsked {
    pub fn of(fields: &FormFields, visitor: &Visitor) -> WhyAsked {
        let day = visitor.typed_times().day(&fields.get("day"));
        WhyAsked { host: UserId::parse(&fields.get("host")), day }
    }
}

/// Who reads: links lead to what they can change.
pub struct WhyReader<'a> {
    pub me: &'a UserId,
    pub is_admin: bool,
    pub zone: &'a TimeZone,
}

/// One day of a host, explained.
pub struct WhyView {
    pub hosts: Vec<WhyHost>,
    pub host: String,
    /// As the form has it, and in words.
    pub date: String,
    pub day: String,
    pub lead: String,
    pub zone: String,
    /// All starts, and what takes some of them.
    pub funnel: Vec<(String, String)>,
    pub offered: usize,
    pub offered_words: &'static str,
    pub strip: Option<DayStrip>,
    pub reasons: Vec<WhyReason>,
    /// The next free time of the type, where the day has none.
    pub next: String,
}

pub struct WhyHost {
    pub id: String,
    pub name: String,
    pub is_chosen: bool,
}

/// The day as a drawing.
pub struct DayStrip {
    pub label: String,
    pub parts: Vec<StripPart>,
    pub clocks: Vec<(i64, String)>,
}

pub struct StripPart {
    pub x: i64,
    pub width: i64,
    pub class: &'static str,
    /// Empty where there is no room for it.
    pub label: &'static str,
}

/// A part of the day in words.
pub struct WhyReason {
    pub time: String,
    pub words: String,
    /// Where it is changed: address and words.
    pub link: Option<(String, &'static str)>,
}

/// Explains the day that is asked about, or the first on which everything is lost.
pub fn explain(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    (ahead, window): (&Availability, (i64, i64)),
    asked: &WhyAsked,
    reader: &WhyReader<'_>,
) -> base::error::Result<Option<WhyView>> {
    let place = asked.host.as_ref().and_then(|id| {
        let is_asked = |host: &HostAvailability| host.person == *id;
        ahead.hosts().iter().position(is_asked)
    });
    let place = place.unwrap_or(0);
    let Some(host) = ahead.hosts().get(place) else { return Ok(None) };
    let date = match asked.day.filter(|day| can_be_explained(*day, host, cx.now)) {
        Some(day) => day,
        None => day_of_interest(ahead, window, place, cx.now)?,
    };
    let around = around(date);
    let near = availability::load(tx, cx, kind, around, None)?;
    let Some(host) = near.hosts().get(place) else { return Ok(None) };
    let reports = near.report(around)?;
    let report = reports.into_iter().find(|day| day.host == place && day.date == date);
    let starts = report.map(|day| day.starts).unwrap_or_default();
    let count = |why: Option<SlotObstacle>| starts.iter().filter(|start| start.1 == why).count();
    let offered = count(None);
    let mut funnel = Vec::new();
    if !starts.is_empty() {
        let words = t!("starts in the hours of {host}", host = host.name);
        funnel.push((starts.len().to_string(), words));
    }
    for (obstacle, words) in LOSSES {
        let lost = count(Some(obstacle));
        if lost > 0 {
            funnel.push((format!("\u{2212}{lost}"), translation::text(words).to_owned()));
        }
    }
    let next = if offered == 0 { next_words(tx, cx, kind, date, reader.zone)? } else { None };
    let zone = host.zone_on(date);
    let parts = near.day_parts(around, place, date)?;
    let hosts = ahead.hosts().iter().enumerate().map(|(at, host)| WhyHost {
        id: host.person.to_string(),
        name: host.name.clone(),
        is_chosen: at == place,
    });
    Ok(Some(WhyView {
        hosts: hosts.collect(),
        host: host.name.clone(),
        date: date.to_string(),
        day: date_words(date),
        lead: lead(host, date, (offered, starts.len())),
        zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        funnel,
        offered,
        offered_words: match kind.mode {
            HostChoice::Any => t!("offered"),
            HostChoice::Together => t!("offered if the others are free too"),
        },
        strip: strip(&parts, date, zone),
        reasons: reasons(&parts, kind, (host, date), reader),
        next: next.unwrap_or_default(),
    }))
}

/// Today or later, and not far beyond what can be booked at all.
fn can_be_explained(day: Date, host: &HostAvailability, now: i64) -> bool {
    let today = civil(now, &zone_or_utc(&host.zone)).date();
    let last = today.saturating_add((BOOKING_HORIZON_DAYS + SLOT_DAYS).days());
    (today..=last).contains(&day)
}

/// The first day with hours on which nothing is offered, else the first with hours, else today.
fn day_of_interest(
    ahead: &Availability,
    window: (i64, i64),
    place: usize,
    now: i64,
) -> base::error::Result<Date> {
    let mut days = ahead.report(window)?;
    days.retain(|day| day.host == place && !day.hours.is_empty());
    let lost = days.iter().find(|day| day.starts.iter().all(|(_, why)| why.is_some()));
    let found = lost.or(days.first()).map(|day| day.date);
    let today = || civil(now, &zone_or_utc(&ahead.hosts()[place].zone)).date();
    Ok(found.unwrap_or_else(today))
}

/// A window that holds a date in every zone, with hours that end on the next day.
fn around(date: Date) -> (i64, i64) {
    let midnight = midnight(date);
    (midnight - 2 * DAY_MS, midnight + 3 * DAY_MS)
}

fn midnight(date: Date) -> i64 {
    let midnight = date.to_zoned(TimeZone::UTC);
    midnight.map_or(0, |at| at.timestamp().as_millisecond())
}

/// The first free time of a type from a day on, on the reader's clock.
fn next_words(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    date: Date,
    zone: &TimeZone,
) -> base::error::Result<Option<String>> {
    let found = availability::next_free(tx, cx, kind, midnight(date), 1, None)?;
    Ok(found.first().map(|free| {
        let start = civil(free.starts_at, zone);
        let (date, clock) = (date_words(start.date()), start.strftime("%H:%M").to_string());
        t!("{date}, {clock}", date, clock)
    }))
}

fn lead(host: &HostAvailability, date: Date, (offered, all): (usize, usize)) -> String {
    if host.is_stale {
        t!("A calendar has not been read for a day.").to_owned()
    } else if host.is_holiday(date) {
        t!("A public holiday.").to_owned()
    } else if all == 0 {
        t!("No hours on this day.").to_owned()
    } else {
        t!("{offered} of {all} starts are offered.", offered, all)
    }
}

fn strip(parts: &[DayPart], date: Date, zone: &TimeZone) -> Option<DayStrip> {
    let (first, last) = (parts.first()?.range.start, parts.last()?.range.end);
    let length = (last.as_second() - first.as_second()).max(1);
    let x = |at: Timestamp| (at.as_second() - first.as_second()) * STRIP / length;
    let part = |part: &DayPart| {
        let (class, label) = drawing(part.kind);
        let (from, to) = (x(part.range.start), x(part.range.end));
        let needed = label.chars().count() as i64 * LETTER + 2 * LETTER;
        let label = if needed <= to - from { label } else { "" };
        StripPart { x: from, width: to - from, class, label }
    };
    let mut clocks: Vec<(i64, String)> = Vec::new();
    for at in parts.iter().map(|part| part.range.start) {
        let has_room = clocks.last().is_none_or(|(before, _)| x(at) - before >= CLOCK);
        if has_room && x(at) + CLOCK <= STRIP {
            clocks.push((x(at), clock(at, zone)));
        }
    }
    let label = t!(
        "{day} from {starts} to {ends}: the list below says the same in words",
        day = day_words(date),
        starts = clock(first, zone),
        ends = clock(last, zone),
    );
    Some(DayStrip { label, parts: parts.iter().map(part).collect(), clocks })
}

/// How a part is drawn: its class and its word.
fn drawing(kind: DayPartKind) -> (&'static str, &'static str) {
    match kind {
        DayPartKind::Closed => ("out", t!("Closed")),
        DayPartKind::Notice => ("g-soon", t!("Too soon")),
        DayPartKind::Horizon => ("g-soon", t!("Too far away")),
        DayPartKind::DailyLimit => ("g-soon", t!("Limit")),
        DayPartKind::Booking => ("g-busy", t!("Booking")),
        DayPartKind::Busy => ("g-busy", t!("Busy")),
        DayPartKind::TooShort => ("g-short", t!("Too short")),
        DayPartKind::Offered => ("g-open", t!("Offered")),
    }
}

/// The parts in words, without what is closed before and after the hours.
fn reasons(
    parts: &[DayPart],
    kind: &BookingType,
    (host, date): (&HostAvailability, Date),
    reader: &WhyReader<'_>,
) -> Vec<WhyReason> {
    let zone = host.zone_on(date);
    let is_edge = |at: usize| at == 0 || at + 1 == parts.len();
    let inside = parts.iter().enumerate();
    let inside = inside.filter(|(at, part)| part.kind != DayPartKind::Closed || !is_edge(*at));
    let reason = |(_, part): (usize, &DayPart)| {
        let (starts, ends) = (clock(part.range.start, zone), clock(part.range.end, zone));
        WhyReason {
            time: t!("{starts} to {ends}", starts, ends),
            words: words(part.kind, kind, &host.name),
            link: link(part.kind, (host, date), reader),
        }
    };
    inside.map(reason).collect()
}

fn words(part: DayPartKind, kind: &BookingType, host: &str) -> String {
    match part {
        DayPartKind::Closed => t!("Outside the hours of {host}.", host),
        DayPartKind::Notice => t!("Too soon: it is booked some time ahead.").to_owned(),
        DayPartKind::Horizon => {
            t!("Too far away: it is booked at most {n} days ahead.", n = kind.horizon_days)
        }
        DayPartKind::DailyLimit => {
            let n = kind.per_day.unwrap_or_default();
            t!("{host} has as many bookings on this day as it allows: {n}.", host, n)
        }
        DayPartKind::Booking => t!("Booked, with what is kept free around it.").to_owned(),
        DayPartKind::Busy => {
            t!("Busy in a calendar of {host}. What the entry says is not read.", host)
        }
        DayPartKind::TooShort => {
            let n = kind.before_minutes + kind.minutes + kind.after_minutes;
            t!("Free, but no start leaves the {n} minutes that are needed.", n)
        }
        DayPartKind::Offered => t!("Offered.").to_owned(),
    }
}

/// Where the reader can change what a part is.
fn link(
    part: DayPartKind,
    (host, date): (&HostAvailability, Date),
    reader: &WhyReader<'_>,
) -> Option<(String, &'static str)> {
    let own =
        |anchor: &str| (host.person == *reader.me).then(|| format!("/settings/bookings#{anchor}"));
    let field = |id: &str| reader.is_admin.then(|| format!("#{id}"));
    match part {
        DayPartKind::Closed => Some((own("hours-h")?, t!("Your hours"))),
        DayPartKind::Notice => Some((field("notice")?, t!("Change the notice"))),
        DayPartKind::Horizon => Some((field("horizonDays")?, t!("Change the days"))),
        DayPartKind::DailyLimit => Some((field("perDay")?, t!("Change the limit"))),
        DayPartKind::Booking => {
            let day = address("day", Some(date), Some(&host.person));
            Some((day, t!("See the day")))
        }
        DayPartKind::Busy => Some((own("calendars-h")?, t!("Your calendars"))),
        DayPartKind::TooShort => Some((field("minutes")?, t!("Change the length"))),
        DayPartKind::Offered => None,
    }
}

fn clock(at: Timestamp, zone: &TimeZone) -> String {
    zone.to_datetime(at).strftime("%H:%M").to_string()
}
