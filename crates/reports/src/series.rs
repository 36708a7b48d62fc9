//! The days, weeks or months of a report.

use std::collections::{BTreeMap, HashMap};

use base::app::Cx;
use base::error::Result;
use base::ids::MailboxId;
use db::{Arg, Tx, Value};
use model::figures::report_facts::{QUARTER_HOURS, ReportMeasure, day_number};
use model::figures::report_histogram::{histogram, quantile};
use schemars::JsonSchema;
use serde::Serialize;

use super::span::{ReportSpan, SpanPart, date_of, first_of, month_number, whole_days};

/// Longer spans are shown in weeks, and longer ones still in months.
const DAYS_SHOWN: i64 = 62;
pub(super) const DAYS_IN_WEEKS: i64 = 190;

const MEASURES: &[&str] = &["received", "sent", "first-answer", "target-kept", "target-missed"];

/// The sums of a day or month: by its first day, measure and name.
type SeriesRow = (i64, ReportMeasure, String, i64);

/// One day, week or month of the span.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportStep {
    /// Its first day within the span.
    pub from: String,
    pub received: i64,
    /// Null where the span is shown in months.
    pub received_before: Option<i64>,
    pub sent: i64,
    pub missed: i64,
    pub kept: i64,
    /// Seconds to the first answer.
    pub first_answer_median: Option<i64>,
    pub first_answer_p90: Option<i64>,
}

/// Words of ours as a list in SQL.
pub(super) fn sql_words(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ")
}

/// The steps are read as UTC has them; then what the clock of the zone counts to another step is moved there.
pub(super) fn series(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    span: &ReportSpan,
    mailbox: Option<&MailboxId>,
) -> Result<Vec<ReportStep>> {
    let (first, last) = (day_number(span.from), day_number(span.to));
    if span.days() > DAYS_IN_WEEKS {
        let months = month_number(span.from) + 1..=month_number(span.to);
        let mut starts = vec![first];
        starts.extend(months.filter_map(first_of).map(day_number));
        return Ok(steps_of(
            &rows(tx, cx, (span, &whole_days(first, last), &starts), mailbox)?,
            &starts,
        ));
    }
    let step_days = if span.days() > DAYS_SHOWN { 7 } else { 1 };
    let starts: Vec<i64> = (0..span.days()).step_by(step_days).map(|days| first + days).collect();
    let earlier: Vec<i64> = starts.iter().map(|start| start - span.days()).collect();
    let before = span.before();
    let days = [SpanPart::Days(first, last)];
    let days_before = [SpanPart::Days(day_number(before.from), day_number(before.to))];
    let now = rows(tx, cx, (span, &days, &starts), mailbox)?;
    let before = rows(tx, cx, (&before, &days_before, &earlier), mailbox)?;
    let mut steps = steps_of(&now, &starts);
    for (step, before) in steps.iter_mut().zip(steps_of(&before, &earlier)) {
        step.received_before = Some(before.received);
    }
    Ok(steps)
}

/// What is counted in a span whose steps begin on these days.
fn rows(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (span, parts, starts): (&ReportSpan, &[SpanPart], &[i64]),
    mailbox: Option<&MailboxId>,
) -> Result<Vec<SeriesRow>> {
    let (first, second) = cx.actor.circles.pair();
    let only = mailbox.map_or("", |mailbox| mailbox.as_str());
    let mut all = moved_rows(tx, cx, (span, starts), mailbox)?;
    for part in parts {
        let (table, period, from, to) = match part {
            SpanPart::Months(from, to) => ("report_months", "month", from, to),
            SpanPart::Days(from, to) => ("report_days", "day", from, to),
            SpanPart::QuarterHours { .. } => continue,
        };
        // Only durations are told apart by name here.
        let found: Vec<SeriesRow> = tx.all(
            &format!(
                "SELECT {period}, measure, CASE WHEN measure = 'first-answer' THEN name ELSE '' END,
                     CAST(sum(n) AS BIGINT)
                 FROM {table}
                 WHERE ws = ?1 AND circle IN (?2, ?3) AND measure IN ({})
                   AND {period} >= ?4 AND {period} <= ?5 AND (?6 = '' OR mailbox = ?6)
                 GROUP BY 1, 2, 3",
                sql_words(MEASURES)
            ),
            &[&cx.actor.ws, first, second, from, to, &only],
        )?;
        all.extend(found.into_iter().filter_map(|(at, measure, name, n)| match part {
            SpanPart::Months(..) => Some((day_number(first_of(at)?), measure, name, n)),
            SpanPart::Days(..) | SpanPart::QuarterHours { .. } => Some((at, measure, name, n)),
        }));
    }
    Ok(all)
}

/// Days of a statement.
struct DayList(Vec<i64>);

