//! The span of a report, and the days and months that it is read from.

use base::error::{Error, Result};
use base::time::Moment;
use jiff::ToSpan;
use jiff::civil::Date;
use model::figures::report_facts::day_number;

/// The days of a report when none are named.
const USUAL_DAYS: i64 = 28;
/// The longest span: ten years.
const MOST_DAYS: i64 = 3_660;
/// A span may end so far ahead: this year's report is read before the year is over.
const DAYS_AHEAD: i64 = 366;

/// The days of a report, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSpan {
    pub from: Date,
    pub to: Date,
}

/// Part of a span: whole months, or days that are no whole month. Both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanPart {
    Days(i64, i64),
    Months(i64, i64),
}

impl ReportSpan {
    /// The span from and to these days, each as `2026-11-15`; the last 28 days where neither is named.
    pub fn parse(from: Option<&str>, to: Option<&str>, now: i64) -> Result<ReportSpan> {
        let date = |text: &str| text.parse::<Date>().ok();
        let today = date(&Moment(now).iso()[..10]).unwrap_or(Date::MIN);
        let to = to.and_then(date).unwrap_or(today);
        let usual = to.saturating_sub((USUAL_DAYS - 1).days());
        let span = ReportSpan { from: from.and_then(date).unwrap_or(usual), to };
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
        ReportSpan { from: to.saturating_sub((self.days() - 1).days()), to }
    }

    /// The days and whole months that make up the span, in order.
    pub(super) fn parts(&self) -> Vec<SpanPart> {
        let (first, last) = (day_number(self.from), day_number(self.to));
        let next_month = |date: Date| date.first_of_month().saturating_add(1.month());
        let from_month = match self.from.day() {
            1 => self.from,
            _ => next_month(self.from),
        };
        let after_last = next_month(self.to);
        let is_whole = self.to == self.to.last_of_month();
        let until = if is_whole { after_last } else { self.to.first_of_month() };
        if from_month >= until {
            return vec![SpanPart::Days(first, last)];
        }
        let mut parts = Vec::new();
        if from_month > self.from {
            parts.push(SpanPart::Days(first, day_number(from_month) - 1));
        }
        parts.push(SpanPart::Months(month_number(from_month), month_number(until) - 1));
        if until <= self.to {
            parts.push(SpanPart::Days(day_number(until), last));
        }
        parts
    }
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

    fn parts(from: Date, to: Date) -> String {
        let parts = ReportSpan { from, to }.parts();
        let shown = parts.into_iter().map(|part| match part {
            SpanPart::Days(from, to) => format!("{}..{}", date_of(from), date_of(to)),
            SpanPart::Months(from, to) => {
                format!("{}..{}", first_of(from).unwrap(), first_of(to).unwrap())
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_span_is_whole_months_and_the_days_around_them() {
        assert_eq!(parts(date(2026, 10, 16), date(2026, 11, 12)), "2026-10-16..2026-11-12");
        assert_eq!(parts(date(2026, 1, 1), date(2026, 12, 31)), "2026-01-01..2026-12-01");
        assert_eq!(
            parts(date(2025, 12, 30), date(2026, 3, 2)),
            "2025-12-30..2025-12-31 2026-01-01..2026-02-01 2026-03-01..2026-03-02"
        );
        assert_eq!(parts(date(2026, 2, 1), date(2026, 2, 28)), "2026-02-01..2026-02-01");
    }

    #[test]
    fn a_span_that_ends_more_than_a_year_ahead_is_refused() {
        let now = 1_794_000_000_000; // 2026-11-06
        assert!(ReportSpan::parse(Some("9999-01-01"), Some("9999-12-31"), now).is_err());
        assert!(ReportSpan::parse(Some("2026-01-01"), Some("2027-11-30"), now).is_err());
        assert!(ReportSpan::parse(Some("2026-01-01"), Some("2026-12-31"), now).is_ok());
        assert_eq!(first_of(month_number(date(9999, 12, 31)) + 1), None);
    }

    #[test]
    fn the_span_before_is_as_long_and_ends_the_day_before() {
        let span = ReportSpan { from: date(2026, 3, 1), to: date(2026, 3, 7) };
        assert_eq!(span.before(), ReportSpan { from: date(2026, 2, 22), to: date(2026, 2, 28) });
        assert_eq!(span.days(), 7);
    }
}
