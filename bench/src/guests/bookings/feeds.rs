//! How long it takes to read a host's calendar, and the memory it takes: a large one, and hostile ones.

use std::fmt::Write;
use std::time::Instant;

use base::time::{Clock, SystemClock};
use bookings::calendars::busy_ranges;
use serde_json::json;

use crate::report::{Goal, Wanted, round};

const REPEATS: usize = 5;
const SECOND_MS: f64 = 1_000.0;
/// The memory that reading one feed may take; a feed has at most 16 MB.
const MEMORY_MB: f64 = 128.0;
const LONG_LINE_BYTES: usize = 10 * 1024 * 1024;

/// Rules of series that began in 2005.
const RULES: [&str; 8] = [
    "FREQ=DAILY",
    "FREQ=WEEKLY;BYDAY=MO,WE,FR",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=YEARLY",
    "FREQ=DAILY;COUNT=9000",
    "FREQ=WEEKLY;COUNT=2000;BYDAY=TU,TH",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=400",
    "FREQ=YEARLY;BYDAY=20MO;COUNT=40",
];

struct Feed {
    name: &'static str,
    text: Vec<u8>,
    /// Whether it is taken: a hostile one is refused, or what is hostile in it is skipped.
    is_taken: bool,
}

pub fn measure() -> Result<Vec<Goal>, String> {
    let mut goals = Vec::new();
    for feed in feeds() {
        let (ms, mb) = read(&feed)?;
        println!(
            "{}",
            json!({
                "figure": "read-feed", "feed": feed.name, "kb": feed.text.len() / 1024,
                "taken": feed.is_taken, "ms": round(ms), "mb": round(mb),
            })
        );
        let goal = |what: &str, value, most| Goal {
            what: format!("{what} to read {}", feed.name),
            value,
            wanted: Wanted::AtMost(most),
        };
        goals.push(goal("ms", ms, SECOND_MS));
        goals.push(goal("MB", mb, MEMORY_MB));
    }
    Ok(goals)
}

/// The median time in milliseconds, and the most memory in MB beyond what was in use before.
fn read(feed: &Feed) -> Result<(f64, f64), String> {
    let mut times = Vec::new();
    let before = forget_peak()?;
    for _ in 0..REPEATS {
        let began = Instant::now();
        let now = SystemClock.now();
        let found = busy_ranges(
            &feed.text,
            "Europe/Berlin",
            "host@bench.example",
            "https://bench.example",
            now,
        );
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
        if found.is_ok() != feed.is_taken {
            return Err(format!("{}: {found:?}", feed.name));
        }
    }
    Ok((crate::run::median(times), (status_mb("VmHWM:")? - before).max(0.0)))
}

/// Has the system count the most memory anew; answers what is in use now, in MB.
fn forget_peak() -> Result<f64, String> {
    std::fs::write("/proc/self/clear_refs", "5").map_err(|error| error.to_string())?;
    status_mb("VmRSS:")
}

fn status_mb(name: &str) -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    Ok(kib.ok_or("the system does not tell the memory")? * 1_024.0 / 1e6)
}

fn feeds() -> Vec<Feed> {
    let mut line = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:".to_vec();
    line.resize(LONG_LINE_BYTES, b'9');
    line.extend_from_slice(b"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
    vec![
        Feed { name: "2,000 series since 2005", text: series(2_000, &RULES), is_taken: true },
        Feed {
            name: "an event of every second",
            text: series(1, &["FREQ=SECONDLY"]),
            is_taken: false,
        },
        Feed { name: "a line of 10 MB", text: line, is_taken: true },
        Feed { name: "20 MB", text: vec![b'A'; 2 * LONG_LINE_BYTES], is_taken: false },
        Feed {
            name: "100,000 components in one another",
            text: "BEGIN:X\r\n".repeat(100_000).into_bytes(),
            is_taken: false,
        },
    ]
}

/// Half an hour each, on 20 starts of the day.
fn series(events: usize, rules: &[&str]) -> Vec<u8> {
    let mut text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n".to_owned();
    for n in 0..events {
        let (day, hour, rule) = (n % 27 + 1, n % 20, rules[n % rules.len()]);
        let _ = write!(
            text,
            "BEGIN:VEVENT\r\nUID:{n}@bench.example\r\nSUMMARY:Event {n}\r\n\
             DTSTART;TZID=Europe/Berlin:200501{day:02}T{hour:02}0000\r\n\
             DTEND;TZID=Europe/Berlin:200501{day:02}T{hour:02}3000\r\n\
             RRULE:{rule}\r\nEXDATE;TZID=Europe/Berlin:20261201T{hour:02}0000\r\nEND:VEVENT\r\n"
        );
    }
    text.push_str("END:VCALENDAR\r\n");
    text.into_bytes()
}
