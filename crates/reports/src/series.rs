//! The days, weeks or months of a report.

use std::collections::BTreeMap;

use base::app::Cx;
use base::error::Result;
use base::ids::MailboxId;
use db::Tx;
use model::figures::report_facts::{ReportMeasure, day_number};
use model::figures::report_histogram::{histogram, quantile};
use schemars::JsonSchema;
use serde::Serialize;

use super::span::{ReportSpan, SpanPart, date_of, first_of, month_number};

/// Longer spans are shown in weeks, and longer ones still in months.
const DAYS_SHOWN: i64 = 62;
const DAYS_IN_WEEKS: i64 = 190;

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

pub(super) fn series(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    span: &ReportSpan,
    mailbox: Option<&MailboxId>,
) -> Result<Vec<ReportStep>> {
    let first = day_number(span.from);
    let in_days =
        |span: &ReportSpan| vec![SpanPart::Days(day_number(span.from), day_number(span.to))];
    if span.days() > DAYS_IN_WEEKS {
        return by_month(tx, cx, span, mailbox);
    }
    let step_days = if span.days() > DAYS_SHOWN { 7 } else { 1 };
    let now = rows(tx, cx, &in_days(span), mailbox)?;
    let before = rows(tx, cx, &in_days(&span.before()), mailbox)?;
    let starts: Vec<i64> = (0..span.days()).step_by(step_days).map(|days| first + days).collect();
    let mut steps = steps_of(&now, &starts);
    let earlier: Vec<i64> = starts.iter().map(|start| start - span.days()).collect();
    for (step, before) in steps.iter_mut().zip(steps_of(&before, &earlier)) {
        step.received_before = Some(before.received);
    }
    Ok(steps)
}

fn by_month(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    span: &ReportSpan,
    mailbox: Option<&MailboxId>,
) -> Result<Vec<ReportStep>> {
    let rows = rows(tx, cx, &span.parts(), mailbox)?;
    let months = month_number(span.from) + 1..=month_number(span.to);
    let mut starts = vec![day_number(span.from)];
    starts.extend(months.filter_map(first_of).map(day_number));
    Ok(steps_of(&rows, &starts))
}

fn rows(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    parts: &[SpanPart],
    mailbox: Option<&MailboxId>,
) -> Result<Vec<SeriesRow>> {
    let (first, second) = cx.actor.circles.pair();
    let only = mailbox.map_or("", |mailbox| mailbox.as_str());
    let mut all = Vec::new();
    for part in parts {
        let (table, period, from, to) = match part {
            SpanPart::Days(from, to) => ("report_days", "day", from, to),
            SpanPart::Months(from, to) => ("report_months", "month", from, to),
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
            SpanPart::Days(..) => Some((at, measure, name, n)),
            SpanPart::Months(..) => Some((day_number(first_of(at)?), measure, name, n)),
        }));
    }
    Ok(all)
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
