//! Times of a message: when it leaves, and when its conversation comes back if nobody answers. Some are
//! offered, and one can be typed.

use inbox::MessageTimes;
use inbox::base::limits::{DAY_MS, HOUR_MS};
use jiff::civil::{Date, Weekday};
use translation::{msg, t};

use crate::web::form::{FormFields, FormValue};
use crate::web::layout::wording::TimeFormat;
use crate::web::pages::snooze_times::day_and_time;
use crate::web::visitor::Visitor;

/// The hours that "morning" and "evening" mean.
const MORNING: i8 = 9;
const EVENING: i8 = 18;
/// After how many days a conversation can come back, and what that is called.
const FOLLOW_UPS: [(i64, &str); 3] =
    [(1, msg!("Tomorrow")), (3, msg!("In 3 days")), (7, msg!("In a week"))];

/// What the composer shows of them.
#[derive(Default)]
pub struct LaterTimes {
    /// Words, and the moment in milliseconds.
    pub departures: Vec<(String, String)>,
    pub typed_departure: String,
    /// The moment in milliseconds, words, and whether it is chosen.
    pub follow_ups: Vec<(String, String, bool)>,
    pub typed_follow_up: String,
    pub error: String,
    chosen_follow_up: Option<i64>,
}

impl LaterTimes {
    /// Fills in the times that are offered now.
    pub fn offer(&mut self, times: &TimeFormat) {
        self.departures = departures(times);
        let follow_up = |(days, words): &(i64, &str)| {
            let day = times.zoned(times.now + days * DAY_MS).date();
            let at = at_hour(times, Some(day), MORNING)?;
            let words = format!("{}, {}", translation::text(words), times.long(at).text);
            Some((at.to_string(), words, self.chosen_follow_up == Some(at)))
        };
        self.follow_ups = FOLLOW_UPS.iter().filter_map(follow_up).collect();
    }

    /// Puts in what was chosen and typed.
    pub fn fill(&mut self, later: &ChosenMoment, follow_up: &ChosenMoment) {
        self.typed_departure = later.typed.clone();
        self.typed_follow_up = follow_up.typed.clone();
        self.chosen_follow_up = follow_up.offered;
    }

    /// True when something other than the usual was chosen.
    pub fn has_follow_up(&self) -> bool {
        self.chosen_follow_up.is_some() || !self.typed_follow_up.is_empty()
    }
}

fn departures(times: &TimeFormat) -> Vec<(String, String)> {
    let today = times.zoned(times.now).date();
    let soon = times.now + HOUR_MS;
    let evening = at_hour(times, Some(today), EVENING).filter(|at| *at > soon);
    let tomorrow = at_hour(times, today.tomorrow().ok(), MORNING);
    let monday = at_hour(times, today.nth_weekday(1, Weekday::Monday).ok(), MORNING);
    let mut choices = vec![(t!("In 1 hour, at {time}", time = times.clock(soon)), soon)];
    choices.extend(evening.map(|at| (t!("This evening, {time}", time = times.clock(at)), at)));
    choices.extend(tomorrow.map(|at| (t!("Tomorrow, {time}", time = times.clock(at)), at)));
    let monday = monday.filter(|at| tomorrow != Some(*at));
    choices.extend(monday.map(|at| (times.long(at).text, at)));
    choices.into_iter().map(|(words, at)| (words, at.to_string())).collect()
}

fn at_hour(times: &TimeFormat, day: Option<Date>, hour: i8) -> Option<i64> {
    let at = day?.at(hour, 0, 0, 0).to_zoned(times.zone.clone()).ok()?;
    Some(at.timestamp().as_millisecond())
}

/// A moment of a form: one that was offered, or a day and a time in the field `…_at` beside it.
#[derive(Clone, Debug, Default)]
pub struct ChosenMoment {
    is_named: bool,
    offered: Option<i64>,
    typed: String,
}

impl FormValue for ChosenMoment {
    fn read(fields: &FormFields, name: &str) -> inbox::Result<ChosenMoment> {
        Ok(ChosenMoment {
            is_named: fields.has(name),
            offered: fields.get(name).parse().ok(),
            typed: fields.get(&format!("{name}_at")),
        })
    }
}

impl ChosenMoment {
    fn moment(&self, visitor: &Visitor) -> Result<Option<i64>, String> {
        match self.offered {
            Some(at) => Ok(Some(at)),
            None if self.typed.is_empty() => Ok(None),
            None => day_and_time(visitor, &self.typed).map(Some).map_err(|_| no_time()),
        }
    }
}

fn no_time() -> String {
    t!("Say a day and a time to come.").to_owned()
}

/// The times of a form, on the reader's own clock. A message waits only if the button for it was
/// pressed. The error is a sentence.
pub fn message_times(
    visitor: &Visitor,
    later: &ChosenMoment,
    follow_up: &ChosenMoment,
) -> Result<MessageTimes, String> {
    let follow_up_at = follow_up.moment(visitor)?;
    if !later.is_named {
        return Ok(MessageTimes { leaves_at: None, follow_up_at });
    }
    let leaves_at = later.moment(visitor)?.ok_or_else(no_time)?;
    Ok(MessageTimes { leaves_at: Some(leaves_at), follow_up_at })
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn the_offered_times_are_mornings_and_an_evening_of_the_readers_zone() {
        // Wednesday 18 November 2026, 10:00 in Berlin.
        let now = 1_794_992_400_000;
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let times = TimeFormat::new(now, zone);
        let mut later = LaterTimes::default();
        later.offer(&times);
        let words: Vec<&str> = later.departures.iter().map(|(words, _)| words.as_str()).collect();
        assert_eq!(
            words,
            ["In 1 hour, at 11:00", "This evening, 18:00", "Tomorrow, 09:00", "Mon 23 Nov, 09:00"]
        );
        let words: Vec<&str> =
            later.follow_ups.iter().map(|(_, words, _)| words.as_str()).collect();
        assert_eq!(
            words,
            [
                "Tomorrow, Thu 19 Nov, 09:00",
                "In 3 days, Sat 21 Nov, 09:00",
                "In a week, Wed 25 Nov, 09:00"
            ]
        );
    }
}
