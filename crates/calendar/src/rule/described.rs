//! What a recurrence rule says, as values that can be put into words in any language.

use jiff::civil::Date;
use serde::Serialize;

use super::{Frequency, RecurrenceRule, RuleWeekday};
use crate::ics::value::WrittenTime;

/// A recurrence rule without what only its expansion needs. Numbers below zero count from the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecurrencePattern {
    pub frequency: Frequency,
    pub interval: i64,
    pub count: Option<u64>,
    pub until: Option<Date>,
    /// The first day of the series, which gives what the rule leaves out.
    pub start: Date,
    pub months: Vec<i64>,
    pub week_numbers: Vec<i64>,
    pub year_days: Vec<i64>,
    pub month_days: Vec<i64>,
    pub weekdays: Vec<RuleWeekday>,
    pub hours: Vec<i64>,
    pub minutes: Vec<i64>,
    /// Which of the days that the rest gives are meant.
    pub positions: Vec<i64>,
}

impl RecurrencePattern {
    /// True for Monday to Friday of every week.
    pub fn is_every_weekday(&self) -> bool {
        let mut days: Vec<u8> = self.weekdays.iter().map(|day| day.weekday).collect();
        days.sort_unstable();
        let is_weekly = self.frequency == Frequency::Weekly && self.interval == 1;
        is_weekly && days == [0, 1, 2, 3, 4] && self.weekdays.iter().all(|day| day.nth.is_none())
    }
}

impl RecurrenceRule {
    pub(crate) fn describe(&self, start: Date) -> RecurrencePattern {
        RecurrencePattern {
            frequency: self.frequency,
            interval: self.interval,
            count: self.count,
            until: self.until.map(date_of),
            start,
            months: self.months.clone(),
            week_numbers: self.week_numbers.clone(),
            year_days: self.year_days.clone(),
            month_days: self.month_days.clone(),
            weekdays: self.weekdays.clone(),
            hours: self.hours.clone(),
            minutes: self.minutes.clone(),
            positions: self.positions.clone(),
        }
    }
}

fn date_of(time: WrittenTime) -> Date {
    match time {
        WrittenTime::Date(date) => date,
        WrittenTime::Local(time) | WrittenTime::Utc(time) => time.date(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn every_weekday_is_monday_to_friday_of_each_week() {
        for (rule, expected) in [
            ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", true),
            ("FREQ=WEEKLY;BYDAY=FR,TH,WE,TU,MO;COUNT=3", true),
            ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR", false),
            ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH", false),
            ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR", false),
        ] {
            let described = RecurrenceRule::parse(rule).unwrap().describe(date(2026, 11, 24));
            assert_eq!(described.is_every_weekday(), expected, "{rule}");
        }
    }
}
