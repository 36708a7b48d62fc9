//! Public holidays, from one file of rules for each country.
//!
//! A file has its places (`place DE-BY Germany, Bavaria`) and a line for each holiday: the rule of its
//! date, the parts of the country that have it (`*` for all), conditions, its name. Rules are
//! `12-25`, `easter+39`, `mon1/05` (the first Monday of May; `-1` is the last one; `+4` days may
//! follow) and `wed<11-23` (the last Wednesday before that day). `since=2019` is the first year.
//! `move=next`: on a weekend, the next weekday that is no holiday is free as well. `move=nearest`: the
//! Friday before or the Monday after is. `move=before`: it is a day earlier on a Sunday.

use std::sync::OnceLock;

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

const FILES: [&str; 11] = [
    include_str!("at.txt"),
    include_str!("ch.txt"),
    include_str!("de.txt"),
    include_str!("es.txt"),
    include_str!("fr.txt"),
    include_str!("gb.txt"),
    include_str!("it.txt"),
    include_str!("nl.txt"),
    include_str!("pl.txt"),
    include_str!("pt.txt"),
    include_str!("us.txt"),
];

/// A country, or a part of one, whose holidays are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolidayPlace {
    /// `DE` or `DE-BY`.
    pub code: &'static str,
    pub name: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicHoliday {
    pub date: Date,
    /// In a language of the country.
    pub name: &'static str,
}

struct CountryFile {
    places: Vec<HolidayPlace>,
    rules: Vec<HolidayRule>,
}

struct HolidayRule {
    day: DayRule,
    /// Empty for the whole country.
    parts: Vec<&'static str>,
    since: i16,
    moves: Option<WeekendMove>,
    name: &'static str,
}

#[derive(Clone, Copy)]
enum DayRule {
    Fixed { month: i8, day: i8 },
    Easter(i64),
    Nth { weekday: Weekday, nth: i8, month: i8, days: i64 },
    Before { weekday: Weekday, month: i8, day: i8 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WeekendMove {
    Next,
    Nearest,
    Before,
}

/// Every place whose holidays are known, by its name.
pub fn holiday_places() -> &'static [HolidayPlace] {
    static PLACES: OnceLock<Vec<HolidayPlace>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut places: Vec<HolidayPlace> =
            countries().iter().flat_map(|country| country.places.iter().copied()).collect();
        places.sort_by_key(|place| place.name);
        places
    })
}

/// The place of a code.
pub fn holiday_place(code: &str) -> Option<HolidayPlace> {
    holiday_places().iter().find(|place| place.code == code).copied()
}

/// The holidays of a place from `first` to `last`, in order. A place that is not known has none.
pub fn public_holidays(code: &str, first: Date, last: Date) -> Vec<PublicHoliday> {
    let country = countries().iter().find(|one| one.places.iter().any(|place| place.code == code));
    let Some(country) = country else { return Vec::new() };
    let part = code.split_once('-').map_or("", |(_, part)| part);
    let mut found: Vec<PublicHoliday> = Vec::new();
    // The first of January may be free on the day before it, which is of another year.
    for year in first.year()..=last.year().saturating_add(1) {
        found.extend(of_year(country, part, year));
    }
    found.retain(|holiday| (first..=last).contains(&holiday.date));
    found.sort_by_key(|holiday| holiday.date);
    found.dedup_by_key(|holiday| holiday.date);
    found
}

fn of_year(country: &CountryFile, part: &str, year: i16) -> Vec<PublicHoliday> {
    let applies = |rule: &&HolidayRule| {
        rule.since <= year && (rule.parts.is_empty() || rule.parts.contains(&part))
    };
    let rules: Vec<(&HolidayRule, Date)> = country
        .rules
        .iter()
        .filter(applies)
        .filter_map(|rule| Some((rule, rule.date_in(year)?)))
        .collect();
    let mut days: Vec<PublicHoliday> =
        rules.iter().map(|(rule, date)| PublicHoliday { date: *date, name: rule.name }).collect();
    for (rule, date) in rules {
        let moved = match (rule.moves, date.weekday()) {
            (Some(WeekendMove::Next), Weekday::Saturday | Weekday::Sunday) => {
                let is_free = |day: &Date| {
                    let is_weekend = matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
                    !is_weekend && !days.iter().any(|known| known.date == *day)
                };
                date.series(1.day()).take(14).find(is_free)
            }
            (Some(WeekendMove::Nearest), Weekday::Saturday) => date.yesterday().ok(),
            (Some(WeekendMove::Nearest), Weekday::Sunday) => date.tomorrow().ok(),
            _ => None,
        };
        days.extend(moved.map(|date| PublicHoliday { date, name: rule.name }));
    }
    days
}

