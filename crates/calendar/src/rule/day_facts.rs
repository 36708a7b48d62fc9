//! A day of the calendar with what recurrence rules ask about it.

use crate::civil::{DayNumber, days_before, month_length, split, week_start, weekday_of};

/// What the parts of a rule ask about a day.
#[derive(Clone, Copy)]
pub(super) struct DayFacts {
    pub day: DayNumber,
    pub year: i64,
    pub month: i64,
    pub month_day: i64,
    /// 1 is the first of January.
    pub year_day: i64,
    pub weekday: u8,
}

impl DayFacts {
    pub fn of(day: DayNumber) -> DayFacts {
        let (year, month, month_day) = split(day);
        let year_day = day - days_before(year, 1) + 1;
        DayFacts { day, year, month, month_day, year_day, weekday: weekday_of(day) }
    }

    pub fn next(self) -> DayFacts {
        if self.month_day == month_length(self.year, self.month) {
            return DayFacts::of(self.day + 1);
        }
        DayFacts {
            day: self.day + 1,
            month_day: self.month_day + 1,
            year_day: self.year_day + 1,
            weekday: (self.weekday + 1) % 7,
            ..self
        }
    }
}

/// Year and number of a week: it belongs to the year that has four of its days (RFC 5545 3.3.10).
pub(super) fn week_of(day: DayNumber, week_begins: u8) -> (i64, i64) {
    let fourth = week_start(day, week_begins) + 3;
    let (year, _, _) = split(fourth);
    (year, (fourth - days_before(year, 1)) / 7 + 1)
}
