//! How an event repeats, in the reader's language: `Every 2 weeks on Monday and Friday, until 3 March 2027`.

use calendar::{EventRecurrence, Frequency, RecurrencePattern, RuleWeekday};
use jiff::civil::Weekday;
use model::times::calendar_words::long_date;
use translation::{t, text_in_context};

use crate::layout::wording::{month_name, weekday};

/// The sentence about an event that repeats.
pub fn recurrence(recurrence: &EventRecurrence) -> String {
    let mut sentences: Vec<String> = recurrence.patterns.iter().map(pattern).collect();
    match recurrence.more_dates {
        0 => {}
        1 => sentences.push(t!("On one more date").to_owned()),
        n => sentences.push(t!("On {n} more dates", n)),
    }
    let said = sentences.join(". ");
    match recurrence.excluded_dates {
        0 => said,
        1 => t!("{dates}, except on one date", dates = said),
        n => t!("{dates}, except on {n} dates", dates = said, n),
    }
}

fn pattern(pattern: &RecurrencePattern) -> String {
    let mut parts = vec![every(pattern)];
    parts.extend(days(pattern));
    if !pattern.hours.is_empty() {
        parts.push(t!(
            "at hour {hours}",
            hours = join_words(pattern.hours.iter().map(i64::to_string))
        ));
    }
    if !pattern.minutes.is_empty() {
        let minutes = join_words(pattern.minutes.iter().map(i64::to_string));
        parts.push(t!("at minute {minutes}", minutes));
    }
    let mut said = parts.join(" ");
    if !pattern.positions.is_empty() {
        let positions = join_words(pattern.positions.iter().map(|n| ordinal(*n)));
        said = t!("{dates}, only the {positions} of these", dates = said, positions);
    }
    match (pattern.count, pattern.until) {
        (Some(1), _) => t!("{dates}, once", dates = said),
        (Some(n), _) => t!("{dates}, {n} times", dates = said, n),
        (None, Some(until)) => t!("{dates}, until {until}", dates = said, until = long_date(until)),
        (None, None) => said,
    }
}

fn every(pattern: &RecurrencePattern) -> String {
    if pattern.is_every_weekday() {
        return t!("Every weekday").to_owned();
    }
    let n = pattern.interval;
    match (pattern.frequency, n) {
        (Frequency::Secondly, 1) => t!("Every second").to_owned(),
        (Frequency::Minutely, 1) => t!("Every minute").to_owned(),
        (Frequency::Hourly, 1) => t!("Every hour").to_owned(),
        (Frequency::Daily, 1) => t!("Every day").to_owned(),
        (Frequency::Weekly, 1) => t!("Every week").to_owned(),
        (Frequency::Monthly, 1) => t!("Every month").to_owned(),
        (Frequency::Yearly, 1) => t!("Every year").to_owned(),
        (Frequency::Secondly, _) => t!("Every {n} seconds", n),
        (Frequency::Minutely, _) => t!("Every {n} minutes", n),
        (Frequency::Hourly, _) => t!("Every {n} hours", n),
        (Frequency::Daily, _) => t!("Every {n} days", n),
        (Frequency::Weekly, _) => t!("Every {n} weeks", n),
        (Frequency::Monthly, _) => t!("Every {n} months", n),
        (Frequency::Yearly, _) => t!("Every {n} years", n),
    }
}

fn days(pattern: &RecurrencePattern) -> Vec<String> {
    let mut parts = Vec::new();
    let is_said = pattern.is_every_weekday();
    if !pattern.weekdays.is_empty() && !is_said {
        parts.push(t!("on {days}", days = join_words(pattern.weekdays.iter().map(rule_weekday))));
    }
    if !pattern.month_days.is_empty() {
        let days = join_words(pattern.month_days.iter().map(|n| month_day(*n)));
        parts.push(t!("on the {days}", days));
    }
    if !pattern.year_days.is_empty() {
        let days = join_words(pattern.year_days.iter().map(|n| ordinal(*n)));
        parts.push(t!("on the {days} day of the year", days));
    }
    if !pattern.week_numbers.is_empty() {
        let weeks = join_words(pattern.week_numbers.iter().map(|n| week(*n)));
        parts.push(t!("in {weeks}", weeks));
    }
    if parts.is_empty() && !is_said {
        parts.extend(day_of_start(pattern));
    }
    if !pattern.months.is_empty() {
        let months = pattern.months.iter().map(|n| month_name(*n as i8).to_owned());
        parts.push(t!("in {months}", months = join_words(months)));
    }
    parts
}

/// What the first day of the series says where the rule says nothing.
fn day_of_start(pattern: &RecurrencePattern) -> Option<String> {
    let start = pattern.start;
    let day = || t!("on the {days}", days = month_day(i64::from(start.day())));
    match pattern.frequency {
        Frequency::Weekly => Some(t!("on {days}", days = weekday(start.weekday()))),
        Frequency::Monthly => Some(day()),
        Frequency::Yearly if pattern.months.is_empty() => {
            let month = month_name(start.month());
            Some(t!("on {day} {month}", day = start.day(), month))
        }
        Frequency::Yearly => Some(day()),
        _ => None,
    }
}

