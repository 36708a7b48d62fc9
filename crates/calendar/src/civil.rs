//! Civil dates and times as plain numbers, for arithmetic over long series.

use jiff::civil::{Date, DateTime, Time};

pub(crate) const DAY_SECONDS: i64 = 86_400;
/// 1970-01-01 was a Thursday, and days of the week count from Monday.
const EPOCH_WEEKDAY: i64 = 3;

/// Seconds since 1970-01-01 on a clock that never changes.
pub(crate) type CivilSeconds = i64;
/// Days since 1970-01-01.
pub(crate) type DayNumber = i64;

pub(crate) fn day_number(date: Date) -> DayNumber {
    days_before(i64::from(date.year()), i64::from(date.month())) + i64::from(date.day()) - 1
}

pub(crate) fn civil_seconds(time: DateTime) -> CivilSeconds {
    day_number(time.date()) * DAY_SECONDS
        + i64::from(time.hour()) * 3_600
        + i64::from(time.minute()) * 60
        + i64::from(time.second())
}

/// The date, held within the years that can be written.
pub(crate) fn date_of(day: DayNumber) -> Date {
    let day = day.clamp(day_number(Date::MIN), day_number(Date::MAX));
    let (year, month, day) = split(day);
    Date::new(year as i16, month as i8, day as i8).unwrap_or(Date::MAX)
}

/// The date and time, held within the years that can be written.
pub(crate) fn date_time_of(seconds: CivilSeconds) -> DateTime {
    let time = seconds.rem_euclid(DAY_SECONDS);
    let clock = Time::new((time / 3_600) as i8, (time / 60 % 60) as i8, (time % 60) as i8, 0);
    date_of(seconds.div_euclid(DAY_SECONDS)).to_datetime(clock.unwrap_or(Time::MIN))
}

/// 0 is Monday.
pub(crate) fn weekday_of(day: DayNumber) -> u8 {
    (day + EPOCH_WEEKDAY).rem_euclid(7) as u8
}

/// The day on which the week of a day begins, for weeks that begin on `first`.
pub(crate) fn week_start(day: DayNumber, first: u8) -> DayNumber {
    day - (i64::from(weekday_of(day)) - i64::from(first)).rem_euclid(7)
}

pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(crate) fn year_length(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

pub(crate) fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of the first day of a month.
pub(crate) fn days_before(year: i64, month: i64) -> DayNumber {
    // Years begin in March here, so that the day that comes and goes is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of the month.
pub(crate) fn split(day: DayNumber) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_day_number_leads_back_to_its_date_in_every_year() {
        for year in (-400..9_999).step_by(7) {
            for (month, day) in [(1, 1), (2, 28), (3, 1), (7, 31), (12, 31)] {
                let date = date(year, month, day);
                let number = day_number(date);
                assert_eq!(date_of(number), date);
                assert_eq!(weekday_of(number), date.weekday().to_monday_zero_offset() as u8);
            }
        }
    }
}