impl HolidayRule {
    fn date_in(&self, year: i16) -> Option<Date> {
        let date = match self.day {
            DayRule::Fixed { month, day } => Date::new(year, month, day).ok()?,
            DayRule::Easter(days) => easter(year)?.saturating_add(days.days()),
            DayRule::Nth { weekday, nth, month, days } => {
                let first = Date::new(year, month, 1).ok()?;
                first.nth_weekday_of_month(nth, weekday).ok()?.saturating_add(days.days())
            }
            DayRule::Before { weekday, month, day } => {
                Date::new(year, month, day).ok()?.nth_weekday(-1, weekday).ok()?
            }
        };
        let is_before = self.moves == Some(WeekendMove::Before);
        match is_before && date.weekday() == Weekday::Sunday {
            true => date.yesterday().ok(),
            false => Some(date),
        }
    }
}

/// Easter Sunday of the Gregorian calendar, from the age of the moon on 1 January and the day of the
/// week that follows its full moon.
pub(crate) fn easter(year: i16) -> Option<Date> {
    let year = i32::from(year);
    let golden = year % 19;
    let century = year / 100;
    let skipped = century - century / 4;
    let lunar = (8 * century + 13) / 25;
    let epact = (skipped - lunar + 19 * golden + 15) % 30;
    let moon = epact - (epact / 28) * (1 - (29 / (epact + 1)) * ((21 - golden) / 11));
    let weekday = (year + year / 4 + moon + 2 - skipped) % 7;
    let days = moon - weekday;
    let month = 3 + (days + 40) / 44;
    let day = days + 28 - 31 * (month / 4);
    Date::new(year as i16, month as i8, day as i8).ok()
}

fn countries() -> &'static [CountryFile] {
    static COUNTRIES: OnceLock<Vec<CountryFile>> = OnceLock::new();
    // The files are part of the program, and a test reads all of them: a line that cannot be read is
    // left out here and fails there.
    COUNTRIES.get_or_init(|| FILES.iter().map(|text| read(text)).collect())
}

fn read(text: &'static str) -> CountryFile {
    let place = |line: &'static str| {
        let (code, name) = line.strip_prefix("place ")?.split_once(' ')?;
        Some(HolidayPlace { code, name })
    };
    CountryFile {
        places: text.lines().filter_map(place).collect(),
        rules: text.lines().filter(|line| !line.starts_with("place ")).filter_map(rule).collect(),
    }
}

fn rule(line: &'static str) -> Option<HolidayRule> {
    let (day, rest) = line.split_once(' ')?;
    let (parts, mut name) = rest.split_once(' ')?;
    let (mut since, mut moves) = (0, None);
    while let Some((word, rest)) = name.split_once(' ') {
        if let Some(year) = word.strip_prefix("since=") {
            since = year.parse().ok()?;
        } else if let Some(kind) = word.strip_prefix("move=") {
            moves = Some(match kind {
                "next" => WeekendMove::Next,
                "nearest" => WeekendMove::Nearest,
                "before" => WeekendMove::Before,
                _ => return None,
            });
        } else {
            break;
        }
        name = rest;
    }
    let parts = if parts == "*" { Vec::new() } else { parts.split(',').collect() };
    Some(HolidayRule { day: day_rule(day)?, parts, since, moves, name })
}

fn day_rule(text: &str) -> Option<DayRule> {
    if let Some(days) = text.strip_prefix("easter") {
        return Some(DayRule::Easter(days.parse().ok()?));
    }
    let month_day = |text: &str| {
        let (month, day) = text.split_once('-')?;
        Some((month.parse::<i8>().ok()?, day.parse::<i8>().ok()?))
    };
    if let Some((weekday, date)) = text.split_once('<') {
        let (month, day) = month_day(date)?;
        return Some(DayRule::Before { weekday: weekday_named(weekday)?, month, day });
    }
    if let Some((which, month)) = text.split_once('/') {
        let (weekday, nth) = which.split_at_checked(3)?;
        let (month, days) = month.split_once('+').unwrap_or((month, "0"));
        return Some(DayRule::Nth {
            weekday: weekday_named(weekday)?,
            nth: nth.parse().ok()?,
            month: month.parse().ok()?,
            days: days.parse().ok()?,
        });
    }
    let (month, day) = month_day(text)?;
    Some(DayRule::Fixed { month, day })
}

fn weekday_named(name: &str) -> Option<Weekday> {
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let place = names.iter().position(|known| *known == name)?;
    Weekday::from_monday_zero_offset(i8::try_from(place).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_file_is_read_and_names_parts_that_there_are() {
        for text in FILES {
            let country = read(text);
            assert_eq!(country.places.len() + country.rules.len(), text.lines().count());
            assert!(!country.places.is_empty());
            for part in country.rules.iter().flat_map(|rule| &rule.parts) {
                let ending = format!("-{part}");
                assert!(country.places.iter().any(|one| one.code.ends_with(&ending)), "{part}");
            }
        }
    }
}
