//! What customers would be offered in the next days: the list of types with numbers, and the times of one.

use base::app::Cx;
use base::limits::{SLOT_DAYS_DEFAULT, SLOTS_GIVEN};
use bookings::availability::{self, Availability};
use bookings::team_calendar;
use bookings::types::{self, BookingHost, BookingType};
use db::Tx;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use translation::{t, text_in_context};
use web::booking::day_words;

/// Types of a list whose free times are looked for.
const TYPES_COUNTED: usize = 20;

/// A type in the list.
pub struct TypeLine {
    pub id: String,
    pub name: String,
    pub minutes: i64,
    pub url: String,
    /// The address without the host.
    pub path: String,
    pub is_listed: bool,
    pub hosts: String,
    /// What is free and what is booked in the next days; empty where nobody looked.
    pub ahead: String,
    pub state: TypeState,
}

/// Whether a type can be booked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TypeState {
    Open,
    /// It could be booked, but nothing is free.
    NothingOffered,
    Off,
}

impl TypeState {
    pub fn label(self) -> &'static str {
        match self {
            TypeState::Open => text_in_context("booking type", "Open"),
            TypeState::NothingOffered => t!("Nothing offered"),
            TypeState::Off => t!("Off"),
        }
    }

    pub fn class(self) -> &'static str {
        match self {
            TypeState::Open => "ok",
            TypeState::NothingOffered => "warn",
            TypeState::Off => "",
        }
    }

    pub fn icon(self) -> &'static str {
        match self {
            TypeState::Open => "check",
            TypeState::NothingOffered => "warn",
            TypeState::Off => "pause",
        }
    }
}

/// The team's types, by name.
pub fn type_lines(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    zone: &TimeZone,
) -> base::error::Result<Vec<TypeLine>> {
    let window = next_days(cx.now, zone);
    let booked = team_calendar::booked_by_type(tx, cx.actor, window)?;
    let kinds = types::list(tx, cx.actor)?.into_iter().filter(|kind| kind.circle.is_team());
    let mut lines = Vec::new();
    for (place, kind) in kinds.enumerate() {
        let hosts = types::hosts(tx, cx.actor.ws, &kind.id)?;
        let mut line = type_line(&kind, &hosts, cx.public_url);
        if kind.active && place < TYPES_COUNTED {
            let loaded = availability::load(tx, cx, &kind, window, None)?;
            let free = loaded.free(window, SLOTS_GIVEN as usize)?.len();
            let booked = booked.get(&kind.id).copied().unwrap_or(0);
            line.ahead = count_words(free, booked);
            if free == 0 {
                line.state = TypeState::NothingOffered;
            }
        }
        lines.push(line);
    }
    Ok(lines)
}

fn type_line(kind: &BookingType, hosts: &[BookingHost], public_url: &str) -> TypeLine {
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let url = kind.url(public_url);
    TypeLine {
        id: kind.id.to_string(),
        name: kind.name.clone(),
        minutes: kind.minutes,
        path: url.strip_prefix(public_url).unwrap_or(&url).to_owned(),
        url,
        is_listed: kind.listed,
        hosts: names.join(", "),
        ahead: String::new(),
        state: if kind.active { TypeState::Open } else { TypeState::Off },
    }
}

/// `41 free, 6 booked`.
fn count_words(free: usize, booked: i64) -> String {
    match free {
        0 => t!("Nothing free, {booked} booked", booked),
        free if free >= SLOTS_GIVEN as usize => {
            t!("{free} or more free, {booked} booked", free, booked)
        }
        free => t!("{free} free, {booked} booked", free, booked),
    }
}

/// The times that a type would be offered at, under their days.
pub struct TypePreview {
    pub days: Vec<PreviewDay>,
    pub count: String,
    /// Later times are left out.
    pub is_cut: bool,
}

pub struct PreviewDay {
    pub date: Date,
    pub name: String,
    /// On the reader's clock.
    pub times: Vec<String>,
    /// Somebody has hours.
    pub is_open: bool,
}

impl TypePreview {
    pub fn of(
        loaded: &Availability,
        window: (i64, i64),
        booked: i64,
        zone: &TimeZone,
    ) -> base::error::Result<TypePreview> {
        let free = loaded.free(window, SLOTS_GIVEN as usize)?;
        let is_cut = free.len() == SLOTS_GIVEN as usize;
        let starts: Vec<_> = free.iter().map(|one| civil(one.starts_at, zone)).collect();
        let reports = loaded.report(window)?;
        let is_open =
            |date: Date| reports.iter().any(|day| day.date == date && !day.hours.is_empty());
        let (first, end) = (civil(window.0, zone).date(), civil(window.1, zone).date());
        let last = starts.last().filter(|_| is_cut).map_or(Date::MAX, |start| start.date());
        let dates = first.series(1.day()).take_while(|date| *date < end && *date <= last);
        let days = dates.map(|date| {
            let of_day = starts.iter().filter(|start| start.date() == date);
            PreviewDay {
                date,
                name: day_words(date),
                times: of_day.map(|start| start.strftime("%H:%M").to_string()).collect(),
                is_open: is_open(date),
            }
        });
        Ok(TypePreview { days: days.collect(), count: count_words(free.len(), booked), is_cut })
    }
}

/// From now to the end of the last of the next days, where the reader is.
pub fn next_days(now: i64, zone: &TimeZone) -> (i64, i64) {
    let end = civil(now, zone).date().saturating_add(SLOT_DAYS_DEFAULT.days());
    let end = end.to_zoned(zone.clone()).map(|at| at.timestamp().as_millisecond());
    (now, end.unwrap_or(now))
}

/// A moment on a zone's clock.
pub fn civil(ms: i64, zone: &TimeZone) -> jiff::civil::DateTime {
    zone.to_datetime(Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH))
}
