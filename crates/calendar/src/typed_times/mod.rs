//! Days and times as people type them: `21.11.2026`, `Nov 21`, `tomorrow 9:00`, `morgen 9 Uhr`, `in 3 days`,
//! `Fr 14:30`, and ISO 8601 in every language.
//!
//! What could mean two things is refused instead of guessed: `3/4/2026` in English, `next Friday`.

mod typed_parts;
mod words;

use jiff::civil::{Date, Time, Weekday};
use jiff::{Span, Zoned};
use typed_parts::TypedParts;

/// Characters of a day or time that is typed.
pub const TYPED_TIME_CHARS: usize = 60;

/// Which day is meant where a year is left out, or only a weekday is said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DayDirection {
    Next,
    Last,
}

/// Reads what one person types, in their language and on their clock.
#[derive(Clone, Debug)]
pub struct TypedTimeReader {
    language: &'static str,
    now: Zoned,
}

impl TypedTimeReader {
    pub fn new(language: &'static str, now: Zoned) -> TypedTimeReader {
        TypedTimeReader { language, now }
    }

    /// A day; the next one where its year is left out.
    pub fn day(&self, typed: &str) -> Option<Date> {
        self.only_day(typed, DayDirection::Next)
    }

    /// A day; the last one where its year is left out.
    pub fn past_day(&self, typed: &str) -> Option<Date> {
        self.only_day(typed, DayDirection::Last)
    }

    /// A day and a time. A day alone means this hour of it, a time alone the next one that the clock shows.
    pub fn moment(&self, typed: &str, hour: i8) -> Option<Zoned> {
        let parts = TypedParts::read(self.language, typed)?;
        if let Some(minutes) = parts.minutes_from_now {
            let is_alone = parts.says_no_day() && parts.clock.is_none();
            let at = self.now.checked_add(Span::new().try_minutes(minutes).ok()?).ok()?;
            return is_alone.then_some(at);
        }
        let today = self.now.date();
        let is_over = |clock: Time| clock <= self.now.time();
        let date = match parts.clock {
            Some(clock) if parts.says_no_day() && is_over(clock) => today.tomorrow().ok()?,
            Some(_) if parts.says_no_day() => today,
            Some(clock) if parts.is_weekday(today.weekday()) && !is_over(clock) => today,
            _ => self.date(&parts, DayDirection::Next)?,
        };
        let clock = parts.clock.or_else(|| Time::new(hour, 0, 0, 0).ok())?;
        date.to_datetime(clock).to_zoned(self.now.time_zone().clone()).ok()
    }

    fn only_day(&self, typed: &str, direction: DayDirection) -> Option<Date> {
        let parts = TypedParts::read(self.language, typed)?;
        let is_day = parts.clock.is_none() && parts.minutes_from_now.is_none();
        self.date(&parts, direction).filter(|_| is_day)
    }

    fn date(&self, parts: &TypedParts, direction: DayDirection) -> Option<Date> {
        let today = self.now.date();
        let said = match (parts.from_today, parts.day, parts.month) {
            (Some(span), None, None) => today.checked_add(span).ok()?,
            (None, Some(day), Some(month)) => match parts.year {
                Some(year) => Date::new(year, month, day).ok()?,
                None => nearest_year(today, (month, day), direction)?,
            },
            (None, None, None) => {
                let weekday = Weekday::from_monday_one_offset(parts.weekday?).ok()?;
                let nth = if direction == DayDirection::Next { 1 } else { -1 };
                today.nth_weekday(nth, weekday).ok()?
            }
            _ => return None,
        };
        let fits =
            parts.weekday.is_none_or(|number| said.weekday().to_monday_one_offset() == number);
        fits.then_some(said)
    }
}

fn nearest_year(today: Date, (month, day): (i8, i8), direction: DayDirection) -> Option<Date> {
    let this = Date::new(today.year(), month, day).ok()?;
    let year = match direction {
        DayDirection::Next if this < today => today.year() + 1,
        DayDirection::Last if this > today => today.year() - 1,
        _ => today.year(),
    };
    Date::new(year, month, day).ok()
}

