//! The times to snooze until that are offered.

use base::limits::MINUTE_MS;
use jiff::civil::Weekday;
use translation::t;

use crate::layout::wording::TimeFormat;

/// The morning hour that "tomorrow" and "Monday" mean, and a day that is typed alone.
pub const MORNING: i8 = 8;

/// Times to snooze until: what they are called, and the moment in milliseconds.
pub fn snoozes(times: &TimeFormat) -> Vec<(String, String)> {
    let now = times.in_zone(times.now);
    let morning = |day: jiff::civil::Date| {
        let at = day.at(MORNING, 0, 0, 0).to_zoned(times.zone.clone()).ok()?;
        Some(at.timestamp().as_millisecond())
    };
    let tomorrow = now.date().tomorrow().ok().and_then(morning);
    let monday = now.date().nth_weekday(1, Weekday::Monday).ok().and_then(morning);
    let later = times.now + 3 * 60 * MINUTE_MS;
    let mut choices = vec![(t!("Until {time}, in 3 hours", time = times.clock(later)), later)];
    choices.extend(tomorrow.map(|at| (t!("Until tomorrow, 08:00").to_owned(), at)));
    choices.extend(monday.map(|at| (t!("Until {time}", time = times.long(at).text), at)));
    choices.into_iter().map(|(words, at)| (words, at.to_string())).collect()
}
