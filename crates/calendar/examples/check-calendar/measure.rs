//! How long it takes to read large and hostile feeds, and to find the slots of a month.

use std::fmt::Write;
use std::time::Instant;

use calendar::{
    BusyQuery, HostBooking, HostHours, HostMode, RoundRobinState, SlotHost, SlotQuery, SlotRules,
    TimeRange, busy_times, slots, zone_named,
};
use jiff::{SignedDuration, Timestamp};

use crate::Failure;

const REPEATS: usize = 11;

pub fn run() -> Result<(), Failure> {
    let zone = zone_named("Europe/Berlin").ok_or("unknown zone")?;
    let window = TimeRange::new("2026-11-16T00:00:00Z".parse()?, "2027-03-16T00:00:00Z".parse()?);
    let own = |_: &str| false;
    let query = BusyQuery {
        window,
        host_zone: &zone,
        host_addresses: &["host@feed.example"],
        is_own_uid: &own,
    };
    for (name, feed) in feeds() {
        let mut outcome = String::new();
        let took = median(|| {
            outcome = match busy_times(&feed, &query) {
                Ok(busy) => format!("{} intervals", busy.intervals.len()),
                Err(refused) => refused.to_string(),
            };
        });
        println!("{name}: {} KiB, {took:.1} ms, {outcome}", feed.len() / 1024);
    }
    let took = median(|| {
        month_of_slots(&zone).unwrap_or_default();
    });
    println!("slots of a month, 10 hosts, 5,000 bookings: {took:.2} ms");
    Ok(())
}

/// Milliseconds.
fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

fn feeds() -> Vec<(&'static str, Vec<u8>)> {
    let rules = [
        "FREQ=DAILY",
        "FREQ=WEEKLY;BYDAY=MO,WE,FR",
        "FREQ=MONTHLY;BYDAY=-1FR",
        "FREQ=YEARLY",
        "FREQ=DAILY;COUNT=9000",
        "FREQ=WEEKLY;COUNT=2000;BYDAY=TU,TH",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=400",
        "FREQ=YEARLY;BYDAY=20MO;COUNT=40",
    ];
    let mut deep = String::new();
    (0..100_000).for_each(|_| deep.push_str("BEGIN:X-DEEP\r\n"));
    let mut line = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:".to_vec();
    line.resize(10 * 1024 * 1024, b'9');
    line.extend_from_slice(b"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
    vec![
        ("2,000 series since 2005", feed(2_000, &rules)),
        ("every second", feed(1, &["FREQ=SECONDLY"])),
        (
            "every second on days that never come",
            feed(50, &["FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;COUNT=9"]),
        ),
        ("a billion occurrences", feed(1, &["FREQ=SECONDLY;COUNT=1000000000;BYSECOND=0,7"])),
        ("all hours, minutes and seconds", feed(2_000, &[&all_times()])),
        ("deep garbage", deep.into_bytes()),
        ("one line of 10 MiB", line),
        ("40,000 daily series", feed(40_000, &["FREQ=DAILY"])),
    ]
}

fn all_times() -> String {
    let list = |most: u32| (0..most).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    format!("FREQ=DAILY;BYHOUR={};BYMINUTE={};BYSECOND={}", list(24), list(60), list(60))
}

fn feed(events: usize, rules: &[&str]) -> Vec<u8> {
    let mut text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n".to_owned();
    for n in 0..events {
        let (day, hour, rule) = (n % 27 + 1, n % 20, rules[n % rules.len()]);
        let _ = write!(
            text,
            "BEGIN:VEVENT\r\nUID:{n}@feed.example\r\nSUMMARY:Event {n}\r\n\
             DTSTART;TZID=Europe/Berlin:200501{day:02}T{hour:02}0000\r\n\
             DTEND;TZID=Europe/Berlin:200501{day:02}T{hour:02}3000\r\n\
             RRULE:{rule}\r\nEXDATE;TZID=Europe/Berlin:20261201T{hour:02}0000\r\nEND:VEVENT\r\n"
        );
    }
    text.push_str("END:VCALENDAR\r\n");
    text.into_bytes()
}

fn month_of_slots(zone: &jiff::tz::TimeZone) -> Result<usize, Failure> {
    let weekly = "mon-fri 09:00-12:00,13:00-17:00".parse()?;
    let hours = HostHours::new(zone.clone(), weekly);
    let first: Timestamp = "2026-11-16T08:00:00Z".parse()?;
    let booking = |n: i64| {
        let start = first + SignedDuration::from_mins(n * 37);
        let range = TimeRange::new(start, start + SignedDuration::from_mins(30));
        HostBooking { range, padded: range, is_same_type: true }
    };
    let bookings: Vec<HostBooking> = (0..500).map(|n| booking(n * 2)).collect();
    let turns = RoundRobinState { weight: 1, given: 0, last_given: None };
    let host = || SlotHost { hours: &hours, busy: &[], bookings: &bookings, turns };
    let hosts: Vec<SlotHost<'_>> = (0..10).map(|_| host()).collect();
    let query = SlotQuery {
        window: TimeRange::new(first, first + SignedDuration::from_hours(24 * 31)),
        now: first,
        rules: SlotRules {
            length: 30,
            step: 15,
            before: 10,
            after: 10,
            notice: 60,
            horizon_days: Some(60),
            per_day: Some(20),
        },
        mode: HostMode::Any,
        hosts: &hosts,
        limit: usize::MAX,
    };
    Ok(slots(&query).map_err(|refused| format!("{refused:?}"))?.len())
}
