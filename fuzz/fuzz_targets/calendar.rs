//! Any bytes as a calendar: read as a feed, an invitation and a reply without a panic, within its
//! limits, and nothing outside the asked window comes out.
#![no_main]

use calendar::{BusyQuery, TimeRange, busy_times, read_invitation, read_reply, zone_named};
use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static BERLIN: LazyLock<TimeZone> = LazyLock::new(|| zone_named("Europe/Berlin").unwrap());

fuzz_target!(|raw: &[u8]| {
    let window = TimeRange::new(
        "2026-10-01T00:00:00Z".parse().unwrap(),
        "2027-04-15T00:00:00Z".parse().unwrap(),
    );
    let query = BusyQuery {
        window,
        host_zone: &BERLIN,
        host_addresses: &["host@feed.example"],
        is_own_uid: &|uid| uid.starts_with("bkg_"),
    };
    if let Ok(busy) = busy_times(raw, &query) {
        assert!(busy.intervals.iter().all(|interval| interval.range.overlaps(&window)));
    }
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    for event in read_invitation(raw).map(|read| read.events).unwrap_or_default() {
        assert!(event.summary.is_none_or(|text| !text.contains(control)));
        assert!(event.attendees.iter().all(|one| !one.email.contains(char::is_whitespace)));
    }
    let _ = read_reply(raw);
});
