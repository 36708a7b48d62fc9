//! Each feed of the folder beside its busy list, which another library made of it
//! (`scripts/conformance/calendar/expansion.py`).

use std::fs;
use std::path::{Path, PathBuf};

use calendar::{BusyQuery, BusyTimes, FeedError, TimeRange, busy_times, zone_named};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/feeds")
}

fn window() -> TimeRange {
    TimeRange::new("2026-10-01T00:00:00Z".parse().unwrap(), "2027-04-15T00:00:00Z".parse().unwrap())
}

fn busy(feed: &[u8], window: TimeRange) -> Result<BusyTimes, FeedError> {
    let query = BusyQuery {
        window,
        host_zone: &zone_named("Europe/Berlin").unwrap(),
        host_addresses: &["host@feed.example"],
        is_own_uid: &|uid| uid.starts_with("bkg_"),
    };
    busy_times(feed, &query)
}

fn lines(feed: &[u8], window: TimeRange) -> Vec<String> {
    let intervals = busy(feed, window).unwrap().intervals;
    intervals.iter().map(|i| format!("{} {} {}", i.range.start, i.range.end, i.uid)).collect()
}

fn feeds() -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|e| e == "ics")).collect()
}

#[test]
fn every_feed_is_busy_when_another_library_finds_it_busy() {
    let feeds = feeds();
    assert!(feeds.len() >= 100, "only {} feeds were found", feeds.len());
    for path in feeds {
        let expected = fs::read_to_string(path.with_extension("busy")).unwrap();
        let expected: Vec<&str> = expected.lines().collect();
        let feed = fs::read(&path).unwrap();
        assert_eq!(lines(&feed, window()), expected, "{}", path.display());
    }
}

#[test]
fn a_short_window_has_the_part_of_a_long_one_that_is_in_it() {
    for path in feeds() {
        let feed = fs::read(&path).unwrap();
        let all = busy(&feed, window()).unwrap().intervals;
        for (from, to) in [
            ("2026-10-24T22:00:00Z", "2026-10-26T00:00:00Z"),
            ("2026-11-06T10:15:00Z", "2026-11-06T10:16:00Z"),
            ("2027-03-27T00:00:00Z", "2027-04-04T00:00:00Z"),
        ] {
            let part = TimeRange::new(from.parse().unwrap(), to.parse().unwrap());
            let expected: Vec<_> =
                all.iter().filter(|i| i.range.overlaps(&part)).cloned().collect();
            assert_eq!(busy(&feed, part).unwrap().intervals, expected, "{}", path.display());
        }
    }
}

fn calendar(events: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n")
}

fn event(lines: &str) -> String {
    calendar(&format!("BEGIN:VEVENT\r\nUID:a\r\n{lines}\r\nEND:VEVENT\r\n"))
}

#[test]
fn our_own_bookings_are_not_busy_a_second_time() {
    let feed = event("DTSTART:20261105T090000Z\r\nDURATION:PT1H").replace("UID:a", "UID:bkg_1@x");
    assert_eq!(lines(feed.as_bytes(), window()), [""; 0]);
}

#[test]
fn busy_periods_are_busy_and_free_ones_are_not() {
    let feed = calendar(
        "BEGIN:VFREEBUSY\r\nUID:fb\r\n\
         FREEBUSY;FBTYPE=BUSY:20261105T090000Z/20261105T100000Z,20261106T090000Z/PT30M\r\n\
         FREEBUSY;FBTYPE=FREE:20261107T090000Z/PT30M\r\n\
         FREEBUSY:20261108T090000Z/PT30M\r\n\
         END:VFREEBUSY\r\n",
    );
    assert_eq!(
        lines(feed.as_bytes(), window()),
        [
            "2026-11-05T09:00:00Z 2026-11-05T10:00:00Z fb",
            "2026-11-06T09:00:00Z 2026-11-06T09:30:00Z fb",
            "2026-11-08T09:00:00Z 2026-11-08T09:30:00Z fb",
        ]
    );
}

#[test]
fn an_unknown_zone_without_a_description_is_the_hosts() {
    let feed = event("DTSTART;TZID=Nowhere:20261105T090000\r\nDURATION:PT1H");
    assert_eq!(lines(feed.as_bytes(), window()), ["2026-11-05T08:00:00Z 2026-11-05T09:00:00Z a"]);
}

#[test]
fn events_without_a_start_are_counted_and_the_others_are_read() {
    let feed = calendar(
        "BEGIN:VEVENT\r\nUID:a\r\nDTSTART:soon\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:b\r\nDTSTART:20261105T090000Z\r\nDURATION:PT1H\r\nEND:VEVENT\r\n",
    );
    let busy = busy(feed.as_bytes(), window()).unwrap();
    assert_eq!((busy.intervals.len(), busy.skipped), (1, 1));
}

#[test]
fn an_event_that_was_not_closed_is_still_an_event() {
    let feed = calendar(
        "BEGIN:VEVENT\r\nUID:a\r\nDTSTART:20261105T090000Z\r\nDURATION:PT1H\r\n\
         BEGIN:VALARM\r\nTRIGGER:-PT5M\r\nDURATION:PT9H\r\n\
         BEGIN:VEVENT\r\nUID:b\r\nDTSTART:20261106T090000Z\r\nDURATION:PT1H\r\n",
    );
    assert_eq!(lines(feed.as_bytes(), window()).len(), 2);
}

#[test]
fn objects_of_a_calendar_one_after_another_are_one_calendar() {
    let one = event("DTSTART:20261105T090000Z\r\nDURATION:PT1H");
    let two = event("DTSTART:20261106T090000Z\r\nDURATION:PT1H").replace("UID:a", "UID:b");
    assert_eq!(lines(format!("{one}{two}").as_bytes(), window()).len(), 2);
}

#[test]
fn a_calendar_that_ends_in_the_middle_is_refused() {
    let feed = event("DTSTART:20261105T090000Z\r\nDURATION:PT1H");
    let cut = &feed[..feed.len() - 20];
    assert_eq!(busy(cut.as_bytes(), window()), Err(FeedError::Truncated));
}

#[test]
fn what_is_no_calendar_is_refused() {
    for text in ["", "<html>Sign in</html>", "BEGIN:VCARD\r\nEND:VCARD\r\n"] {
        assert_eq!(busy(text.as_bytes(), window()), Err(FeedError::NotCalendar), "{text}");
    }
}
