//! Times of a message: when it leaves, and when its conversation comes back if nobody answers. Some are
//! offered, and one can be typed.

use base::limits::{DAY_MS, HOUR_MS};
use jiff::civil::{Date, Weekday};
use outbound::scheduling::MessageTimes;
use translation::{msg, t};

use crate::forms::form::{FormFields, FormValue};
use crate::layout::day_forms::moment_text;
use crate::layout::wording::TimeFormat;
use crate::visitor::Visitor;

/// The hours that "morning" and "evening" mean.
const MORNING: i8 = 9;
const EVENING: i8 = 18;
/// After how many days a conversation can come back, and what that is called.
const FOLLOW_UPS: [(i64, &str); 3] =
    [(1, msg!("Tomorrow")), (3, msg!("In 3 days")), (7, msg!("In a week"))];

/// What a composer or the form of a draft shows of them.
#[derive(Default)]
pub struct ScheduleOptions {
    /// Words, and the moment in milliseconds.
    pub departures: Vec<(String, String)>,
    /// The time that was chosen before, while it is to come: words after "leaves", and the moment.
    pub chosen: Option<(String, String)>,
    pub typed_departure: String,
    /// The moment in milliseconds, words, and whether it is chosen.
    pub follow_ups: Vec<(String, String, bool)>,
    pub typed_follow_up: String,
    pub error: String,
    chosen_departure: Option<i64>,
    chosen_follow_up: Option<i64>,
}

impl ScheduleOptions {
    /// Those that were kept with an unsent text.
    pub fn restore(&mut self, kept: MessageTimes) {
        self.chosen_departure = kept.leaves_at;
        self.chosen_follow_up = kept.follow_up_at;
    }

    /// Fills in the times that are offered now, and what was chosen of them if it is to come.
    pub fn offer(&mut self, times: &TimeFormat) {
        let to_come = |at: &i64| *at > times.now;
        self.departures = departures(times);
        let departure = self.chosen_departure.filter(to_come);
        self.chosen = departure.map(|at| (times.leaving(at), at.to_string()));
        if let Some(at) = departure
            && self.typed_departure.is_empty()
        {
            self.typed_departure = field_value(times, at);
        }
        self.chosen_follow_up = self.chosen_follow_up.filter(to_come);
        let follow_up = |(days, words): &(i64, &str)| {
            let day = times.in_zone(times.now + days * DAY_MS).date();
            let at = at_hour(times, Some(day), MORNING)?;
            let words = format!("{}, {}", translation::text(words), times.long(at).text);
            Some((at.to_string(), words, self.chosen_follow_up == Some(at)))
        };
        self.follow_ups = FOLLOW_UPS.iter().filter_map(follow_up).collect();
        let is_offered = self.follow_ups.iter().any(|(_, _, is_chosen)| *is_chosen);
        if let Some(at) = self.chosen_follow_up
            && !is_offered
            && self.typed_follow_up.is_empty()
        {
            self.typed_follow_up = field_value(times, at);
        }
    }

    /// Puts in what was chosen and typed.
    pub fn fill(&mut self, later: &ScheduleChoice, follow_up: &ScheduleChoice) {
        self.chosen_departure = later.offered;
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
    let today = times.in_zone(times.now).date();
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

/// A moment as the field for a day and a time has it: `16 Nov 2026 08:00`.
fn field_value(times: &TimeFormat, at: i64) -> String {
    moment_text(times.in_zone(at).datetime())
}

/// A moment of a form: one that was offered, or a day and a time in the field `…_at` beside it.
#[derive(Clone, Debug, Default)]
pub struct ScheduleChoice {
    is_named: bool,
    offered: Option<i64>,
    typed: String,
}

impl FormValue for ScheduleChoice {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<ScheduleChoice> {
        Ok(ScheduleChoice {
            is_named: fields.has(name),
            offered: fields.get(name).parse().ok(),
            typed: fields.get(&format!("{name}_at")),
        })
    }
}

impl ScheduleChoice {
    fn moment(&self, visitor: &Visitor) -> Result<Option<i64>, String> {
        match self.offered {
            Some(at) => Ok(Some(at)),
            None if self.typed.is_empty() => Ok(None),
            None => visitor.day_and_time(&self.typed, MORNING).map(Some).map_err(|_| no_time()),
        }
    }
}

fn no_time() -> String {
    t!("Say a day and a time to come.").to_owned()
}

/// The time at which an approved draft leaves; `None` unless the button for one was pressed. The error
/// is a sentence.
pub fn departure(visitor: &Visitor, later: &ScheduleChoice) -> Result<Option<i64>, String> {
    Ok(message_times(visitor, later, &ScheduleChoice::default())?.leaves_at)
}

/// The times of an unsent text. What is no time is left out: nothing is sent yet.
pub fn unsent_times(
    visitor: &Visitor,
    later: &ScheduleChoice,
    follow_up: &ScheduleChoice,
) -> MessageTimes {
    let moment = |chosen: &ScheduleChoice| chosen.moment(visitor).unwrap_or_default();
    MessageTimes { leaves_at: moment(later), follow_up_at: moment(follow_up) }
}

/// The times of a form, on the reader's own clock. A message waits only if the button for it was
/// pressed. The error is a sentence.
pub fn message_times(
    visitor: &Visitor,
    later: &ScheduleChoice,
    follow_up: &ScheduleChoice,
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
    fn what_was_chosen_is_shown_while_it_is_to_come() {
        let now = 1_794_992_400_000;
        let times = TimeFormat::new(now, TimeZone::get("Europe/Berlin").expect("a zone"));
        let mut later = ScheduleOptions::default();
        let at = now + DAY_MS;
        later.restore(MessageTimes { leaves_at: Some(at), follow_up_at: Some(at + HOUR_MS) });
        later.offer(&times);
        assert_eq!(later.chosen, Some(("on Thu 19 Nov, 10:00".to_owned(), at.to_string())));
        assert_eq!(later.typed_departure, "19 Nov 2026 10:00");
        assert_eq!(later.typed_follow_up, "19 Nov 2026 11:00");
        let mut over = ScheduleOptions::default();
        over.restore(MessageTimes { leaves_at: Some(now), follow_up_at: Some(now - DAY_MS) });
        over.offer(&times);
        assert!(over.chosen.is_none() && over.typed_departure.is_empty());
        assert!(!over.has_follow_up() && over.typed_follow_up.is_empty());
    }

    #[test]
    fn the_offered_times_are_mornings_and_an_evening_of_the_readers_zone() {
        // Wednesday 18 November 2026, 10:00 in Berlin.
        let now = 1_794_992_400_000;
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let times = TimeFormat::new(now, zone);
        let mut later = ScheduleOptions::default();
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
