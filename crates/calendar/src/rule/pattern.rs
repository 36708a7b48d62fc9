//! A rule as periods of years, months, weeks, days or less, and the occurrences of each period.

use super::budget::{ExpansionBudget, TooMuchWork};
use super::day_facts::{DayFacts, week_of};
use super::{Frequency, RecurrenceRule};
use crate::civil::{
    CivilSeconds, DAY_SECONDS, DayNumber, days_before, month_length, split, week_start, year_length,
};

/// Steps of work for each second, minute or hour that a rule counts in.
const SHORT_PERIOD_STEPS: u64 = 5;

/// A rule with what it leaves unsaid taken from the start (RFC 5545 3.3.10).
pub(super) struct Pattern<'a> {
    rule: &'a RecurrenceRule,
    start: CivilSeconds,
    start_year: i64,
    start_month: i64,
    /// Bit `n` for month `n`; 0 for every month.
    months: u32,
    month_days: Vec<i64>,
    /// Bit 0 for Monday. If there are no `nth_weekdays` either, 0 is every day.
    weekdays: u8,
    nth_weekdays: Vec<(i64, u8)>,
    /// Seconds after the beginning of the day, or of an hourly, minutely or secondly period.
    times: Vec<i64>,
}

impl<'a> Pattern<'a> {
    pub fn new(
        rule: &'a RecurrenceRule,
        start: CivilSeconds,
        work: &mut ExpansionBudget,
    ) -> Result<Pattern<'a>, TooMuchWork> {
        let facts = DayFacts::of(start.div_euclid(DAY_SECONDS));
        let mut pattern = Pattern {
            rule,
            start,
            start_year: facts.year,
            start_month: facts.month,
            months: rule.months.iter().fold(0, |bits, month| bits | 1 << month),
            month_days: rule.month_days.clone(),
            weekdays: 0,
            nth_weekdays: Vec::new(),
            times: times_of(rule, start),
        };
        work.spend(pattern.times.len() as u64)?;
        pattern.take_weekdays();
        pattern.take_defaults(&facts);
        Ok(pattern)
    }

    /// A number before a weekday has a meaning in months and years, unless weeks are numbered.
    fn take_weekdays(&mut self) {
        let rule = self.rule;
        let has_numbers = rule.frequency >= Frequency::Monthly && rule.week_numbers.is_empty();
        for weekday in &rule.weekdays {
            match weekday.nth {
                Some(nth) if has_numbers => self.nth_weekdays.push((nth, weekday.weekday)),
                _ => self.weekdays |= 1 << weekday.weekday,
            }
        }
    }

    fn take_defaults(&mut self, start: &DayFacts) {
        let rule = self.rule;
        if !rule.weekdays.is_empty() || !rule.month_days.is_empty() || !rule.year_days.is_empty() {
            return;
        }
        match rule.frequency {
            Frequency::Yearly if rule.week_numbers.is_empty() => {
                if self.months == 0 {
                    self.months = 1 << start.month;
                }
                self.month_days = vec![start.month_day];
            }
            Frequency::Yearly | Frequency::Weekly => self.weekdays = 1 << start.weekday,
            Frequency::Monthly if rule.week_numbers.is_empty() => {
                self.month_days = vec![start.month_day];
            }
            _ => {}
        }
    }

    /// The period to begin with, and how many occurrences come before it.
    pub fn first_period(
        &self,
        from: CivilSeconds,
        work: &mut ExpansionBudget,
    ) -> Result<(i64, u64), TooMuchWork> {
        let period = self.period_of(from);
        if period == 0 || self.rule.count.is_none() {
            return Ok((period, 0));
        }
        let Some(of_each) = self.occurrences_of_each_period() else { return Ok((0, 0)) };
        let mut first = Vec::new();
        self.fill(0, &mut first, work)?;
        let of_first = first.iter().filter(|time| **time >= self.start).count() as u64;
        Ok((period, of_first + (period as u64 - 1) * of_each))
    }

    /// How many occurrences each period has, if all have equally many.
    fn occurrences_of_each_period(&self) -> Option<u64> {
        let rule = self.rule;
        let is_simple = rule.positions.is_empty()
            && rule.week_numbers.is_empty()
            && rule.year_days.is_empty()
            && self.nth_weekdays.is_empty();
        let in_every_month = self.month_days.iter().all(|day| (1..=28).contains(day));
        if !is_simple || !in_every_month {
            return None;
        }
        let month_days = self.month_days.len() as u64;
        let days = match rule.frequency {
            Frequency::Yearly if self.weekdays == 0 && self.months != 0 => {
                u64::from(self.months.count_ones()) * month_days
            }
            _ if self.months != 0 => return None,
            Frequency::Monthly if self.weekdays == 0 => month_days,
            Frequency::Weekly if month_days == 0 => u64::from(self.weekdays.count_ones()),
            _ if self.weekdays != 0 || month_days != 0 => return None,
            Frequency::Daily => 1,
            Frequency::Hourly if rule.hours.is_empty() => 1,
            Frequency::Minutely if rule.hours.is_empty() && rule.minutes.is_empty() => 1,
            Frequency::Secondly
                if rule.hours.is_empty() && rule.minutes.is_empty() && rule.seconds.is_empty() =>
            {
                1
            }
            _ => return None,
        };
        Some(days * self.times.len() as u64)
    }

    pub fn period_start(&self, period: i64) -> CivilSeconds {
        let steps = period * self.rule.interval;
        match self.rule.frequency {
            Frequency::Yearly => days_before(self.start_year + steps, 1) * DAY_SECONDS,
            Frequency::Monthly => {
                let (year, month) = self.month_after(steps);
                days_before(year, month) * DAY_SECONDS
            }
            _ => self.first_start() + steps * self.seconds_of_unit(),
        }
    }

    /// The period that holds a time, or the last one that begins before it.
    fn period_of(&self, time: CivilSeconds) -> i64 {
        let (year, month, _) = split(time.div_euclid(DAY_SECONDS));
        let steps = match self.rule.frequency {
            Frequency::Yearly => year - self.start_year,
            Frequency::Monthly => (year - self.start_year) * 12 + month - self.start_month,
            _ => (time - self.first_start()).div_euclid(self.seconds_of_unit()),
        };
        steps.div_euclid(self.rule.interval).max(0)
    }

    /// The beginning of the first period that is shorter than a month.
    fn first_start(&self) -> CivilSeconds {
        match self.rule.frequency {
            Frequency::Weekly => {
                let day = self.start.div_euclid(DAY_SECONDS);
                week_start(day, self.rule.week_begins) * DAY_SECONDS
            }
            _ => self.start - self.start.rem_euclid(self.seconds_of_unit()),
        }
    }

    fn seconds_of_unit(&self) -> i64 {
        match self.rule.frequency {
            Frequency::Secondly => 1,
            Frequency::Minutely => 60,
            Frequency::Hourly => 3_600,
            Frequency::Weekly => 7 * DAY_SECONDS,
            _ => DAY_SECONDS,
        }
    }

    fn month_after(&self, steps: i64) -> (i64, i64) {
        let months = self.start_year * 12 + self.start_month - 1 + steps;
        (months.div_euclid(12), months.rem_euclid(12) + 1)
    }

    /// A day on which nothing can be is passed over at once, however short the periods are.
    pub fn next_period(&self, period: i64) -> i64 {
        if self.rule.frequency < Frequency::Daily {
            let day = self.period_start(period).div_euclid(DAY_SECONDS);
            if !self.has_day(&DayFacts::of(day)) {
                return (period + 1).max(self.period_of((day + 1) * DAY_SECONDS));
            }
        }
        period + 1
    }

    /// Adds the occurrences of one period, in order.
    pub fn fill(
        &self,
        period: i64,
        set: &mut Vec<CivilSeconds>,
        work: &mut ExpansionBudget,
    ) -> Result<(), TooMuchWork> {
        let begins = self.period_start(period);
        let first_day = begins.div_euclid(DAY_SECONDS);
        match self.rule.frequency {
            Frequency::Yearly => {
                let (year, _, _) = split(first_day);
                for month in (1..=12).filter(|month| self.has_month(*month)) {
                    let day = days_before(year, month);
                    self.fill_days(day..day + month_length(year, month), set, work)?;
                }
            }
            Frequency::Monthly => {
                let (year, month, _) = split(first_day);
                let days = if self.has_month(month) { month_length(year, month) } else { 0 };
                self.fill_days(first_day..first_day + days, set, work)?;
            }
            Frequency::Weekly => self.fill_days(first_day..first_day + 7, set, work)?,
            Frequency::Daily => self.fill_days(first_day..first_day + 1, set, work)?,
            _ => {
                work.spend(SHORT_PERIOD_STEPS + self.day_cost() + self.times.len() as u64)?;
                if self.has_clock(begins.rem_euclid(DAY_SECONDS))
                    && self.has_day(&DayFacts::of(first_day))
                {
                    set.extend(self.times.iter().map(|time| begins + time));
                }
            }
        }
        if !self.rule.positions.is_empty() {
            *set = choose_positions(set, &self.rule.positions);
        }
        Ok(())
    }

    fn fill_days(
        &self,
        days: std::ops::Range<DayNumber>,
        set: &mut Vec<CivilSeconds>,
        work: &mut ExpansionBudget,
    ) -> Result<(), TooMuchWork> {
        work.spend(1 + (days.end - days.start) as u64 * self.day_cost())?;
        let mut day = DayFacts::of(days.start);
        while day.day < days.end {
            if self.has_day(&day) {
                work.spend(self.times.len() as u64)?;
                set.extend(self.times.iter().map(|time| day.day * DAY_SECONDS + time));
            }
            day = day.next();
        }
        Ok(())
    }

    /// Long lists of numbers take longer to look through.
    fn day_cost(&self) -> u64 {
        let numbers = self.rule.year_days.len()
            + self.rule.week_numbers.len()
            + self.month_days.len()
            + self.nth_weekdays.len();
        1 + numbers as u64 / 8
    }

    fn has_month(&self, month: i64) -> bool {
        self.months == 0 || self.months & 1 << month != 0
    }

    fn has_day(&self, day: &DayFacts) -> bool {
        self.has_month(day.month)
            && self.has_weekday(day)
            && self.has_month_day(day)
            && self.has_year_day(day)
            && (self.rule.week_numbers.is_empty() || self.has_week_of(day.day))
    }

    fn has_weekday(&self, day: &DayFacts) -> bool {
        if self.weekdays == 0 && self.nth_weekdays.is_empty() {
            return true;
        }
        if self.weekdays & 1 << day.weekday != 0 {
            return true;
        }
        let in_year = self.rule.frequency == Frequency::Yearly && self.rule.months.is_empty();
        let (at, length) = match in_year {
            true => (day.year_day, year_length(day.year)),
            false => (day.month_day, month_length(day.year, day.month)),
        };
        let (nth, nth_last) = ((at - 1) / 7 + 1, -((length - at) / 7 + 1));
        self.nth_weekdays
            .iter()
            .any(|(n, weekday)| *weekday == day.weekday && (*n == nth || *n == nth_last))
    }

    fn has_month_day(&self, day: &DayFacts) -> bool {
        let from_end = day.month_day - month_length(day.year, day.month) - 1;
        self.month_days.is_empty()
            || self.month_days.iter().any(|n| *n == day.month_day || *n == from_end)
    }

    fn has_year_day(&self, day: &DayFacts) -> bool {
        let days = &self.rule.year_days;
        let from_end = day.year_day - year_length(day.year) - 1;
        days.is_empty() || days.iter().any(|n| *n == day.year_day || *n == from_end)
    }

    fn has_week_of(&self, day: DayNumber) -> bool {
        let (year, week) = week_of(day, self.rule.week_begins);
        // The 28th of December is in the last week of every year, as the 4th of January is in
        // the first.
        let (_, weeks) = week_of(days_before(year, 12) + 27, self.rule.week_begins);
        self.rule.week_numbers.iter().any(|n| *n == week || *n == week - weeks - 1)
    }

    /// Whether the beginning of an hour, minute or second is at one that the rule names.
    fn has_clock(&self, time: i64) -> bool {
        let rule = self.rule;
        let has = |list: &[i64], value| list.is_empty() || list.contains(&value);
        has(&rule.hours, time / 3_600)
            && (rule.frequency > Frequency::Minutely || has(&rule.minutes, time / 60 % 60))
            && (rule.frequency > Frequency::Secondly || has(&rule.seconds, time % 60))
    }
}

