//! Free times under their days as templates see them, with the zone they are in and the way to others.

use std::collections::BTreeSet;

use bookings::availability::FreeTime;
use bookings::mail_words::city;
use bookings::zone_or_utc;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use translation::t;

use super::{ShownTimes, TimesQuery, host_zone};
use crate::layout::wording;

/// A day with its free times; without any it says so.
pub struct DayView {
    pub weekday: &'static str,
    pub date: String,
    pub times: Vec<TimeView>,
}

pub struct TimeView {
    /// Seconds since 1970, as addresses and forms have it.
    pub at: i64,
    pub clock: String,
    pub is_chosen: bool,
}

/// A zone to choose.
pub struct ZoneChoice {
    pub name: String,
    /// `Lisbon, UTC+0`.
    pub label: String,
}

/// Free times, the zone they are in, and the way to others.
pub struct TimesView {
    /// The address of this page, without what it asks for.
    pub path: String,
    /// Times are buttons of the page's form, which carries along what was typed; else they are links.
    pub is_form: bool,
    pub zone: String,
    /// The same at the end of an address; empty while neither the guest nor their device named it.
    pub zone_query: String,
    /// The script may load the page again, in the zone of the guest's device.
    pub asks_zone: bool,
    pub city: String,
    /// What the clocks show now: in the zone of the times, and where the hosts are.
    pub now: String,
    pub zones: Vec<ZoneChoice>,
    pub days: Vec<DayView>,
    pub earlier: Option<String>,
    /// Its day in the address, and in words.
    pub later: Option<(String, String)>,
    /// Why there are no other times.
    pub hint: String,
}

impl TimesView {
    pub fn new(path: String, asked: &TimesQuery, shown: &ShownTimes, now: i64) -> TimesView {
        let zone = &asked.zone;
        let there = host_zone(&shown.hosts);
        let today = in_zone(now, &zone.zone).date();
        let earlier = shown.first.saturating_sub(14.days()).max(today);
        let later = day_of_month(shown.next);
        TimesView {
            path,
            is_form: false,
            zone: zone.name.clone(),
            zone_query: zone.query(),
            asks_zone: !zone.is_chosen && !asked.is_form,
            city: city(&zone.name),
            now: now_words(&in_zone(now, &zone.zone), &in_zone(now, &zone_or_utc(there)), there),
            zones: zones(&zone.name, noon_of(shown.first, &zone.zone)),
            days: with_full_days(shown, &zone.zone, asked.at),
            earlier: (shown.first > today).then(|| earlier.to_string()),
            later: shown.has_later.then(|| (shown.next.to_string(), later)),
            hint: hint(shown),
        }
    }
}

/// `It is 08:14 there now`, and what it is for the hosts, where that differs.
fn now_words(here: &Zoned, there: &Zoned, host_zone: &str) -> String {
    if here.offset() == there.offset() {
        return t!("It is {now} there now", now = clock(here));
    }
    t!(
        "It is {now} there now, and {there} in {city}, where they are",
        now = clock(here),
        there = clock(there),
        city = city(host_zone),
    )
}

/// Times under their days.
pub fn by_day(free: &[FreeTime], zone: &TimeZone, chosen: Option<i64>) -> Vec<DayView> {
    group_by_day(free, zone, chosen).into_iter().map(|(_, day)| day).collect()
}

/// The days from the first free one on. Closed days are left out; those that are full stay, so that
/// nobody looks for them.
fn with_full_days(shown: &ShownTimes, zone: &TimeZone, chosen: Option<i64>) -> Vec<DayView> {
    let mut days = group_by_day(&shown.free, zone, chosen);
    let Some(first) = days.first().map(|(date, _)| *date) else { return Vec::new() };
    let has_times: BTreeSet<Date> = days.iter().map(|(date, _)| *date).collect();
    let shown_days = first..shown.next;
    let is_full = |date: &Date| shown_days.contains(date) && !has_times.contains(date);
    let full = shown.open.iter().copied().filter(is_full);
    days.extend(full.map(|date| (date, DayView::of(date, Vec::new()))));
    days.sort_by_key(|(date, _)| *date);
    days.into_iter().map(|(_, day)| day).collect()
}

fn group_by_day(free: &[FreeTime], zone: &TimeZone, chosen: Option<i64>) -> Vec<(Date, DayView)> {
    let mut days: Vec<(Date, DayView)> = Vec::new();
    for one in free {
        let start = in_zone(one.starts_at, zone);
        let time = TimeView {
            at: one.starts_at / 1_000,
            clock: clock(&start),
            is_chosen: chosen == Some(one.starts_at),
        };
        match days.last_mut() {
            Some((date, day)) if *date == start.date() => day.times.push(time),
            _ => days.push((start.date(), DayView::of(start.date(), vec![time]))),
        }
    }
    days
}