/// A time of the day that is typed alone: `8:30`, `9 Uhr`, `2pm`.
pub fn typed_clock(language: &str, typed: &str) -> Option<Time> {
    let typed = typed.trim();
    // Where only a time can be meant, `8.10` is no day.
    let is_dotted = typed.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let typed = if is_dotted { typed.replace('.', ":") } else { typed.to_owned() };
    let parts = TypedParts::read(language, &typed)?;
    parts.clock.filter(|_| parts.says_no_day() && parts.minutes_from_now.is_none())
}

/// How a day is written in a language, as `strftime` has it: `%d.%m.%Y`.
pub fn day_form(language: &str) -> &'static str {
    words::form(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wednesday 18 November 2026, 10:00 in Berlin.
    fn reader(language: &'static str) -> TypedTimeReader {
        let now = "2026-11-18T10:00[Europe/Berlin]".parse().expect("a moment");
        TypedTimeReader::new(language, now)
    }

    #[test]
    fn days_are_read_as_each_language_writes_them() {
        for (language, typed, day) in [
            ("en", "21 Nov 2026", "2026-11-21"),
            ("en", "Nov 21, 2026", "2026-11-21"),
            ("en", "November 21st", "2026-11-21"),
            ("en", "11/21/2026", "2026-11-21"),
            ("en", "21/11/2026", "2026-11-21"),
            ("en", "5/5/2027", "2027-05-05"),
            ("en", "3.4.2027", "2027-04-03"),
            ("en", "Sat 21 Nov", "2026-11-21"),
            ("en", "3 Nov", "2027-11-03"),
            ("en", "Friday", "2026-11-20"),
            ("en", "wed", "2026-11-25"),
            ("en", "today", "2026-11-18"),
            ("en", "day after tomorrow", "2026-11-20"),
            ("en", "in 3 days", "2026-11-21"),
            ("en", "in a week", "2026-11-25"),
            ("en", "2 months", "2027-01-18"),
            ("de", "21.11.2026", "2026-11-21"),
            ("de", "21.11.", "2026-11-21"),
            ("de", "1.2.27", "2027-02-01"),
            ("de", "am 21. November 2026", "2026-11-21"),
            ("de", "Mo, 1. März", "2027-03-01"),
            ("de", "übermorgen", "2026-11-20"),
            ("de", "in einer Woche", "2026-11-25"),
            ("de", "tomorrow", "2026-11-19"),
            ("fr", "le 1er décembre", "2026-12-01"),
            ("fr", "mar. 24/11", "2026-11-24"),
            ("fr", "3/4/2027", "2027-04-03"),
            ("fr", "demain", "2026-11-19"),
            ("es", "21 de noviembre de 2026", "2026-11-21"),
            ("es", "pasado mañana", "2026-11-20"),
            ("es", "21 mar 2027", "2027-03-21"),
            ("es", "dentro de 3 días", "2026-11-21"),
            ("it", "domani", "2026-11-19"),
            ("it", "tra una settimana", "2026-11-25"),
            ("nl", "21-11-2026", "2026-11-21"),
            ("nl", "over 3 dagen", "2026-11-21"),
            ("pt", "terça-feira", "2026-11-24"),
            ("pl", "21 listopada", "2026-11-21"),
            ("pl", "za tydzień", "2026-11-25"),
            ("ar", "21/11/2026", "2026-11-21"),
            ("ar", "السبت، 21 نوفمبر", "2026-11-21"),
            ("ar", "بعد غد", "2026-11-20"),
            ("ar", "بعد 3 أيام", "2026-11-21"),
            ("de", "2026-11-21", "2026-11-21"),
        ] {
            let read = reader(language).day(typed).map(|day| day.to_string());
            assert_eq!(read.as_deref(), Some(day), "{language}: {typed}");
        }
    }

    #[test]
    fn moments_are_read_on_the_clock_of_the_reader() {
        for (language, typed, moment) in [
            ("en", "tomorrow 9:00", "2026-11-19T09:00"),
            ("en", "tomorrow at 2pm", "2026-11-19T14:00"),
            ("en", "Fri 2:30 pm", "2026-11-20T14:30"),
            ("en", "in 2 hours", "2026-11-18T12:00"),
            ("en", "in an hour", "2026-11-18T11:00"),
            ("en", "14:30", "2026-11-18T14:30"),
            ("en", "9:30", "2026-11-19T09:30"),
            ("en", "Wed 14:00", "2026-11-18T14:00"),
            ("en", "Wed 9:00", "2026-11-25T09:00"),
            ("en", "21 Nov 2026 14:30", "2026-11-21T14:30"),
            ("en", "21 Nov", "2026-11-21T08:00"),
            ("en", "tomorrow noon", "2026-11-19T12:00"),
            ("de", "morgen 9 Uhr", "2026-11-19T09:00"),
            ("de", "morgen um 9 Uhr 30", "2026-11-19T09:30"),
            ("de", "Fr 14:30", "2026-11-20T14:30"),
            ("de", "21.11. 9.30 Uhr", "2026-11-21T09:30"),
            ("de", "9.30 Uhr", "2026-11-19T09:30"),
            ("fr", "demain à 9h30", "2026-11-19T09:30"),
            ("fr", "demain à 9 heures", "2026-11-19T09:00"),
            ("fr", "dans 2 heures", "2026-11-18T12:00"),
            ("es", "mañana a las 9", "2026-11-19T09:00"),
            ("nl", "morgen om 9 uur", "2026-11-19T09:00"),
            ("nl", "over 2 uur", "2026-11-18T12:00"),
            ("pl", "jutro o 9", "2026-11-19T09:00"),
            ("de", "2026-11-21T14:30", "2026-11-21T14:30"),
            ("en", "2026-11-21 14:30", "2026-11-21T14:30"),
        ] {
            let read = reader(language).moment(typed, 8);
            let read = read.map(|at| at.strftime("%Y-%m-%dT%H:%M").to_string());
            assert_eq!(read.as_deref(), Some(moment), "{language}: {typed}");
        }
    }

    #[test]
    fn what_could_mean_two_things_or_nothing_is_refused() {
        for (language, typed) in [
            ("en", "3/4/2026"),
            ("en", "next Friday"),
            ("en", "soon"),
            ("en", ""),
            ("en", "in"),
            ("en", "31 Feb 2026"),
            ("en", "Sun 21 Nov 2026"),
            ("en", "21 Nov 26:30"),
            ("en", "tomorrow tomorrow"),
            ("en", "tomorrow 21 Nov"),
            ("en", "in 3 days 2 hours"),
            ("en", "99999999999999999999 days"),
            ("en", "9999 months"),
            ("fr", "11/21/2026"),
            ("de", "32.1.2026"),
            ("de", "morgen 25 Uhr"),
        ] {
            let reader = reader(language);
            let read = (reader.day(typed), reader.moment(typed, 8));
            assert_eq!(read, (None, None), "{language}: {typed}");
        }
        assert_eq!(reader("en").day("tomorrow 9:00"), None);
        assert_eq!(reader("en").day(&"1".repeat(TYPED_TIME_CHARS + 1)), None);
    }

    #[test]
    fn a_day_that_has_been_is_the_last_one() {
        let reader = reader("en");
        let read = |typed: &str| reader.past_day(typed).map(|day| day.to_string());
        assert_eq!(read("3 Nov").as_deref(), Some("2026-11-03"));
        assert_eq!(read("3 Dec").as_deref(), Some("2025-12-03"));
        assert_eq!(read("Friday").as_deref(), Some("2026-11-13"));
        assert_eq!(read("yesterday").as_deref(), Some("2026-11-17"));
    }

    #[test]
    fn a_clock_is_read_alone() {
        for (language, typed, clock) in [
            ("en", "8:30", Some("08:30")),
            ("en", "8am", Some("08:00")),
            ("en", "12 am", Some("00:00")),
            ("en", "12:15pm", Some("12:15")),
            ("de", "8 Uhr 30", Some("08:30")),
            ("de", "8.10", Some("08:10")),
            ("fr", "8h30", Some("08:30")),
            ("en", "tomorrow 8:30", None),
            ("en", "8:75", None),
            ("en", "13pm", None),
        ] {
            let read = typed_clock(language, typed).map(|time| time.strftime("%H:%M").to_string());
            assert_eq!(read.as_deref(), clock, "{language}: {typed}");
        }
    }

    #[test]
    fn a_day_is_read_again_as_it_is_shown() {
        for language in ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "ar", "xx"] {
            for day in ["2026-03-04", "2027-12-31", "2024-02-29"] {
                let day: Date = day.parse().expect("a day");
                let shown = day.strftime(day_form(language)).to_string();
                assert_eq!(reader(language).day(&shown), Some(day), "{language}: {shown}");
            }
        }
    }
}
