//! Recurrence rules (RFC 5545 3.3.10): read, expanded, and described for readers.

mod budget;
mod day_facts;
mod described;
mod expand;
mod pattern;

pub(crate) use budget::{ExpansionBudget, TooMuchWork};
pub use described::RecurrencePattern;
pub(crate) use expand::occurrences;

use serde::Serialize;

use crate::ics::value::{WrittenTime, parse_time};
use crate::limits::RULE_NUMBERS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frequency {
    Secondly,
    Minutely,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

/// `MO`, or `-1FR`: the last Friday of the month or year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RuleWeekday {
    pub nth: Option<i64>,
    /// 0 is Monday.
    pub weekday: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecurrenceRule {
    pub frequency: Frequency,
    pub interval: i64,
    pub count: Option<u64>,
    pub until: Option<WrittenTime>,
    pub months: Vec<i64>,
    pub week_numbers: Vec<i64>,
    pub year_days: Vec<i64>,
    pub month_days: Vec<i64>,
    pub weekdays: Vec<RuleWeekday>,
    pub hours: Vec<i64>,
    pub minutes: Vec<i64>,
    pub seconds: Vec<i64>,
    pub positions: Vec<i64>,
    /// The day on which weeks begin; 0 is Monday.
    pub week_begins: u8,
}

/// The longest interval that is read, in units of the frequency: beyond every window.
const LONGEST_INTERVAL: i64 = 10_000_000;

impl RecurrenceRule {
    fn every(frequency: Frequency) -> RecurrenceRule {
        RecurrenceRule {
            frequency,
            interval: 1,
            count: None,
            until: None,
            months: Vec::new(),
            week_numbers: Vec::new(),
            year_days: Vec::new(),
            month_days: Vec::new(),
            weekdays: Vec::new(),
            hours: Vec::new(),
            minutes: Vec::new(),
            seconds: Vec::new(),
            positions: Vec::new(),
            week_begins: 0,
        }
    }

    /// `None` if it has no frequency, or a part that cannot be read: what such a rule means is
    /// anybody's guess. Parts with unknown names are passed over.
    pub fn parse(text: &str) -> Option<RecurrenceRule> {
        let parts: Vec<(String, &str)> = text
            .split(';')
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| (name.trim().to_ascii_uppercase(), value.trim()))
            .collect();
        let frequency = parts.iter().find(|(name, _)| name == "FREQ")?.1;
        let mut rule = RecurrenceRule::every(parse_frequency(frequency)?);
        for (name, value) in parts.iter().filter(|(_, value)| !value.is_empty()) {
            rule.set(name, value)?;
        }
        Some(rule)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "INTERVAL" => {
                self.interval = value.parse::<i64>().ok()?.clamp(1, LONGEST_INTERVAL);
            }
            // Exchange has written COUNT=-1 for "no end".
            "COUNT" => self.count = value.parse::<i64>().ok()?.try_into().ok(),
            "UNTIL" => self.until = Some(parse_time(value)?),
            "BYMONTH" => self.months = numbers(value, 1, 12)?,
            "BYWEEKNO" => self.week_numbers = signed_numbers(value, 53)?,
            "BYYEARDAY" => self.year_days = signed_numbers(value, 366)?,
            "BYMONTHDAY" => self.month_days = signed_numbers(value, 31)?,
            "BYDAY" => self.weekdays = list(value, parse_weekday)?,
            "BYHOUR" => self.hours = numbers(value, 0, 23)?,
            "BYMINUTE" => self.minutes = numbers(value, 0, 59)?,
            // 60 is a leap second, which no clock here has.
            "BYSECOND" => self.seconds = numbers(value, 0, 60)?,
            "BYSETPOS" => self.positions = signed_numbers(value, 366)?,
            "WKST" => self.week_begins = parse_weekday(value)?.weekday,
            _ => {}
        }
        Some(())
    }
}

fn parse_frequency(text: &str) -> Option<Frequency> {
    Some(match text.to_ascii_uppercase().as_str() {
        "SECONDLY" => Frequency::Secondly,
        "MINUTELY" => Frequency::Minutely,
        "HOURLY" => Frequency::Hourly,
        "DAILY" => Frequency::Daily,
        "WEEKLY" => Frequency::Weekly,
        "MONTHLY" => Frequency::Monthly,
        "YEARLY" => Frequency::Yearly,
        _ => return None,
    })
}

fn parse_weekday(text: &str) -> Option<RuleWeekday> {
    let text = text.trim().to_ascii_uppercase();
    let name = text.len().checked_sub(2).and_then(|at| text.get(at..))?;
    let weekday = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].iter().position(|day| *day == name)?;
    let nth = match &text[..text.len() - 2] {
        "" => None,
        number => Some(number.parse::<i64>().ok().filter(|n| *n != 0 && n.abs() <= 53)?),
    };
    Some(RuleWeekday { nth, weekday: weekday as u8 })
}

fn list<T>(text: &str, one: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    if text.split(',').count() > RULE_NUMBERS {
        return None;
    }
    text.split(',').filter(|part| !part.trim().is_empty()).map(one).collect()
}

fn numbers(text: &str, least: i64, most: i64) -> Option<Vec<i64>> {
    let mut numbers =
        list(text, |part| part.trim().parse().ok().filter(|n| (least..=most).contains(n)))?;
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// From `-most` to `most`, without zero.
fn signed_numbers(text: &str, most: i64) -> Option<Vec<i64>> {
    let numbers = numbers(text, -most, most)?;
    (!numbers.contains(&0)).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_with_all_its_parts_whatever_their_order() {
        let rule = RecurrenceRule::parse(
            "WKST=SU;BYDAY=MO,-1FR;FREQ=monthly;INTERVAL=2;COUNT=10;BYSETPOS=-1;BYMONTH=3,1;X=1",
        )
        .unwrap();
        assert_eq!((rule.frequency, rule.interval, rule.count), (Frequency::Monthly, 2, Some(10)));
        assert_eq!(rule.weekdays[1], RuleWeekday { nth: Some(-1), weekday: 4 });
        assert_eq!((rule.months, rule.positions, rule.week_begins), (vec![1, 3], vec![-1], 6));
    }

    #[test]
    fn a_rule_that_cannot_be_meant_is_no_rule() {
        for text in [
            "",
            "INTERVAL=2",
            "FREQ=FORTNIGHTLY",
            "FREQ=MONTHLY;BYMONTHDAY=0",
            "FREQ=MONTHLY;BYMONTHDAY=32",
            "FREQ=YEARLY;BYDAY=54MO",
            "FREQ=DAILY;UNTIL=tomorrow",
            "FREQ=WEEKLY;BYDAY=é",
            "FREQ=WEEKLY;BYDAY=M",
        ] {
            assert_eq!(RecurrenceRule::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_negative_count_is_no_end() {
        assert_eq!(RecurrenceRule::parse("FREQ=DAILY;COUNT=-1").unwrap().count, None);
    }
}