impl DayView {
    fn of(date: Date, times: Vec<TimeView>) -> DayView {
        DayView { weekday: wording::weekday(date.weekday()), date: day_of_month(date), times }
    }
}

/// `Book at least an hour ahead. Saturdays and Sundays are closed.`, and until when a time that was booked
/// can be changed. A weekday is closed when nobody has hours on it, in these weeks or in any other; a
/// holiday closes one day only.
fn hint(shown: &ShownTimes) -> String {
    let mut sentences = Vec::new();
    if shown.notice > 0 {
        sentences.push(notice_words(shown.notice));
    }
    if shown.cancel_hours > 0 {
        sentences.push(cancel_words(shown.cancel_hours));
    }
    let is_closed = |weekday: &Weekday| {
        !shown.open.iter().chain(&shown.regular).any(|date| date.weekday() == *weekday)
    };
    let closed: Vec<&str> =
        Weekday::Monday.cycle_forward().take(7).filter(is_closed).map(weekday_words).collect();
    match closed.as_slice() {
        [] | [_, _, _, _, _, _, _] => {}
        [only] => sentences.push(t!("{days} are closed.", days = only)),
        [rest @ .., last] => {
            sentences.push(t!("{days} and {last} are closed.", days = rest.join(", "), last));
        }
    }
    sentences.join(" ")
}

fn notice_words(minutes: i64) -> String {
    let hours = minutes / 60;
    match minutes {
        1 => t!("Book at least a minute ahead.").to_owned(),
        60 => t!("Book at least an hour ahead.").to_owned(),
        _ if hours == 24 => t!("Book at least a day ahead.").to_owned(),
        _ if hours > 24 && hours % 24 == 0 => t!("Book at least {n} days ahead.", n = hours / 24),
        _ if hours > 0 && minutes % 60 == 0 => t!("Book at least {n} hours ahead.", n = hours),
        _ => t!("Book at least {n} minutes ahead.", n = minutes),
    }
}

fn cancel_words(hours: i64) -> String {
    match hours {
        1 => t!("You can move or cancel until an hour before.").to_owned(),
        _ => t!("You can move or cancel until {n} hours before.", n = hours),
    }
}

fn weekday_words(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => t!("Mondays"),
        Weekday::Tuesday => t!("Tuesdays"),
        Weekday::Wednesday => t!("Wednesdays"),
        Weekday::Thursday => t!("Thursdays"),
        Weekday::Friday => t!("Fridays"),
        Weekday::Saturday => t!("Saturdays"),
        Weekday::Sunday => t!("Sundays"),
    }
}

/// The zones to choose from, by city and with their offset then: those of places, and the chosen one.
fn zones(chosen: &str, then: Timestamp) -> Vec<ZoneChoice> {
    let mut names = calendar::zone_names();
    if !names.iter().any(|name| name == chosen) {
        names.push(chosen.to_owned());
    }
    let choice = |name: String| ZoneChoice { label: zone_label(&name, then), name };
    let mut zones: Vec<ZoneChoice> = names.into_iter().map(choice).collect();
    // Of names for the same place the chosen one stays.
    zones.sort_by(|a, b| (&a.label, a.name != chosen).cmp(&(&b.label, b.name != chosen)));
    zones.dedup_by(|next, kept| next.label == kept.label);
    zones
}

/// A moment of the first day that is shown: the clocks of its week may not be those of today.
fn noon_of(day: Date, zone: &TimeZone) -> Timestamp {
    let noon = day.at(12, 0, 0, 0).to_zoned(zone.clone());
    noon.map_or(Timestamp::UNIX_EPOCH, |noon| noon.timestamp())
}

/// `Kathmandu, UTC+5:45`.
fn zone_label(name: &str, then: Timestamp) -> String {
    let Some(zone) = calendar::zone_named(name) else { return name.to_owned() };
    let minutes = zone.to_offset(then).seconds() / 60;
    let sign = if minutes < 0 { '\u{2212}' } else { '+' };
    let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
    match (name, rest) {
        ("UTC", _) => name.to_owned(),
        (_, 0) => format!("{}, UTC{sign}{hours}", city(name)),
        _ => format!("{}, UTC{sign}{hours}:{rest:02}", city(name)),
    }
}

pub fn in_zone(ms: i64, zone: &TimeZone) -> Zoned {
    let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(zone.clone())
}

/// `09:30`.
pub fn clock(at: &Zoned) -> String {
    at.strftime("%H:%M").to_string()
}

