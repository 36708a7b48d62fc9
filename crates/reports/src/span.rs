//! The span of a report, and the days and months that it is read from.

use base::error::{Error, Result};
use base::limits::DAY_MS;
use calendar::zone_named;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use model::figures::report_facts::{QUARTER_HOUR_MS, QUARTER_HOURS, day_number};

/// The days of a report when none are named.
const USUAL_DAYS: i64 = 28;
/// The longest span: ten years.
const MOST_DAYS: i64 = 3_660;
/// A span may end so far ahead: this year's report is read before the year is over.
const DAYS_AHEAD: i64 = 366;

/// The days of a report, both ends included, on the clock of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportSpan {
    pub from: Date,
    pub to: Date,
    pub zone: TimeZone,
}

/// Part of a span, as counters have it in UTC: whole months, whole days, or quarter hours of a day. Both ends are
/// included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanPart {
    Months(i64, i64),
    Days(i64, i64),
    QuarterHours { day: i64, from: i64, to: i64 },
}

/// Where a part is read.
pub(super) struct PartRows {
    pub table: &'static str,
    /// The condition, on `?5` and the arguments behind it.
    pub condition: &'static str,
    pub bounds: Vec<i64>,
}

/// A time in which the clock of a zone is as far from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SteadyTime {
    /// In quarter hours since 1970; the end is not included.
    pub start: i64,
    pub end: i64,
    /// Seconds that the clock is ahead.
    pub ahead: i64,
}

impl ReportSpan {
    /// The span from and to these days, each as `2026-11-15`; the last 28 days where neither is named. The zone is
    /// one such as `Europe/Berlin`; UTC where none is named.
    pub fn parse(
        from: Option<&str>,
        to: Option<&str>,
        zone: Option<&str>,
        now: i64,
    ) -> Result<ReportSpan> {
        let zone = match zone {
            None => TimeZone::UTC,
            Some(name) => zone_named(name).ok_or_else(|| {
                Error::invalid("zone", "must be a time zone such as Europe/Berlin")
            })?,
        };
        let date = |text: &str| text.parse::<Date>().ok();
        let today = date_at(now, &zone);
        let to = to.and_then(date).unwrap_or(today);
        let usual = to.saturating_sub((USUAL_DAYS - 1).days());
        let span = ReportSpan { from: from.and_then(date).unwrap_or(usual), to, zone };
        if day_number(to) > day_number(today) + DAYS_AHEAD {
            return Err(Error::invalid("to", "must be at most a year ahead"));
        }
        match span.days() {
            days if days < 1 => Err(Error::invalid("to", "must not be before from")),
            days if days > MOST_DAYS => {
                Err(Error::invalid("from", "must be at most ten years before to"))
            }
            _ => Ok(span),
        }
    }

    pub fn days(&self) -> i64 {
        day_number(self.to) - day_number(self.from) + 1
    }

    /// The span of the same length just before.
    pub fn before(&self) -> ReportSpan {
        let to = self.from.saturating_sub(1.day());
        let from = to.saturating_sub((self.days() - 1).days());
        ReportSpan { from, to, zone: self.zone.clone() }
    }

    /// The name of the zone.
    pub fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// When a day begins on the clock of the zone, in quarter hours since 1970.
    pub(super) fn start_of(&self, day: i64) -> i64 {
        let begins = date_of(day).to_zoned(self.zone.clone());
        let millis = begins.map_or(day * DAY_MS, |at| at.timestamp().as_millisecond());
        millis.div_euclid(QUARTER_HOUR_MS)
    }

    /// The first quarter hour, and the one after the last.
    fn quarter_hours(&self) -> (i64, i64) {
        (self.start_of(day_number(self.from)), self.start_of(day_number(self.to) + 1))
    }

    /// What the span is read from, in order.
    pub(super) fn parts(&self) -> Vec<SpanPart> {
        let (start, end) = self.quarter_hours();
        parts_between(start, end)
    }

    /// The times between the changes of the zone's clock, in order.
    pub(super) fn steady_times(&self) -> Vec<SteadyTime> {
        let (mut start, end) = self.quarter_hours();
        let begins = instant(start);
        let mut ahead = i64::from(self.zone.to_offset(begins).seconds());
        let mut times = Vec::new();
        for change in self.zone.following(begins) {
            let at = change.timestamp().as_millisecond().div_euclid(QUARTER_HOUR_MS);
            if at >= end {
                break;
            }
            times.push(SteadyTime { start, end: at, ahead });
            (start, ahead) = (at, i64::from(change.offset().seconds()));
        }
        times.push(SteadyTime { start, end, ahead });
        times
    }
}

