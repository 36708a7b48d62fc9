//! Says a recurrence rule in an English sentence, for people who read an invitation.

use jiff::civil::Date;

use super::{Frequency, RecurrenceRule, RuleWeekday};
use crate::ics::value::WrittenTime;

const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `Every 2 weeks on Monday and Friday, until 3 March 2027`. `start` gives what the rule leaves out.
pub(crate) fn in_words(rule: &RecurrenceRule, start: Date) -> String {
    let mut sentence = every(rule);
    sentence.push_str(&days(rule, start));
    sentence.push_str(&clock(rule));
    if !rule.positions.is_empty() {
        let positions = rule.positions.iter().map(|n| ordinal(*n));
        sentence.push_str(&format!(", only the {} of these", joined(positions)));
    }
    match (rule.count, rule.until) {
        (Some(1), _) => sentence.push_str(", once"),
        (Some(count), _) => sentence.push_str(&format!(", {count} times")),
        (None, Some(until)) => sentence.push_str(&format!(", until {}", long_date(date_of(until)))),
        (None, None) => {}
    }
    sentence
}

pub(crate) fn long_date(date: Date) -> String {
    format!("{} {} {}", date.day(), MONTHS[date.month() as usize - 1], date.year())
}

fn date_of(time: WrittenTime) -> Date {
    match time {
        WrittenTime::Date(date) => date,
        WrittenTime::Local(time) | WrittenTime::Utc(time) => time.date(),
    }
}

fn every(rule: &RecurrenceRule) -> String {
    let unit = match rule.frequency {
        Frequency::Secondly => "second",
        Frequency::Minutely => "minute",
        Frequency::Hourly => "hour",
        Frequency::Daily => "day",
        Frequency::Weekly if is_weekdays(rule) && rule.interval == 1 => "weekday",
        Frequency::Weekly => "week",
        Frequency::Monthly => "month",
        Frequency::Yearly => "year",
    };
    match rule.interval {
        1 => format!("Every {unit}"),
        interval => format!("Every {interval} {unit}s"),
    }
}

/// Monday to Friday.
fn is_weekdays(rule: &RecurrenceRule) -> bool {
    let mut days: Vec<u8> = rule.weekdays.iter().map(|day| day.weekday).collect();
    days.sort_unstable();
    days == [0, 1, 2, 3, 4] && rule.weekdays.iter().all(|day| day.nth.is_none())
}

fn days(rule: &RecurrenceRule, start: Date) -> String {
    let mut parts = Vec::new();
    let is_said = rule.frequency == Frequency::Weekly && rule.interval == 1 && is_weekdays(rule);
    if !rule.weekdays.is_empty() && !is_said {
        parts.push(format!("on {}", joined(rule.weekdays.iter().map(weekday))));
    }
    if !rule.month_days.is_empty() {
        parts.push(format!("on the {}", joined(rule.month_days.iter().map(|n| month_day(*n)))));
    }
    if !rule.year_days.is_empty() {
        let days = joined(rule.year_days.iter().map(|n| ordinal(*n)));
        parts.push(format!("on the {days} day of the year"));
    }
    if !rule.week_numbers.is_empty() {
        let weeks = joined(rule.week_numbers.iter().map(|n| week(*n)));
        parts.push(format!("in {weeks}"));
    }
    if parts.is_empty() && !is_said {
        parts.extend(day_of_start(rule, start));
    }
    if !rule.months.is_empty() {
        let months = rule.months.iter().map(|n| MONTHS[*n as usize - 1].to_owned());
        parts.push(format!("in {}", joined(months)));
    }
    parts.into_iter().map(|part| format!(" {part}")).collect()
}

fn day_of_start(rule: &RecurrenceRule, start: Date) -> Option<String> {
    let month_day = month_day(i64::from(start.day()));
    match rule.frequency {
        Frequency::Weekly => {
            let weekday = start.weekday().to_monday_zero_offset();
            Some(format!("on {}", WEEKDAYS[weekday as usize]))
        }
        Frequency::Monthly => Some(format!("on the {month_day}")),
        Frequency::Yearly if rule.months.is_empty() => {
            Some(format!("on {} {}", start.day(), MONTHS[start.month() as usize - 1]))
        }
        Frequency::Yearly => Some(format!("on the {month_day}")),
        _ => None,
    }
}

fn clock(rule: &RecurrenceRule) -> String {
    let mut parts = String::new();
    if !rule.hours.is_empty() {
        let hours = joined(rule.hours.iter().map(|hour| hour.to_string()));
        parts.push_str(&format!(" at hour {hours}"));
    }
    if !rule.minutes.is_empty() {
        let minutes = joined(rule.minutes.iter().map(|minute| minute.to_string()));
        parts.push_str(&format!(" at minute {minutes}"));
    }
    parts
}

fn weekday(day: &RuleWeekday) -> String {
    let name = WEEKDAYS[usize::from(day.weekday)];
    match day.nth {
        Some(nth) => format!("the {} {name}", ordinal(nth)),
        None => name.to_owned(),
    }
}

fn month_day(n: i64) -> String {
    if n > 0 { numeral(n) } else { format!("{} day", ordinal(n)) }
}

fn week(n: i64) -> String {
    if n > 0 { format!("week {n}") } else { format!("the {} week", ordinal(n)) }
}

/// `first`, `last`, `second last`.
fn ordinal(n: i64) -> String {
    match n {
        -1 => "last".to_owned(),
        n if n < 0 => format!("{} last", ordinal(-n)),
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        n => numeral(n),
    }
}

/// `1st`, `22nd`, `13th`.
fn numeral(n: i64) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// `a`, `a and b`, `a, b and c`.
fn joined(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect();
    let last = words.pop().unwrap_or_default();
    match words.is_empty() {
        true => last,
        false => format!("{} and {last}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn rules_are_said_in_plain_sentences() {
        for (rule, sentence) in [
            ("FREQ=DAILY", "Every day"),
            ("FREQ=WEEKLY", "Every week on Tuesday"),
            ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "Every weekday"),
            (
                "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;UNTIL=20270303T090000Z",
                "Every 2 weeks on Monday and Friday, until 3 March 2027",
            ),
            ("FREQ=MONTHLY;BYDAY=2TU", "Every month on the second Tuesday"),
            ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=6", "Every month on the last Friday, 6 times"),
            ("FREQ=MONTHLY;BYMONTHDAY=-1", "Every month on the last day"),
            ("FREQ=MONTHLY", "Every month on the 24th"),
            ("FREQ=YEARLY", "Every year on 24 November"),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "Every year on the last Sunday in March"),
            ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "Every year on Monday in week 20"),
            (
                "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
                "Every month on Monday, Tuesday, Wednesday, Thursday and Friday, only the last of these",
            ),
            ("FREQ=HOURLY;INTERVAL=4;COUNT=1", "Every 4 hours, once"),
        ] {
            let rule = RecurrenceRule::parse(rule).unwrap();
            assert_eq!(in_words(&rule, date(2026, 11, 24)), sentence);
        }
    }
}