fn times_of(rule: &RecurrenceRule, start: CivilSeconds) -> Vec<i64> {
    let clock = start.rem_euclid(DAY_SECONDS);
    let or_start = |list: &[i64], from_start| match list {
        [] => vec![from_start],
        list => list.to_vec(),
    };
    let hours = match rule.frequency {
        Frequency::Secondly | Frequency::Minutely | Frequency::Hourly => vec![0],
        _ => or_start(&rule.hours, clock / 3_600),
    };
    let minutes = match rule.frequency {
        Frequency::Secondly | Frequency::Minutely => vec![0],
        _ => or_start(&rule.minutes, clock / 60 % 60),
    };
    let seconds = match rule.frequency {
        Frequency::Secondly => vec![0],
        _ => or_start(&rule.seconds, clock % 60),
    };
    let mut times = Vec::with_capacity(hours.len() * minutes.len() * seconds.len());
    for hour in &hours {
        for minute in &minutes {
            let at = hour * 3_600 + minute * 60;
            times.extend(seconds.iter().filter(|second| **second < 60).map(|second| at + second));
        }
    }
    times
}

/// BYSETPOS: the nth of a period's set, from either end.
fn choose_positions(set: &[CivilSeconds], positions: &[i64]) -> Vec<CivilSeconds> {
    let length = set.len() as i64;
    let mut chosen: Vec<CivilSeconds> = positions
        .iter()
        .map(|n| if *n > 0 { n - 1 } else { length + n })
        .filter_map(|at| set.get(usize::try_from(at).ok()?).copied())
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
