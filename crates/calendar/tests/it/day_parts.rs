//! The parts of a host's day that explain what is offered and what is not.

use calendar::{
    DayPartKind, HostBooking, HostHours, HostMode, RoundRobinState, SlotHost, SlotQuery, SlotRules,
    TimeRange, day_parts, slots, zone_named,
};
use jiff::Timestamp;
use jiff::civil::Date;

const RULES: SlotRules = SlotRules {
    length: 30,
    step: 30,
    before: 0,
    after: 10,
    notice: 0,
    horizon_days: None,
    per_day: None,
};
const MONDAY: Date = Date::constant(2026, 11, 16);

fn at(clock: &str) -> Timestamp {
    format!("2026-11-16T{clock}:00+01:00").parse().unwrap()
}

fn range(start: &str, end: &str) -> TimeRange {
    TimeRange::new(at(start), at(end))
}

fn berlin(weekly: &str) -> HostHours {
    HostHours::new(zone_named("Europe/Berlin").unwrap(), weekly.parse().unwrap())
}

fn host(hours: &HostHours) -> SlotHost<'_> {
    let turns = RoundRobinState { weight: 1, given: 0, last_given: None };
    SlotHost { hours, busy: &[], bookings: &[], turns }
}

fn query<'a>(hosts: &'a [SlotHost<'a>], rules: SlotRules, now: Timestamp) -> SlotQuery<'a> {
    let window = range("00:00", "23:59");
    SlotQuery { window, now, rules, mode: HostMode::Any, hosts, limit: usize::MAX }
}

/// The parts as `09:00-09:30 Offered`.
fn parts(query: &SlotQuery<'_>) -> Vec<String> {
    let berlin = zone_named("Europe/Berlin").unwrap();
    let clock = |at: Timestamp| berlin.to_datetime(at).strftime("%H:%M").to_string();
    let parts = day_parts(query, 0, MONDAY).unwrap();
    let words = parts.iter().map(|part| {
        format!("{}-{} {:?}", clock(part.range.start), clock(part.range.end), part.kind)
    });
    words.collect()
}

#[test]
fn a_day_is_divided_into_what_is_offered_and_what_takes_the_rest() {
    let hours = berlin("mon 09:00-12:00,13:00-15:00");
    let busy = [range("13:40", "14:30")];
    let booking = HostBooking {
        range: range("10:00", "10:30"),
        padded: range("10:00", "10:40"),
        is_same_type: true,
    };
    let hosts = [SlotHost { busy: &busy, bookings: &[booking], ..host(&hours) }];
    let asked = query(&hosts, SlotRules { notice: 45, ..RULES }, at("08:30"));
    let expected = [
        "08:00-09:00 Closed",
        "09:00-09:15 Notice",
        "09:15-10:00 TooShort",
        "10:00-10:40 Booking",
        "10:40-11:00 TooShort",
        "11:00-12:00 Offered",
        "12:00-13:00 Closed",
        "13:00-13:30 Offered",
        "13:30-13:40 TooShort",
        "13:40-14:30 Busy",
        "14:30-15:00 Offered",
        "15:00-16:00 Closed",
    ];
    assert_eq!(parts(&asked), expected);
}

#[test]
fn what_is_offered_is_what_can_be_booked() {
    let hours = berlin("mon 08:00-18:00");
    for minute in 0..60 {
        let (start, end) = (format!("10:{minute:02}"), format!("12:{minute:02}"));
        let busy = [range(&start, &end)];
        let hosts = [SlotHost { busy: &busy, ..host(&hours) }];
        let asked = query(&hosts, RULES, at("00:00"));
        let offered: Vec<TimeRange> = day_parts(&asked, 0, MONDAY)
            .unwrap()
            .into_iter()
            .filter(|part| part.kind == DayPartKind::Offered)
            .map(|part| part.range)
            .collect();
        for slot in slots(&asked).unwrap() {
            assert!(offered.iter().any(|part| part.contains(&slot.range)), "{start}: {slot:?}");
        }
    }
}

#[test]
fn a_day_without_hours_has_no_parts_and_a_full_or_far_one_says_so() {
    let hours = berlin("mon 09:00-10:00");
    let booking = HostBooking {
        range: range("09:00", "09:30"),
        padded: range("09:00", "09:30"),
        is_same_type: true,
    };
    let hosts = [SlotHost { bookings: &[booking], ..host(&hours) }];
    let now = at("00:00");
    let full = query(&hosts, SlotRules { per_day: Some(1), ..RULES }, now);
    let expected = [
        "08:00-09:00 Closed",
        "09:00-09:30 Booking",
        "09:30-10:00 DailyLimit",
        "10:00-11:00 Closed",
    ];
    assert_eq!(parts(&full), expected);
    let week_before = now - jiff::SignedDuration::from_hours(7 * 24);
    let far = query(&hosts, SlotRules { horizon_days: Some(3), ..RULES }, week_before);
    assert_eq!(parts(&far)[1], "09:00-10:00 Horizon");
    let closed = berlin("tue 09:00-10:00");
    let hosts = [host(&closed)];
    assert_eq!(parts(&query(&hosts, RULES, now)), [""; 0]);
    assert_eq!(day_parts(&query(&hosts, RULES, now), 1, MONDAY), Ok(Vec::new()), "no such host");
}