fn rule_weekday(day: &RuleWeekday) -> String {
    let name = Weekday::from_monday_zero_offset(day.weekday as i8).map_or("", weekday);
    match day.nth {
        Some(nth) => t!("the {ordinal} {weekday}", ordinal = ordinal(nth), weekday = name),
        None => name.to_owned(),
    }
}

fn month_day(n: i64) -> String {
    if n > 0 { numeral(n) } else { t!("{ordinal} day", ordinal = ordinal(n)) }
}

fn week(n: i64) -> String {
    if n > 0 { t!("week {n}", n) } else { t!("the {ordinal} week", ordinal = ordinal(n)) }
}

/// `first`, `last`, `second last`, as after "on the".
fn ordinal(n: i64) -> String {
    let word = match n {
        1 => text_in_context("ordinal", "first"),
        2 => text_in_context("ordinal", "second"),
        3 => text_in_context("ordinal", "third"),
        4 => text_in_context("ordinal", "fourth"),
        5 => text_in_context("ordinal", "fifth"),
        -1 => text_in_context("ordinal", "last"),
        -2 => text_in_context("ordinal", "second last"),
        -3 => text_in_context("ordinal", "third last"),
        -4 => text_in_context("ordinal", "fourth last"),
        -5 => text_in_context("ordinal", "fifth last"),
        n if n < 0 => return t!("{numeral} last", numeral = numeral(-n)),
        n => return numeral(n),
    };
    word.to_owned()
}

/// `1st`, `22nd`, `13th`.
fn numeral(n: i64) -> String {
    match (n % 10, n % 100) {
        (_, 11..=13) => t!("{n}th", n),
        (1, _) => t!("{n}st", n),
        (2, _) => t!("{n}nd", n),
        (3, _) => t!("{n}rd", n),
        _ => t!("{n}th", n),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn join_words(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() {
        return last;
    }
    t!("{names} and {last}", names = words.join(", "), last)
}

#[cfg(test)]
mod tests {
    use translation::{Language, Reader};

    use super::*;

    /// What is said of an event that begins on 24 November 2026, in English and in German.
    fn describe(lines: &str) -> (String, String) {
        let text = format!(
            "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:a\r\n\
             DTSTART:20261124T100000\r\n{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        );
        let read = calendar::read_invitation(text.as_bytes()).expect("an invitation");
        let found = read.events[0].recurrence.clone().expect("a recurrence");
        let german = Language::parse("de").expect("German");
        (recurrence(&found), Reader::new(german).run(|| recurrence(&found)))
    }

    #[test]
    fn rules_are_said_in_plain_sentences() {
        for (rule, english, german) in [
            ("FREQ=DAILY", "Every day", "Täglich"),
            ("FREQ=WEEKLY", "Every week on Tuesday", "Jede Woche am Dienstag"),
            ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "Every weekday", "Montags bis freitags"),
            (
                "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;UNTIL=20270303T090000Z",
                "Every 2 weeks on Monday and Friday, until 3 March 2027",
                "Alle 2 Wochen am Montag und Freitag, bis 3. März 2027",
            ),
            (
                "FREQ=MONTHLY;BYDAY=2TU",
                "Every month on the second Tuesday",
                "Jeden Monat am zweiten Dienstag",
            ),
            (
                "FREQ=MONTHLY;BYDAY=-1FR;COUNT=6",
                "Every month on the last Friday, 6 times",
                "Jeden Monat am letzten Freitag, 6-mal",
            ),
            (
                "FREQ=MONTHLY;BYMONTHDAY=-1",
                "Every month on the last day",
                "Jeden Monat am letzten Tag",
            ),
            ("FREQ=MONTHLY", "Every month on the 24th", "Jeden Monat am 24."),
            ("FREQ=YEARLY", "Every year on 24 November", "Jedes Jahr am 24. November"),
            (
                "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
                "Every year on the last Sunday in March",
                "Jedes Jahr am letzten Sonntag im März",
            ),
            (
                "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
                "Every year on Monday in week 20",
                "Jedes Jahr am Montag in Woche 20",
            ),
            (
                "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
                "Every month on Monday, Tuesday, Wednesday, Thursday and Friday, only the last of these",
                "Jeden Monat am Montag, Dienstag, Mittwoch, Donnerstag und Freitag, davon nur am letzten",
            ),
            ("FREQ=HOURLY;INTERVAL=4;COUNT=1", "Every 4 hours, once", "Alle 4 Stunden, einmal"),
        ] {
            let expected = (english.to_owned(), german.to_owned());
            assert_eq!(describe(&format!("RRULE:{rule}")), expected, "{rule}");
        }
    }

    #[test]
    fn dates_beside_a_rule_are_counted() {
        let (english, german) =
            describe("RRULE:FREQ=DAILY\r\nRDATE:20261201T120000\r\nEXDATE:20261126T100000");
        assert_eq!(english, "Every day. On one more date, except on one date");
        assert_eq!(german, "Täglich. An einem weiteren Tag, außer an einem Tag");
    }
}
