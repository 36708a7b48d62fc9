//! Which times are offered, to whom they go, and why others are not.

use calendar::{
    HostBooking, HostHours, HostMode, RoundRobinState, SlotError, SlotHost, SlotObstacle,
    SlotQuery, SlotRules, TimeRange, TimeSlot, order_of_turns, slot_at, slot_report, slots,
    turns_of_new_host, zone_named,
};
use jiff::civil::date;
use jiff::{SignedDuration, Timestamp};

const RULES: SlotRules = SlotRules {
    length: 30,
    step: 30,
    before: 0,
    after: 0,
    notice: 0,
    horizon_days: None,
    per_day: None,
};
const FRESH: RoundRobinState = RoundRobinState { weight: 1, given: 0, last_given: None };

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn range(start: &str, end: &str) -> TimeRange {
    TimeRange::new(at(start), at(end))
}

fn berlin(weekly: &str) -> HostHours {
    HostHours::new(zone_named("Europe/Berlin").unwrap(), weekly.parse().unwrap())
}

fn host(hours: &HostHours) -> SlotHost<'_> {
    SlotHost { hours, busy: &[], bookings: &[], turns: FRESH }
}

fn booking(start: &str, end: &str) -> HostBooking {
    HostBooking { range: range(start, end), padded: range(start, end), is_same_type: true }
}

