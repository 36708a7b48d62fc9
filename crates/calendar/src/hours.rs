//! When a host works: weekly hours with breaks, days that differ, days off and stays in other
//! zones, and the windows of time that follow from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::limits::DAY_RANGES;
use crate::range::TimeRange;
use crate::zones::instant_in;

const HOUR: u16 = 60;
const DAY: u16 = 24 * HOUR;
const DAY_NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A range of a day's clock, in minutes since midnight. An end after 24:00 is on the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockRange {
    start: u16,
    end: u16,
}

/// The ranges of each day of the week, Monday first: `mon-fri 09:00-12:00,13:00-17:00; sat 10:00-12:00`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeeklyHours {
    days: [Vec<ClockRange>; 7],
}

/// Days, the last included, that a host spends in another zone and works by its clock.
#[derive(Clone, Debug)]
pub struct TravelStay {
    pub first: Date,
    pub last: Date,
    pub zone: TimeZone,
}

#[derive(Clone, Debug)]
pub struct HostHours {
    pub zone: TimeZone,
    pub weekly: WeeklyHours,
    /// Dates with hours of their own; an empty list is a day off.
    pub dates: BTreeMap<Date, Vec<ClockRange>>,
    /// Public holidays. A date with hours of its own counts more.
    pub holidays: BTreeSet<Date>,
    pub stays: Vec<TravelStay>,
}

/// A stretch of a host's working time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoursWindow {
    /// The date whose hours these are, in the host's zone on that date.
    pub date: Date,
    pub range: TimeRange,
}

/// Why hours cannot be read. The sentence is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoursError {
    Day,
    Time,
    Empty,
    Overlap,
    TooMany,
}

impl HoursError {
    pub fn sentence(self) -> &'static str {
        match self {
            HoursError::Day => "Days are written as mon, tue, wed, thu, fri, sat or sun.",
            HoursError::Time => "Hours are written as 09:00-12:00,13:00-17:00.",
            HoursError::Empty => "Hours must end later than they begin.",
            HoursError::Overlap => "The hours of a day overlap.",
            HoursError::TooMany => "A day has too many hours.",
        }
    }
}

impl fmt::Display for HoursError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for HoursError {}

impl HostHours {
    pub fn new(zone: TimeZone, weekly: WeeklyHours) -> HostHours {
        HostHours {
            zone,
            weekly,
            dates: BTreeMap::new(),
            holidays: BTreeSet::new(),
            stays: Vec::new(),
        }
    }

    /// The windows of the dates from `first` to `last`, in order of dates.
    ///
    /// Both ends are civil times of the date's zone. One that a change of the clock leaves out is
    /// later by as much as the clock was put forward; of one that comes twice the first is meant.
    pub fn windows(&self, first: Date, last: Date) -> Vec<HoursWindow> {
        let mut windows = Vec::new();
        for date in first.series(1.day()).take_while(|date| *date <= last) {
            let zone = self.zone_on(date);
            for range in self.ranges_on(date) {
                let at = |minutes| instant_in(zone, time_on(date, minutes));
                let range = TimeRange::new(at(range.start), at(range.end));
                if !range.is_empty() {
                    windows.push(HoursWindow { date, range });
                }
            }
        }
        windows
    }

    /// The zone whose clock the host works by on a date.
    pub fn zone_on(&self, date: Date) -> &TimeZone {
        let stay = self.stays.iter().find(|stay| (stay.first..=stay.last).contains(&date));
        stay.map_or(&self.zone, |stay| &stay.zone)
    }

    pub fn ranges_on(&self, date: Date) -> &[ClockRange] {
        if let Some(ranges) = self.dates.get(&date) {
            return ranges;
        }
        match self.holidays.contains(&date) {
            true => &[],
            false => &self.weekly.days[date.weekday().to_monday_zero_offset() as usize],
        }
    }

    /// The whole of a date on its zone's clock.
    pub(crate) fn day(&self, date: Date) -> TimeRange {
        let zone = self.zone_on(date);
        let at = |minutes| instant_in(zone, time_on(date, minutes));
        TimeRange::new(at(0), at(DAY))
    }
}

fn time_on(date: Date, minutes: u16) -> DateTime {
    let date = date.saturating_add(i64::from(minutes / DAY).days());
    date.at((minutes % DAY / HOUR) as i8, (minutes % HOUR) as i8, 0, 0)
}

