//! Times to snooze until: those that are offered, and one of the reader's own choice.

use base::error::Error;
use base::limits::MINUTE_MS;
use jiff::civil::Weekday;
use translation::t;

use crate::layout::wording::TimeFormat;
use crate::visitor::Visitor;

/// The morning hour that "tomorrow" and "Monday" mean.
const MORNING: i8 = 8;

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

/// `2026-11-16T08:00` as the reader's clock shows it, in milliseconds.
pub fn day_and_time(visitor: &Visitor, text: &str) -> base::error::Result<i64> {
    let wrong = || Error::invalid("at", "Say a day and a time to come.");
    let at: jiff::civil::DateTime = text.parse().map_err(|_| wrong())?;
    let zoned = at.to_zoned(visitor.zone.clone()).map_err(|_| wrong())?;
    Ok(zoned.timestamp().as_millisecond())
}