/// Monday 16 November 2026 in Berlin, asked long before.
fn monday<'a>(hosts: &'a [SlotHost<'a>], rules: SlotRules) -> SlotQuery<'a> {
    SlotQuery {
        window: range("2026-11-15T23:00:00Z", "2026-11-16T23:00:00Z"),
        now: at("2026-11-01T00:00:00Z"),
        rules,
        mode: HostMode::Any,
        hosts,
        limit: usize::MAX,
    }
}

/// Starts in Berlin, as hours and minutes.
fn clock(slots: &[TimeSlot]) -> Vec<String> {
    let berlin = zone_named("Europe/Berlin").unwrap();
    let local = |slot: &TimeSlot| berlin.to_datetime(slot.range.start);
    slots.iter().map(|slot| local(slot).strftime("%H:%M").to_string()).collect()
}

fn offered(query: &SlotQuery<'_>) -> Vec<String> {
    clock(&slots(query).unwrap())
}

#[test]
fn slots_fill_the_hours_and_respect_the_break() {
    let hours = berlin("mon-fri 09:00-10:30,13:00-14:00");
    let hosts = [host(&hours)];
    assert_eq!(offered(&monday(&hosts, RULES)), ["09:00", "09:30", "10:00", "13:00", "13:30"]);
    let long = SlotRules { length: 60, ..RULES };
    assert_eq!(offered(&monday(&hosts, long)), ["09:00", "09:30", "13:00"]);
}

#[test]
fn a_busy_time_takes_every_slot_that_it_overlaps_and_none_that_it_touches() {
    let hours = berlin("mon 09:00-11:00");
    let busy = [range("2026-11-16T08:40:00Z", "2026-11-16T09:30:00Z")];
    let hosts = [SlotHost { busy: &busy, ..host(&hours) }];
    assert_eq!(offered(&monday(&hosts, RULES)), ["09:00", "10:30"]);
}

#[test]
fn a_busy_time_inside_a_longer_slot_takes_it() {
    let hours = berlin("mon 09:00-11:00");
    let busy = [range("2026-11-16T08:20:00Z", "2026-11-16T08:25:00Z")];
    let hosts = [SlotHost { busy: &busy, ..host(&hours) }];
    let long = SlotRules { length: 60, step: 60, ..RULES };
    assert_eq!(offered(&monday(&hosts, long)), ["10:00"]);
}

#[test]
fn buffers_of_the_slot_and_of_the_booking_add_up() {
    let hours = berlin("mon 09:00-13:00");
    let taken = HostBooking {
        padded: range("2026-11-16T09:15:00Z", "2026-11-16T10:45:00Z"),
        ..booking("2026-11-16T09:30:00Z", "2026-11-16T10:30:00Z")
    };
    let bookings = [taken];
    let hosts = [SlotHost { bookings: &bookings, ..host(&hours) }];
    let rules = SlotRules { before: 15, after: 15, ..RULES };
    // 09:30 would need the time until 10:15, when the booking's own buffer begins.
    assert_eq!(offered(&monday(&hosts, rules)), ["09:00", "09:30", "12:00", "12:30"]);
    let wide = SlotRules { before: 16, after: 16, ..RULES };
    assert_eq!(offered(&monday(&hosts, wide)), ["09:00", "12:30"]);
}

#[test]
fn buffers_may_reach_out_of_the_hours() {
    let hours = berlin("mon 09:00-10:00");
    let hosts = [host(&hours)];
    let rules = SlotRules { before: 60, after: 60, ..RULES };
    assert_eq!(offered(&monday(&hosts, rules)), ["09:00", "09:30"]);
}

#[test]
fn notice_and_horizon_bound_the_offer() {
    let hours = berlin("mon-sun 09:00-10:00");
    let hosts = [host(&hours)];
    let query = SlotQuery {
        window: range("2026-11-15T23:00:00Z", "2026-11-20T23:00:00Z"),
        now: at("2026-11-16T08:00:00Z"),
        ..monday(&hosts, SlotRules { notice: 30, horizon_days: Some(2), ..RULES })
    };
    assert_eq!(offered(&query), ["09:30", "09:00", "09:30", "09:00", "09:30"]);
}

#[test]
fn the_day_of_the_clock_change_and_the_days_after_keep_their_hours() {
    let hours = berlin("mon-sun 09:00-10:00");
    let hosts = [host(&hours)];
    let query = SlotQuery {
        window: range("2026-10-23T22:00:00Z", "2026-10-27T23:00:00Z"),
        now: at("2026-10-23T08:30:00Z"),
        ..monday(&hosts, SlotRules { length: 60, step: 60, notice: 1_440, ..RULES })
    };
    assert_eq!(offered(&query), ["09:00"; 3]);
}

#[test]
fn a_day_of_thirteen_hours_on_the_clock_that_goes_back_has_fourteen_to_book() {
    let hours = berlin("sun 00:00-13:00");
    let hosts = [host(&hours)];
    let query = SlotQuery {
        window: range("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        now: at("2026-10-01T00:00:00Z"),
        ..monday(&hosts, SlotRules { length: 60, step: 60, ..RULES })
    };
    assert_eq!(slots(&query).unwrap().len(), 14);
}

#[test]
fn a_full_day_offers_nothing_more() {
    let hours = berlin("mon-tue 09:00-10:30");
    let other_type = HostBooking {
        is_same_type: false,
        ..booking("2026-11-16T06:00:00Z", "2026-11-16T07:00:00Z")
    };
    let bookings = [booking("2026-11-16T08:00:00Z", "2026-11-16T08:30:00Z"), other_type];
    let hosts = [SlotHost { bookings: &bookings, ..host(&hours) }];
    let two_days = |per_day| SlotQuery {
        window: range("2026-11-15T23:00:00Z", "2026-11-17T23:00:00Z"),
        ..monday(&hosts, SlotRules { per_day: Some(per_day), ..RULES })
    };
    assert_eq!(offered(&two_days(1)), ["09:00", "09:30", "10:00"]);
    assert_eq!(offered(&two_days(2)), ["09:30", "10:00", "09:00", "09:30", "10:00"]);
}

#[test]
fn any_host_is_offered_in_the_order_of_their_turns() {
    let (early, late) = (berlin("mon 09:00-10:00"), berlin("mon 09:30-10:30"));
    let often = RoundRobinState { given: 3, ..FRESH };
    let hosts = [SlotHost { turns: often, ..host(&early) }, host(&late)];
    let found = slots(&monday(&hosts, RULES)).unwrap();
    assert_eq!(clock(&found), ["09:00", "09:30", "10:00"]);
    let who: Vec<&[usize]> = found.iter().map(|slot| slot.hosts.as_slice()).collect();
    assert_eq!(who, [&[0][..], &[1, 0], &[1]]);
}

#[test]
fn hosts_together_are_offered_when_all_are_free() {
    let early = berlin("mon 09:00-11:00");
    let lisbon =
        HostHours::new(zone_named("Europe/Lisbon").unwrap(), "mon 08:30-12:00".parse().unwrap());
    let busy = [range("2026-11-16T09:00:00Z", "2026-11-16T09:10:00Z")];
    let hosts = [host(&early), SlotHost { busy: &busy, ..host(&lisbon) }];
    let query = SlotQuery { mode: HostMode::Together, ..monday(&hosts, RULES) };
    let found = slots(&query).unwrap();
    assert_eq!(clock(&found), ["09:30", "10:30"]);
    assert!(found.iter().all(|slot| slot.hosts == [0, 1]));
}

#[test]
fn turns_go_by_weight_then_by_waiting_and_a_newcomer_is_not_flooded() {
    let given = |given, weight, last: Option<&str>| RoundRobinState {
        weight,
        given,
        last_given: last.map(at),
    };
    let hosts = [
        given(4, 1, Some("2026-11-03T00:00:00Z")),
        given(6, 2, Some("2026-11-02T00:00:00Z")),
        given(3, 1, Some("2026-11-01T00:00:00Z")),
        given(0, 0, None),
        given(3, 1, None),
    ];
    assert_eq!(order_of_turns(&hosts), [4, 2, 1, 0, 3]);
    assert_eq!(turns_of_new_host(&hosts, 2), 6);
    assert_eq!(turns_of_new_host(&[], 1), 0);
}

#[test]
fn a_slot_is_found_by_its_start_and_only_if_it_is_offered() {
    let hours = berlin("mon 09:00-10:00");
    let bookings = [booking("2026-11-16T08:30:00Z", "2026-11-16T09:00:00Z")];
    let hosts = [SlotHost { bookings: &bookings, ..host(&hours) }];
    let query = monday(&hosts, RULES);
    let found = |start| slot_at(&query, at(start)).unwrap().is_some();
    assert!(found("2026-11-16T08:00:00Z"));
    assert!(!found("2026-11-16T08:30:00Z"), "taken");
    assert!(!found("2026-11-16T08:10:00Z"), "no start of the grid");
    assert!(!found("2026-11-16T12:00:00Z"), "outside the hours");
}

#[test]
fn what_is_asked_does_not_change_what_is_offered() {
    let hours = berlin("mon-sun 00:10-23:50");
    let hosts = [host(&hours)];
    let rules = SlotRules { length: 25, step: 35, ..RULES };
    let whole = slots(&monday(&hosts, rules)).unwrap();
    for hour in 0..23 {
        let start = at("2026-11-15T23:07:00Z") + SignedDuration::from_hours(hour);
        let end = start + SignedDuration::from_hours(1);
        let window = TimeRange::new(start, end);
        let part = slots(&SlotQuery { window, ..monday(&hosts, rules) }).unwrap();
        let expected: Vec<TimeSlot> =
            whole.iter().filter(|slot| (start..end).contains(&slot.range.start)).cloned().collect();
        assert_eq!(part, expected);
    }
}

#[test]
fn a_report_says_for_each_start_why_it_is_not_offered() {
    let mut hours = berlin("mon-tue 09:00-11:00");
    hours.holidays.insert(date(2026, 11, 17));
    let busy = [range("2026-11-16T09:00:00Z", "2026-11-16T09:10:00Z")];
    let bookings = [booking("2026-11-16T08:30:00Z", "2026-11-16T09:00:00Z")];
    let hosts = [SlotHost { busy: &busy, bookings: &bookings, ..host(&hours) }];
    let query = SlotQuery {
        window: range("2026-11-15T23:00:00Z", "2026-11-17T23:00:00Z"),
        now: at("2026-11-16T08:00:00Z"),
        ..monday(&hosts, SlotRules { notice: 10, ..RULES })
    };
    let report = slot_report(&query).unwrap();
    assert_eq!(report.len(), 2);
    let why: Vec<Option<SlotObstacle>> = report[0].starts.iter().map(|(_, why)| *why).collect();
    let expected =
        [Some(SlotObstacle::Notice), Some(SlotObstacle::Booking), Some(SlotObstacle::Busy), None];
    assert_eq!(why, expected);
    assert_eq!((report[1].date, report[1].hours.len()), (date(2026, 11, 17), 0));
}

#[test]
fn questions_beyond_the_limits_are_refused_and_answers_are_cut() {
    let hours = berlin("mon-sun 00:00-24:00");
    let hosts = [host(&hours)];
    let long = range("2026-11-15T23:00:00Z", "2026-12-18T23:00:00Z");
    let refused = |query: SlotQuery<'_>| slots(&query).err();
    let query = || monday(&hosts, RULES);
    assert_eq!(refused(SlotQuery { window: long, ..query() }), Some(SlotError::TooManyDays));
    let rules = SlotRules { step: 0, ..RULES };
    assert_eq!(refused(SlotQuery { rules, ..query() }), Some(SlotError::Rules));
    let many: Vec<SlotHost<'_>> = (0..51).map(|_| host(&hours)).collect();
    assert_eq!(refused(SlotQuery { hosts: &many, ..query() }), Some(SlotError::TooManyHosts));
    let month = range("2026-11-15T23:00:00Z", "2026-12-16T23:00:00Z");
    let rules = SlotRules { length: 1, step: 1, ..RULES };
    let answer = slots(&SlotQuery { window: month, rules, ..query() }).unwrap();
    assert_eq!(answer.len(), 500);
    assert_eq!(slots(&SlotQuery { limit: 3, ..query() }).unwrap().len(), 3);
}
