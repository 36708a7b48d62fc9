//! Folding facts into the counters of quarter hours, days and months.

use std::collections::BTreeMap;

use base::error::Result;
use db::{Arg, Tx};
use model::figures::report_facts::QUARTER_HOURS;

use super::span::{date_of, month_number};

/// Facts folded in one transaction.
const AT_ONCE: i64 = 500;

/// The key of a counter, without its period.
type CounterKey = (i64, String, String, String, String);

/// A fact: workspace, circle, measure, quarter hour since 1970, inbox, name and number.
type ReportFact = (i64, String, String, i64, String, String, i64);

/// Folds some facts that are due; answers how many. Each is deleted in the transaction that counts it,
/// so it counts once, however many processes fold.
pub fn fold(tx: &mut Tx<'_>, now: i64) -> Result<usize> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let facts: Vec<ReportFact> = tx.all(
        &format!(
            "DELETE FROM report_facts WHERE (ws, id) IN (
                 SELECT ws, id FROM report_facts WHERE due_at <= ?1
                 ORDER BY due_at, ws, id LIMIT ?2{lock}
             ) RETURNING ws, circle, measure, day * {QUARTER_HOURS} + quarter_hour, mailbox, name, n"
        ),
        &[&now, &AT_ONCE],
    )?;
    let count = facts.len();
    // In one order everywhere, so that two processes never wait for each other.
    let mut quarter_hours: BTreeMap<(CounterKey, [i64; 2]), i64> = BTreeMap::new();
    let mut days: BTreeMap<(CounterKey, [i64; 1]), i64> = BTreeMap::new();
    let mut months: BTreeMap<(CounterKey, [i64; 1]), i64> = BTreeMap::new();
    for (ws, circle, measure, at, mailbox, name, n) in facts {
        let (day, quarter_hour) = (at.div_euclid(QUARTER_HOURS), at.rem_euclid(QUARTER_HOURS));
        let key = (ws, circle, measure, mailbox, name);
        *months.entry((key.clone(), [month_number(date_of(day))])).or_default() += n;
        *days.entry((key.clone(), [day])).or_default() += n;
        *quarter_hours.entry((key, [day, quarter_hour])).or_default() += n;
    }
    add(tx, "report_quarter_hours", ["day", "quarter_hour"], quarter_hours)?;
    add(tx, "report_days", ["day"], days)?;
    add(tx, "report_months", ["month"], months)?;
    Ok(count)
}

/// Adds sums to the counters of a table, whose columns of time these are.
fn add<const N: usize>(
    tx: &mut Tx<'_>,
    table: &str,
    columns: [&str; N],
    sums: BTreeMap<(CounterKey, [i64; N]), i64>,
) -> Result<()> {
    let columns = columns.join(", ");
    let places: Vec<String> = (0..N).map(|place| format!("?{}", place + 7)).collect();
    let sql = format!(
        "INSERT INTO {table} (ws, circle, measure, mailbox, name, n, {columns})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, {})
         ON CONFLICT (ws, circle, measure, {columns}, mailbox, name)
         DO UPDATE SET n = {table}.n + excluded.n",
        places.join(", ")
    );
    for (((ws, circle, measure, mailbox, name), at), n) in sums {
        if n == 0 {
            continue;
        }
        let mut args: Vec<&dyn Arg> = vec![&ws, &circle, &measure, &mailbox, &name, &n];
        args.extend(at.iter().map(|at| at as &dyn Arg));
        tx.exec(&sql, &args)?;
    }
    Ok(())
}
