//! Prints what the crate makes of calendars, for comparison with other programs.
//!
//!     cargo run -p mailroom-calendar --example check-calendar -- busy FROM TO ZONE ADDRESS FEED…
//!     … -- slots                 questions on standard input, one JSON object a line
//!     … -- invitation            one JSON object on standard input
//!     … -- measure               how long large feeds and months of slots take
//!
//! `busy` prints the name of each feed and a line for each busy interval, `slots` an array of
//! starts for each question, `invitation` the three calendars of a booking as a JSON object.
//! `scripts/conformance/calendar` compares them.

mod measure;

use std::io::Read;
use std::path::Path;

use calendar::{
    BookingFeed, BookingFeedEntry, BookingFeedStatus, BookingInvitation, BusyQuery, HostHours,
    HostMode, InvitationPerson, RoundRobinState, SlotHost, SlotQuery, SlotRules, TimeRange,
    booking_feed, busy_times, cancellation, clock_ranges, invitation, slots, zone_named,
};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Days of slots that are asked for at once.
const DAYS: i64 = 28;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["busy", from, to, zone, address, feeds @ ..] => {
            let window = TimeRange::new(from.parse()?, to.parse()?);
            feeds.iter().try_for_each(|feed| busy(window, zone, address, Path::new(feed)))
        }
        ["slots"] => standard_input()?.lines().try_for_each(|line| {
            println!("{}", json!(starts(&serde_json::from_str(line)?)?));
            Ok(())
        }),
        ["invitation"] => check_written(&serde_json::from_str(&standard_input()?)?),
        ["measure"] => measure::run(),
        _ => Err("Say busy, slots, invitation or measure.".into()),
    }
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn busy(window: TimeRange, zone: &str, address: &str, feed: &Path) -> Result<(), Failure> {
    let query = BusyQuery {
        window,
        host_zone: &zone_named(zone).ok_or("unknown zone")?,
        host_addresses: &[address],
        is_own_uid: &|_| false,
    };
    println!("# {}", feed.file_stem().unwrap_or_default().to_string_lossy());
    match busy_times(&std::fs::read(feed)?, &query) {
        Err(refused) => println!("{refused}"),
        Ok(busy) => busy.intervals.iter().for_each(|interval| {
            println!("{} {} {}", interval.range.start, interval.range.end, interval.uid);
        }),
    }
    Ok(())
}

/// The starts of a question, as `mailroom slots try` is asked.
fn starts(question: &Value) -> Result<Vec<String>, Failure> {
    let text = |name: &str| question[name].as_str().unwrap_or_default();
    let number = |name: &str| question[name].as_u64().unwrap_or_default() as u32;
    let zone = zone_named(text("zone")).ok_or("unknown zone")?;
    let mut hours = HostHours::new(zone.clone(), text("weekly").parse()?);
    for (date, ranges) in question["except"].as_object().into_iter().flatten() {
        hours.dates.insert(date.parse()?, clock_ranges(ranges.as_str().unwrap_or_default())?);
    }
    let busy: Vec<TimeRange> = serde_json::from_value(question["busy"].clone())?;
    let rules = SlotRules {
        length: number("minutes"),
        step: number("step"),
        before: number("before"),
        after: number("after"),
        notice: 0,
        horizon_days: None,
        per_day: None,
    };
    let turns = RoundRobinState { weight: 1, given: 0, last_given: None };
    let hosts = [SlotHost { hours: &hours, busy: &busy, bookings: &[], turns }];
    let last: Date = text("to").parse()?;
    let mut first: Date = text("from").parse()?;
    let mut starts = Vec::new();
    while first <= last {
        let next = first.saturating_add(DAYS.days()).min(last.saturating_add(1.day()));
        let midnight = |date: Date| zone.to_ambiguous_timestamp(date.at(0, 0, 0, 0)).compatible();
        // In parts, because an answer has a limit.
        let mut window = TimeRange::new(midnight(first)?, midnight(next)?);
        loop {
            let query = SlotQuery {
                window,
                now: Timestamp::MIN,
                rules,
                mode: HostMode::Any,
                hosts: &hosts,
                limit: usize::MAX,
            };
            let found = slots(&query).map_err(|refused| format!("{refused:?}"))?;
            let Some(last) = found.last() else { break };
            window.start = last.range.start.saturating_add(1.second())?;
            starts.extend(found.iter().map(|slot| slot.range.start.to_string()));
        }
        first = next;
    }
    Ok(starts)
}

fn check_written(booking: &Value) -> Result<(), Failure> {
    let text = |name: &str| booking[name].as_str().unwrap_or_default();
    let range = TimeRange::new(text("start").parse()?, text("end").parse()?);
    let stamp = text("stamp").parse()?;
    let sequence = booking["sequence"].as_u64().unwrap_or_default() as u32;
    let asked = BookingInvitation {
        uid: text("uid"),
        sequence,
        stamp,
        range,
        summary: text("summary"),
        location: Some(text("location")),
        description: Some(text("description")),
        url: Some(text("url")),
        organizer: InvitationPerson { name: Some(text("organizer")), email: text("from") },
        attendees: &[
            InvitationPerson { name: Some(text("guest")), email: text("to") },
            InvitationPerson { name: Some(text("host")), email: text("hostAddress") },
        ],
    };
    let entry = BookingFeedEntry {
        uid: asked.uid,
        sequence,
        stamp,
        range,
        status: BookingFeedStatus::Held,
        summary: asked.summary,
        location: asked.location,
        description: asked.description,
        url: asked.url,
    };
    let feed = BookingFeed { name: text("summary"), refresh_minutes: 15, entries: &[entry] };
    println!(
        "{}",
        json!({
            "invitation": invitation(&asked),
            "cancellation": cancellation(&asked),
            "feed": booking_feed(&feed),
        })
    );
    Ok(())
}