impl WeeklyHours {
    /// Reads hours whose days may have other names than the English ones. `day` gives the place of a name
    /// in the week; Monday's is 0.
    pub fn read(
        text: &str,
        day: impl Fn(&str) -> Option<usize>,
    ) -> Result<WeeklyHours, HoursError> {
        let mut hours = WeeklyHours::default();
        for part in text.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
            let (days, ranges) = part.split_once(char::is_whitespace).ok_or(HoursError::Time)?;
            let ranges = clock_ranges(ranges)?;
            for day in parse_days(days, &day)? {
                hours.days[day].extend(&ranges);
                hours.days[day] = in_order(std::mem::take(&mut hours.days[day]))?;
            }
        }
        Ok(hours)
    }

    /// The hours in words, with these names of the days from Monday on. Days with the same hours stand
    /// together, so that reading it again gives the same hours.
    pub fn words(&self, names: &[&str; 7]) -> String {
        let mut parts = Vec::new();
        for (at, ranges) in self.days.iter().enumerate() {
            if ranges.is_empty() || self.days[..at].contains(ranges) {
                continue;
            }
            let same: Vec<usize> = (at..7).filter(|day| self.days[*day] == *ranges).collect();
            let ranges: Vec<String> = ranges.iter().map(ClockRange::to_string).collect();
            parts.push(format!("{} {}", day_words(&same, names), ranges.join(",")));
        }
        parts.join("; ")
    }

    /// The ranges of one day of the week; Monday is 0.
    pub fn of_day(&self, day: usize) -> &[ClockRange] {
        self.days.get(day).map(Vec::as_slice).unwrap_or_default()
    }
}

impl FromStr for WeeklyHours {
    type Err = HoursError;

    fn from_str(text: &str) -> Result<WeeklyHours, HoursError> {
        WeeklyHours::read(text, english_day)
    }
}

impl fmt::Display for WeeklyHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(&DAY_NAMES))
    }
}

/// Days of the week in order: `mon-wed,fri`.
fn day_words(days: &[usize], names: &[&str; 7]) -> String {
    let runs = days.chunk_by(|day, next| day + 1 == *next);
    let words = runs.map(|run| match run {
        [first, _, .., last] => format!("{}-{}", names[*first], names[*last]),
        _ => run.iter().map(|day| names[*day]).collect::<Vec<_>>().join(","),
    });
    words.collect::<Vec<_>>().join(",")
}

impl fmt::Display for ClockRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.end > DAY { self.end - DAY } else { self.end };
        let (start, start_minute) = (self.start / HOUR, self.start % HOUR);
        write!(f, "{start:02}:{start_minute:02}-{:02}:{:02}", end / HOUR, end % HOUR)
    }
}

/// The hours of one date: `10:00-12:00,14:00-16:00`. An empty text is a day off. A range that ends
/// at or before its start ends on the next day.
pub fn clock_ranges(text: &str) -> Result<Vec<ClockRange>, HoursError> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    in_order(parts.map(clock_range).collect::<Result<_, _>>()?)
}

fn in_order(mut ranges: Vec<ClockRange>) -> Result<Vec<ClockRange>, HoursError> {
    ranges.sort_unstable();
    if ranges.len() > DAY_RANGES {
        return Err(HoursError::TooMany);
    }
    match ranges.windows(2).any(|pair| pair[1].start < pair[0].end) {
        true => Err(HoursError::Overlap),
        false => Ok(ranges),
    }
}

fn clock_range(text: &str) -> Result<ClockRange, HoursError> {
    let (start, end) = text.split_once(['-', '–']).ok_or(HoursError::Time)?;
    let (start, end) = (clock(start)?, clock(end)?);
    match start.cmp(&end) {
        std::cmp::Ordering::Less => Ok(ClockRange { start, end }),
        std::cmp::Ordering::Equal => Err(HoursError::Empty),
        // 00:00 is a way to write the end of the day.
        std::cmp::Ordering::Greater if start < DAY => Ok(ClockRange { start, end: end + DAY }),
        std::cmp::Ordering::Greater => Err(HoursError::Empty),
    }
}

/// `9`, `9:30`, `09:30`, up to `24:00`.
fn clock(text: &str) -> Result<u16, HoursError> {
    let (hour, minute) = text.trim().split_once(':').unwrap_or((text.trim(), "00"));
    let number = |text: &str, most: u16| {
        let is_number = matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse::<u16>().ok().filter(|n| is_number && *n <= most);
        number.ok_or(HoursError::Time)
    };
    let time = number(hour, 24)? * HOUR + number(minute, 59)?;
    if time > DAY { Err(HoursError::Time) } else { Ok(time) }
}

/// `mon-fri`, `mon,wed`, `sat-mon`, also written out.
fn parse_days(text: &str, day: &impl Fn(&str) -> Option<usize>) -> Result<Vec<usize>, HoursError> {
    let place = |name: &str| day(name.trim()).filter(|place| *place < 7).ok_or(HoursError::Day);
    let mut days = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once(['-', '–']).unwrap_or((part, part));
        let (first, last) = (place(first)?, place(last)?);
        days.extend((0..=(last + 7 - first) % 7).map(|n| (first + n) % 7));
    }
    Ok(days)
}

fn english_day(text: &str) -> Option<usize> {
    let text = text.to_ascii_lowercase();
    let long = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let is_day = |name: &str| text.len() >= 3 && name.starts_with(&text);
    long.iter().position(|name| is_day(name))
}