impl SpanPart {
    pub(super) fn rows(self) -> PartRows {
        match self {
            SpanPart::Months(from, to) => PartRows {
                table: "report_months",
                condition: "month >= ?5 AND month <= ?6",
                bounds: vec![from, to],
            },
            SpanPart::Days(from, to) => PartRows {
                table: "report_days",
                condition: "day >= ?5 AND day <= ?6",
                bounds: vec![from, to],
            },
            SpanPart::QuarterHours { day, from, to } => PartRows {
                table: "report_quarter_hours",
                condition: "day = ?5 AND quarter_hour >= ?6 AND quarter_hour <= ?7",
                bounds: vec![day, from, to],
            },
        }
    }

    /// Its days, both ends included, and the quarter hours of each.
    pub(super) fn days_and_quarter_hours(self) -> [i64; 4] {
        let last = QUARTER_HOURS - 1;
        match self {
            SpanPart::Months(from, to) => {
                let day = |month| first_of(month).map_or(0, day_number);
                [day(from), day(to + 1) - 1, 0, last]
            }
            SpanPart::Days(from, to) => [from, to, 0, last],
            SpanPart::QuarterHours { day, from, to } => [day, day, from, to],
        }
    }
}

/// The whole months and days of UTC between two quarter hours since 1970, and the quarter hours around them. The
/// second one is not included.
pub(super) fn parts_between(start: i64, end: i64) -> Vec<SpanPart> {
    let first = (start + QUARTER_HOURS - 1).div_euclid(QUARTER_HOURS);
    let after = end.div_euclid(QUARTER_HOURS);
    let of_day = |day: i64, start: i64, end: i64| SpanPart::QuarterHours {
        day,
        from: start - day * QUARTER_HOURS,
        to: end - day * QUARTER_HOURS - 1,
    };
    if first > after {
        return vec![of_day(after, start, end)];
    }
    let mut parts = Vec::new();
    if start < first * QUARTER_HOURS {
        parts.push(of_day(first - 1, start, first * QUARTER_HOURS));
    }
    if first < after {
        parts.extend(whole_days(first, after - 1));
    }
    if after * QUARTER_HOURS < end {
        parts.push(of_day(after, after * QUARTER_HOURS, end));
    }
    parts
}

/// The whole months between two days of UTC, and the days around them. Both are included.
pub(super) fn whole_days(first: i64, last: i64) -> Vec<SpanPart> {
    let (from, to) = (date_of(first), date_of(last));
    let next_month = |date: Date| date.first_of_month().saturating_add(1.month());
    let from_month = match from.day() {
        1 => from,
        _ => next_month(from),
    };
    let after_last = next_month(to);
    let is_whole = to == to.last_of_month();
    let until = if is_whole { after_last } else { to.first_of_month() };
    if from_month >= until {
        return vec![SpanPart::Days(first, last)];
    }
    let mut parts = Vec::new();
    if from_month > from {
        parts.push(SpanPart::Days(first, day_number(from_month) - 1));
    }
    parts.push(SpanPart::Months(month_number(from_month), month_number(until) - 1));
    if until <= to {
        parts.push(SpanPart::Days(day_number(until), last));
    }
    parts
}

/// The date at a moment on the clock of a zone.
pub(super) fn date_at(at: i64, zone: &TimeZone) -> Date {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    zone.to_datetime(at).date()
}

