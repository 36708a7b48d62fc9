//! Feeds that want to cost time or memory.

use std::time::{Duration, Instant};

use calendar::{BusyQuery, BusyTimes, FeedError, TimeRange, busy_times, limits, zone_named};

/// Generous, because tests run unoptimised and beside others.
const PATIENCE: Duration = Duration::from_secs(60);

fn busy(feed: &[u8]) -> Result<BusyTimes, FeedError> {
    let query = BusyQuery {
        window: TimeRange::new(
            "2026-11-01T00:00:00Z".parse().unwrap(),
            "2027-11-01T00:00:00Z".parse().unwrap(),
        ),
        host_zone: &zone_named("Europe/Berlin").unwrap(),
        host_addresses: &[],
        is_own_uid: &|_| false,
    };
    let began = Instant::now();
    let busy = busy_times(feed, &query);
    assert!(began.elapsed() < PATIENCE, "took {:?}", began.elapsed());
    busy
}

fn feed(events: usize, rule: &str) -> Vec<u8> {
    let event = |n: usize| {
        format!(
            "BEGIN:VEVENT\r\nUID:{n}\r\nDTSTART:20050101T090000Z\r\nDURATION:PT1H\r\n\
             RRULE:{rule}\r\nEND:VEVENT\r\n"
        )
    };
    let events: String = (0..events).map(event).collect();
    format!("BEGIN:VCALENDAR\r\n{events}END:VCALENDAR\r\n").into_bytes()
}

#[test]
fn a_large_feed_with_series_since_2005_is_read() {
    let found = busy(&feed(2_000, "FREQ=WEEKLY;COUNT=5000;BYDAY=MO")).unwrap();
    assert_eq!(found.intervals.len(), 2_000 * 52);
}

#[test]
fn events_that_repeat_too_often_are_refused() {
    let all = |most: u32| (0..most).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let every_time =
        format!("FREQ=DAILY;BYHOUR={};BYMINUTE={};BYSECOND={}", all(24), all(60), all(60));
    for rule in ["FREQ=SECONDLY", "FREQ=SECONDLY;COUNT=1000000000;BYSECOND=0,7", &every_time] {
        assert_eq!(busy(&feed(3, rule)), Err(FeedError::TooMuchWork), "{rule}");
    }
}

#[test]
fn days_that_never_come_end_and_cost_little() {
    for rule in [
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;COUNT=9",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=10000000",
    ] {
        assert_eq!(busy(&feed(50, rule)).unwrap().intervals, [], "{rule}");
    }
}

#[test]
fn too_many_events_are_refused() {
    let events = feed(limits::FEED_EVENTS + 1, "FREQ=YEARLY;COUNT=1");
    assert_eq!(busy(&events), Err(FeedError::TooManyEvents));
}

#[test]
fn too_many_bytes_and_too_deep_components_are_refused() {
    assert_eq!(busy(&vec![b'A'; limits::FEED_BYTES + 1]), Err(FeedError::TooLarge));
    let deep = "BEGIN:X\r\n".repeat(100_000);
    assert_eq!(busy(deep.as_bytes()), Err(FeedError::TooDeep));
}

#[test]
fn one_line_of_ten_megabytes_is_skipped() {
    let mut bytes = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:".to_vec();
    bytes.resize(10 * 1024 * 1024, b'9');
    bytes.extend_from_slice(b"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
    assert_eq!(busy(&bytes), Ok(BusyTimes { intervals: Vec::new(), skipped: 1 }));
}

#[test]
fn a_described_zone_that_changes_every_second_is_no_zone() {
    let observance = "BEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\n\
                      TZOFFSETTO:+0200\r\nRRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\n";
    let feed = format!(
        "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Odd\r\n{}END:VTIMEZONE\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nDTSTART;TZID=Odd:20261105T090000\r\nDURATION:PT1H\r\nEND:VEVENT\r\n\
         END:VCALENDAR\r\n",
        observance.repeat(50)
    );
    let found = busy(feed.as_bytes()).unwrap();
    assert_eq!(found.intervals[0].range.start, "2026-11-05T08:00:00Z".parse().unwrap());
}

#[test]
fn many_versions_of_one_event_cost_no_more_than_many_events() {
    let mut text = String::from("BEGIN:VCALENDAR\r\n");
    for n in 0..20_000 {
        let (day, hour, minute) = (n % 28 + 1, n / 60 % 24, n % 60);
        let change = format!("RECURRENCE-ID:202612{day:02}T{hour:02}{minute:02}00Z\r\n");
        text.push_str(&format!(
            "BEGIN:VEVENT\r\nUID:a\r\n{}DTSTART:20050101T090000Z\r\nDURATION:PT1H\r\n\
             RRULE:FREQ=YEARLY\r\nEND:VEVENT\r\n",
            if n % 2 == 0 { "" } else { &change }
        ));
    }
    text.push_str("END:VCALENDAR\r\n");
    assert!(busy(text.as_bytes()).is_ok());
}