impl Arg for DayList {
    fn value(&self) -> Value<'_> {
        Value::Int(self.0[0])
    }

    fn others(&self) -> Vec<Value<'_>> {
        self.0[1..].iter().map(Arg::value).collect()
    }
}

/// Quarter hours that the clock of the zone counts to another step than UTC does: taken from the one and given to
/// the other. What lies outside of the span is only taken or only given.
fn moved_rows(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (span, starts): (&ReportSpan, &[i64]),
    mailbox: Option<&MailboxId>,
) -> Result<Vec<SeriesRow>> {
    let after = day_number(span.to) + 1;
    // By the day of UTC in which they lie: where the step begins in UTC, and where on the clock of the zone.
    let mut edges: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
    // Of those days, the first and the last quarter hour that any edge needs.
    let (mut first_quarter, mut last_quarter) = (QUARTER_HOURS - 1, 0);
    for day in starts.iter().copied().chain([after]) {
        let (in_utc, begins) = (day * QUARTER_HOURS, span.start_of(day));
        if begins != in_utc {
            let day_of_utc = begins.min(in_utc).div_euclid(QUARTER_HOURS);
            let start = day_of_utc * QUARTER_HOURS;
            first_quarter = first_quarter.min(begins.min(in_utc) - start);
            last_quarter = last_quarter.max(begins.max(in_utc) - start - 1);
            edges.entry(day_of_utc).or_default().push((in_utc, begins));
        }
    }
    if edges.is_empty() {
        return Ok(Vec::new());
    }
    let mut days: Vec<i64> = edges.keys().copied().collect();
    days.sort_unstable();
    let (first, second) = cx.actor.circles.pair();
    let only = mailbox.map_or("", |mailbox| mailbox.as_str());
    let found: Vec<SeriesRow> = tx.all(
        &format!(
            "SELECT day * {QUARTER_HOURS} + quarter_hour, measure,
                 CASE WHEN measure = 'first-answer' THEN name ELSE '' END, CAST(sum(n) AS BIGINT)
             FROM report_quarter_hours
             WHERE ws = ?1 AND circle IN (?2, ?3) AND measure IN ({})
               AND day IN (?4) AND (?5 = '' OR mailbox = ?5)
               AND quarter_hour >= ?6 AND quarter_hour <= ?7
             GROUP BY 1, 2, 3",
            sql_words(MEASURES)
        ),
        &[&cx.actor.ws, first, second, &DayList(days), &only, &first_quarter, &last_quarter],
    )?;
    let begin = starts.first().copied().unwrap_or(after);
    let mut moved = Vec::new();
    for (at, measure, name, n) in found {
        for (in_utc, begins) in edges.get(&at.div_euclid(QUARTER_HOURS)).into_iter().flatten() {
            let step = in_utc.div_euclid(QUARTER_HOURS);
            let (from_day, to_day) = if (*begins..*in_utc).contains(&at) {
                (step - 1, step)
            } else if (*in_utc..*begins).contains(&at) {
                (step, step - 1)
            } else {
                continue;
            };
            for (day, n) in [(from_day, -n), (to_day, n)] {
                if (begin..after).contains(&day) {
                    moved.push((day, measure, name.clone(), n));
                }
            }
        }
    }
    Ok(moved)
}

/// The rows in steps that begin on these days, in order.
fn steps_of(rows: &[SeriesRow], starts: &[i64]) -> Vec<ReportStep> {
    let mut by_step: BTreeMap<usize, Vec<&SeriesRow>> = BTreeMap::new();
    for row in rows {
        let place = starts.partition_point(|start| *start <= row.0).saturating_sub(1);
        by_step.entry(place).or_default().push(row);
    }
    let step = |(place, start): (usize, &i64)| {
        let rows = by_step.get(&place).map_or(&[][..], Vec::as_slice);
        let sum = |wanted| {
            let wanted = rows.iter().filter(|(_, measure, _, _)| *measure == wanted);
            wanted.map(|(_, _, _, n)| n).sum()
        };
        let answers = rows.iter().filter(|row| row.1 == ReportMeasure::FirstAnswer);
        let answers = histogram(answers.map(|(_, _, name, n)| (name.as_str(), *n)));
        ReportStep {
            from: date_of(*start).to_string(),
            received: sum(ReportMeasure::Received),
            received_before: None,
            sent: sum(ReportMeasure::Sent),
            missed: sum(ReportMeasure::TargetMissed),
            kept: sum(ReportMeasure::TargetKept),
            first_answer_median: quantile(&answers, 0.5).map(|ms| ms / 1_000),
            first_answer_p90: quantile(&answers, 0.9).map(|ms| ms / 1_000),
        }
    };
    starts.iter().enumerate().map(step).collect()
}
