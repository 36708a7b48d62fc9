//! Folding facts into the counters of days and months.

use std::collections::BTreeMap;

use base::error::Result;
use db::Tx;

use super::span::{date_of, month_number};

/// Facts folded in one transaction.
const AT_ONCE: i64 = 500;

/// The key of a counter, without its period.
type CounterKey = (i64, String, String, String, String);

/// Folds some facts that are due; answers how many. Each is deleted in the transaction that counts it,
/// so it counts once, however many processes fold.
pub fn fold(tx: &mut Tx<'_>, now: i64) -> Result<usize> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let facts: Vec<(i64, String, String, i64, String, String, i64)> = tx.all(
        &format!(
            "DELETE FROM report_facts WHERE (ws, id) IN (
                 SELECT ws, id FROM report_facts WHERE due_at <= ?1
                 ORDER BY due_at, ws, id LIMIT ?2{lock}
             ) RETURNING ws, circle, measure, day, mailbox, name, n"
        ),
        &[&now, &AT_ONCE],
    )?;
    let count = facts.len();
    // In one order everywhere, so that two processes never wait for each other.
    let mut days: BTreeMap<(CounterKey, i64), i64> = BTreeMap::new();
    let mut months: BTreeMap<(CounterKey, i64), i64> = BTreeMap::new();
    for (ws, circle, measure, day, mailbox, name, n) in facts {
        let key = (ws, circle, measure, mailbox, name);
        *months.entry((key.clone(), month_number(date_of(day)))).or_default() += n;
        *days.entry((key, day)).or_default() += n;
    }
    add(tx, "report_days", "day", days)?;
    add(tx, "report_months", "month", months)?;
    Ok(count)
}

fn add(
    tx: &mut Tx<'_>,
    table: &str,
    period: &str,
    sums: BTreeMap<(CounterKey, i64), i64>,
) -> Result<()> {
    let sql = format!(
        "INSERT INTO {table} (ws, circle, measure, mailbox, name, {period}, n)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (ws, circle, measure, {period}, mailbox, name)
         DO UPDATE SET n = {table}.n + excluded.n"
    );
    for (((ws, circle, measure, mailbox, name), at), n) in sums {
        if n != 0 {
            tx.exec(&sql, &[&ws, &circle, &measure, &mailbox, &name, &at, &n])?;
        }
    }
    Ok(())
}