fn instant(quarter_hour: i64) -> Timestamp {
    let millis = quarter_hour.saturating_mul(QUARTER_HOUR_MS);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Months since January 1970.
pub fn month_number(date: Date) -> i64 {
    (i64::from(date.year()) - 1970) * 12 + i64::from(date.month()) - 1
}

pub fn date_of(day: i64) -> Date {
    Date::constant(1970, 1, 1).saturating_add(day.days())
}

/// The first day of a month; `None` outside the years that a date can have.
pub fn first_of(month: i64) -> Option<Date> {
    let year = i16::try_from(1970 + month.div_euclid(12)).ok()?;
    Date::new(year, month.rem_euclid(12) as i8 + 1, 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn span(from: Date, to: Date, zone: &str) -> ReportSpan {
        ReportSpan { from, to, zone: zone_named(zone).expect("a zone") }
    }

    fn parts(from: Date, to: Date, zone: &str) -> String {
        let parts = span(from, to, zone).parts();
        let shown = parts.into_iter().map(|part| match part {
            SpanPart::Days(from, to) => format!("{}..{}", date_of(from), date_of(to)),
            SpanPart::Months(from, to) => {
                format!("{}..{}", first_of(from).unwrap(), first_of(to).unwrap())
            }
            SpanPart::QuarterHours { day, from, to } => {
                format!("{} {from}..{to}", date_of(day))
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_span_is_whole_months_and_the_days_around_them() {
        let parts = |from, to| parts(from, to, "UTC");
        assert_eq!(parts(date(2026, 10, 16), date(2026, 11, 12)), "2026-10-16..2026-11-12");
        assert_eq!(parts(date(2026, 1, 1), date(2026, 12, 31)), "2026-01-01..2026-12-01");
        assert_eq!(
            parts(date(2025, 12, 30), date(2026, 3, 2)),
            "2025-12-30..2025-12-31, 2026-01-01..2026-02-01, 2026-03-01..2026-03-02"
        );
        assert_eq!(parts(date(2026, 2, 1), date(2026, 2, 28)), "2026-02-01..2026-02-01");
    }

    #[test]
    fn days_of_a_zone_begin_and_end_with_quarter_hours_of_utc() {
        let (from, to) = (date(2026, 10, 24), date(2026, 10, 25));
        // The second day has 25 hours.
        assert_eq!(
            parts(from, to, "Europe/Berlin"),
            "2026-10-23 88..95, 2026-10-24..2026-10-24, 2026-10-25 0..91"
        );
        assert_eq!(parts(from, from, "Asia/Kathmandu"), "2026-10-23 73..95, 2026-10-24 0..72");
        assert_eq!(parts(from, from, "America/New_York"), "2026-10-24 16..95, 2026-10-25 0..15");
        assert_eq!(parts_between(100, 104), [SpanPart::QuarterHours { day: 1, from: 4, to: 7 }]);
    }

    #[test]
    fn a_zone_is_as_far_from_utc_until_its_clock_changes() {
        let (from, to) = (date(2026, 10, 24), date(2026, 10, 26));
        let berlin = span(from, to, "Europe/Berlin").steady_times();
        let ahead: Vec<i64> = berlin.iter().map(|time| time.ahead).collect();
        assert_eq!(ahead, [7_200, 3_600]);
        assert_eq!(berlin[0].end, berlin[1].start);
        assert_eq!(berlin[1].end - berlin[0].start, 3 * QUARTER_HOURS + 4);
        assert_eq!(span(from, to, "UTC").steady_times().len(), 1);
    }

    #[test]
    fn a_span_that_ends_more_than_a_year_ahead_is_refused() {
        let now = 1_794_000_000_000; // 2026-11-06
        let parse = |from, to| ReportSpan::parse(Some(from), Some(to), None, now);
        assert!(parse("9999-01-01", "9999-12-31").is_err());
        assert!(parse("2026-01-01", "2027-11-30").is_err());
        assert!(parse("2026-01-01", "2026-12-31").is_ok());
        assert_eq!(first_of(month_number(date(9999, 12, 31)) + 1), None);
    }

    #[test]
    fn today_is_that_of_the_zone() {
        let now = 1_794_006_000_000; // 2026-11-06 23:00 in UTC
        let last = |zone| ReportSpan::parse(None, None, Some(zone), now).unwrap().to;
        assert_eq!(last("Europe/Berlin"), date(2026, 11, 7));
        assert_eq!(last("UTC"), date(2026, 11, 6));
        assert!(ReportSpan::parse(None, None, Some("Nowhere"), now).is_err());
    }

    #[test]
    fn the_span_before_is_as_long_and_ends_the_day_before() {
        let week = span(date(2026, 3, 1), date(2026, 3, 7), "UTC");
        assert_eq!(week.before(), span(date(2026, 2, 22), date(2026, 2, 28), "UTC"));
        assert_eq!(week.days(), 7);
    }
}
