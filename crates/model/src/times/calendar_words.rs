//! Days and months in the language of the current reader, for pages and mails.
//!
//! Customers read these texts.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use translation::{msg, t};

pub(crate) const WEEKDAYS: [&str; 7] = [
    msg!("Monday"),
    msg!("Tuesday"),
    msg!("Wednesday"),
    msg!("Thursday"),
    msg!("Friday"),
    msg!("Saturday"),
    msg!("Sunday"),
];
pub(crate) const SHORT_WEEKDAYS: [&str; 7] =
    [msg!("Mon"), msg!("Tue"), msg!("Wed"), msg!("Thu"), msg!("Fri"), msg!("Sat"), msg!("Sun")];
const MONTHS: [&str; 12] = [
    msg!("January"),
    msg!("February"),
    msg!("March"),
    msg!("April"),
    msg!("May"),
    msg!("June"),
    msg!("July"),
    msg!("August"),
    msg!("September"),
    msg!("October"),
    msg!("November"),
    msg!("December"),
];
const SHORT_MONTHS: [&str; 12] = [
    msg!("Jan"),
    msg!("Feb"),
    msg!("Mar"),
    msg!("Apr"),
    msg!("May"),
    msg!("Jun"),
    msg!("Jul"),
    msg!("Aug"),
    msg!("Sep"),
    msg!("Oct"),
    msg!("Nov"),
    msg!("Dec"),
];

pub fn weekday(day: Weekday) -> &'static str {
    translation::text(WEEKDAYS[day.to_monday_zero_offset() as usize])
}

/// All of them, from Monday on.
pub fn weekdays() -> [&'static str; 7] {
    WEEKDAYS.map(translation::text)
}

pub fn short_weekday(day: Weekday) -> &'static str {
    translation::text(SHORT_WEEKDAYS[day.to_monday_zero_offset() as usize])
}

/// The name of a month, counted from 1.
pub fn month_name(month: i8) -> &'static str {
    translation::text(MONTHS[month as usize - 1])
}

/// The same, shortened: `Nov`.
pub fn short_month(month: i8) -> &'static str {
    translation::text(SHORT_MONTHS[month as usize - 1])
}

/// `Tuesday 24 November 2026`.
pub fn date_words(date: Date) -> String {
    let (weekday, month) = (weekday(date.weekday()), month_name(date.month()));
    t!("{weekday} {day} {month} {year}", weekday, day = date.day(), month, year = date.year())
}

/// `24 November 2026`.
pub fn long_date(date: Date) -> String {
    let month = month_name(date.month());
    t!("{day} {month} {year}", day = date.day(), month, year = date.year())
}

/// A date that is kept as `2026-12-01`, as every page and mail writes dates.
pub fn kept_date(kept: &str) -> String {
    kept.parse::<Date>().map_or_else(|_| kept.to_owned(), long_date)
}

/// `Tuesday 24 November 2026, 10:00`, on the clock of a zone.
pub fn date_and_clock(at: i64, zone: &TimeZone) -> String {
    let at = in_zone(at, zone);
    format!("{}, {}", date_words(at.date()), clock(&at))
}

/// `Tue 24 Nov, 10:00`, on the clock of a zone.
pub fn short_date_and_clock(at: i64, zone: &TimeZone) -> String {
    let at = in_zone(at, zone);
    let (weekday, month) = (short_weekday(at.weekday()), short_month(at.month()));
    t!("{weekday} {day} {month}, {clock}", weekday, day = at.day(), month, clock = clock(&at))
}

fn in_zone(at: i64, zone: &TimeZone) -> Zoned {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

fn clock(at: &Zoned) -> String {
    format!("{:02}:{:02}", at.hour(), at.minute())
}

#[cfg(test)]
mod tests {
    use translation::{Language, Reader};

    use super::*;

    #[test]
    fn dates_are_in_the_language_of_the_reader() {
        // Tuesday 24 November 2026, 10:00 in Berlin.
        let at = 1_795_510_800_000;
        let zone = calendar::zone_named("Europe/Berlin").expect("a zone");
        let said = || {
            [
                date_and_clock(at, &zone),
                short_date_and_clock(at, &zone),
                kept_date("2026-12-01"),
                kept_date("soon"),
            ]
        };
        assert_eq!(
            said(),
            ["Tuesday 24 November 2026, 10:00", "Tue 24 Nov, 10:00", "1 December 2026", "soon"]
        );
        let german = Language::parse("de").expect("German");
        let [long, short, kept, unread] = Reader::new(german).run(said);
        assert_eq!((kept.as_str(), unread.as_str()), ("1. Dezember 2026", "soon"));
        assert!(long.contains("24. November 2026, 10:00"), "{long}");
        assert!(short.contains("24. Nov"), "{short}");
    }
}