/// `Monday 16 November`.
pub fn day_words(date: Date) -> String {
    let (weekday, month) = (wording::weekday(date.weekday()), wording::month_name(date.month()));
    t!("{weekday} {day} {month}", weekday, day = date.day(), month)
}

/// `16 November`.
fn day_of_month(date: Date) -> String {
    t!("{day} {month}", day = date.day(), month = wording::month_name(date.month()))
}

/// `16 November 2026`.
pub fn day_of_year(date: Date) -> String {
    let month = wording::month_name(date.month());
    t!("{day} {month} {year}", day = date.day(), month, year = date.year())
}

#[cfg(test)]
mod tests {
    use base::limits::MINUTE_MS;

    use super::*;

    #[test]
    fn zones_are_named_by_their_city_and_offset_and_each_place_once() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        for (name, label) in [
            ("Europe/Lisbon", "Lisbon, UTC+0"),
            ("America/New_York", "New York, UTC\u{2212}5"),
            ("Asia/Kathmandu", "Kathmandu, UTC+5:45"),
            ("America/Argentina/Buenos_Aires", "Buenos Aires, UTC\u{2212}3"),
            ("UTC", "UTC"),
        ] {
            assert_eq!(zone_label(name, now), label);
        }
        let chosen = "America/Buenos_Aires";
        let zones = zones(chosen, now);
        let same: Vec<&str> = zones
            .iter()
            .filter(|zone| zone.label.starts_with("Buenos Aires"))
            .map(|zone| zone.name.as_str())
            .collect();
        assert_eq!(same, [chosen]);
        assert!(zones.len() > 300);
        for old in ["Asia/Calcutta", "Europe/Kiev", "Asia/Saigon", "America/Indianapolis"] {
            assert!(!zones.iter().any(|zone| zone.name == old), "{old}");
        }
    }

    #[test]
    fn offsets_are_those_of_the_week_that_is_shown() {
        let berlin = calendar::zone_named("Europe/Berlin").expect("a zone");
        let label = |day| zone_label("Europe/Berlin", noon_of(day, &berlin));
        assert_eq!(label(Date::constant(2026, 10, 24)), "Berlin, UTC+2");
        assert_eq!(label(Date::constant(2026, 10, 26)), "Berlin, UTC+1");
    }

    #[test]
    fn full_days_stay_and_closed_ones_are_named_once() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let free = |text: &str| FreeTime {
            starts_at: at(text),
            ends_at: at(text) + 30 * MINUTE_MS,
            hosts: Vec::new(),
        };
        let day = |day| Date::constant(2026, 11, day);
        let shown = ShownTimes {
            free: vec![free("2026-11-17T09:00:00Z"), free("2026-11-20T09:00:00Z")],
            first: day(16),
            next: day(30),
            has_later: true,
            hosts: Vec::new(),
            open: [16, 17, 18, 20, 23, 24].map(day).into(),
            regular: [16, 17, 18, 19, 20, 23, 24, 25, 26, 27].map(day).into(),
            notice: 60,
            cancel_hours: 0,
        };
        let days = with_full_days(&shown, &TimeZone::UTC, None);
        let words: Vec<(&str, usize)> =
            days.iter().map(|day| (day.date.as_str(), day.times.len())).collect();
        let expected = [
            ("17 November", 1),
            ("18 November", 0),
            ("20 November", 1),
            ("23 November", 0),
            ("24 November", 0),
        ];
        assert_eq!(words, expected, "from the first free day on");
        // Both Thursdays are holidays, the second Wednesday and Friday are days off: none is closed.
        assert_eq!(hint(&shown), "Book at least an hour ahead. Saturdays and Sundays are closed.");
        let open = [16, 17, 18, 20, 21, 23, 24].map(day).into();
        let shown = ShownTimes { open, notice: 0, ..shown };
        assert_eq!(hint(&shown), "Sundays are closed.", "a Saturday is open this once");
        let shown = ShownTimes { cancel_hours: 24, ..shown };
        let words = "You can move or cancel until 24 hours before. Sundays are closed.";
        assert_eq!(hint(&shown), words);
    }

    #[test]
    fn what_the_clock_shows_where_the_hosts_are_is_said_where_it_differs() {
        let at: Timestamp = "2026-11-16T08:14:00Z".parse().unwrap();
        let in_zone = |name: &str| at.to_zoned(calendar::zone_named(name).unwrap());
        let words = |here: &str, there: &str| now_words(&in_zone(here), &in_zone(there), there);
        assert_eq!(words("Europe/Paris", "Europe/Berlin"), "It is 09:14 there now");
        assert_eq!(
            words("Europe/Lisbon", "Europe/Berlin"),
            "It is 08:14 there now, and 09:14 in Berlin, where they are"
        );
    }
}
