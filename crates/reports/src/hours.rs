//! Mail that came in by day of the week and hour, on the clock of a zone.

use std::collections::BTreeMap;

use base::app::Cx;
use base::error::Result;
use base::ids::MailboxId;
use db::{Arg, Tx};

use super::series::DAYS_IN_WEEKS;
use super::span::{PartRows, ReportSpan, SpanPart, SteadyTime, parts_between};

const HOURS_OF_WEEK: i64 = 7 * 24;
const HOUR_SECONDS: i64 = 3_600;
const QUARTER_HOUR_SECONDS: i64 = HOUR_SECONDS / 4;

/// `by_hour` is what came in in the whole span, by the hours of the week in UTC. In a span that is shown in months, a
/// clock that is half an hour or a quarter off counts as if it were off by the nearest hour: its quarter hours are many.
pub(super) fn hours(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (span, mailbox): (&ReportSpan, Option<&MailboxId>),
    by_hour: &BTreeMap<&str, i64>,
) -> Result<Vec<Vec<i64>>> {
    let mut week = Week(vec![vec![0; 24]; 7]);
    let mut times = span.steady_times();
    if span.days() > DAYS_IN_WEEKS {
        times = times.into_iter().map(to_whole_hours).collect();
    }
    if let [time] = times.as_slice()
        && time.ahead % HOUR_SECONDS == 0
    {
        for (name, n) in by_hour {
            week.add(hour(name) + time.ahead / HOUR_SECONDS, *n);
        }
        return Ok(week.0);
    }
    let only = mailbox.map_or("", |mailbox| mailbox.as_str());
    for time in times {
        let hours_ahead = time.ahead.div_euclid(HOUR_SECONDS);
        let quarters = time.ahead.rem_euclid(HOUR_SECONDS) / QUARTER_HOUR_SECONDS;
        for part in parts_between(time.start, time.end) {
            for (name, n) in rows_by_hour(tx, cx, part, only)? {
                week.add(hour(&name) + hours_ahead, n);
            }
            if quarters == 0 {
                continue;
            }
            // The end of an hour of UTC is in the next hour of the zone.
            for (name, n) in late_rows_by_hour(tx, cx, part, (only, 4 - quarters))? {
                week.add(hour(&name) + hours_ahead, -n);
                week.add(hour(&name) + hours_ahead + 1, n);
            }
        }
    }
    Ok(week.0)
}

/// The days of a week by hour.
struct Week(Vec<Vec<i64>>);

impl Week {
    /// `hour` counts from Monday 00:00; those before and after a week are of the one before and after.
    fn add(&mut self, hour: i64, n: i64) {
        let hour = hour.rem_euclid(HOURS_OF_WEEK) as usize;
        if let Some(cell) = self.0.get_mut(hour / 24).and_then(|day| day.get_mut(hour % 24)) {
            *cell += n;
        }
    }
}

fn to_whole_hours(time: SteadyTime) -> SteadyTime {
    let hours = (time.ahead + HOUR_SECONDS / 2).div_euclid(HOUR_SECONDS);
    SteadyTime { ahead: hours * HOUR_SECONDS, ..time }
}

fn hour(name: &str) -> i64 {
    name.parse().unwrap_or(0)
}

fn rows_by_hour(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    part: SpanPart,
    only: &str,
) -> Result<Vec<(String, i64)>> {
    let (first, second) = cx.actor.circles.pair();
    let PartRows { table, condition, bounds } = part.rows();
    let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws, first, second, &only];
    args.extend(bounds.iter().map(|bound| bound as &dyn Arg));
    let sql = format!(
        "SELECT name, CAST(sum(n) AS BIGINT) FROM {table}
         WHERE ws = ?1 AND circle IN (?2, ?3) AND measure = 'received'
           AND (?4 = '' OR mailbox = ?4) AND {condition}
         GROUP BY name"
    );
    Ok(tx.all(&sql, &args)?)
}

/// What came in from a quarter of each hour on.
fn late_rows_by_hour(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    part: SpanPart,
    (only, quarter): (&str, i64),
) -> Result<Vec<(String, i64)>> {
    let (first, second) = cx.actor.circles.pair();
    let [from, to, first_quarter, last_quarter] = part.days_and_quarter_hours();
    Ok(tx.all(
        "SELECT name, CAST(sum(n) AS BIGINT) FROM report_quarter_hours
         WHERE ws = ?1 AND circle IN (?2, ?3) AND measure = 'received'
           AND (?4 = '' OR mailbox = ?4) AND day >= ?5 AND day <= ?6
           AND quarter_hour >= ?7 AND quarter_hour <= ?8 AND quarter_hour % 4 >= ?9
         GROUP BY name",
        &[&cx.actor.ws, first, second, &only, &from, &to, &first_quarter, &last_quarter, &quarter],
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_of_half_hours_counts_as_that_of_the_nearest_hour_in_a_long_span() {
        let ahead = |ahead| to_whole_hours(SteadyTime { start: 0, end: 1, ahead }).ahead;
        assert_eq!([ahead(19_800), ahead(20_700)], [21_600; 2], "India and Nepal");
        assert_eq!([ahead(-12_600), ahead(-10_800)], [-10_800; 2], "Newfoundland");
        assert_eq!([ahead(0), ahead(7_200)], [0, 7_200]);
    }
}
