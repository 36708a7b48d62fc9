//! How much each workspace holds, and how many mails it plans in an hour: counted in the transaction of the rows, so
//! that no limit has to be checked by counting them.

use db::Tx;

use crate::error::Result;
use crate::limits::HOUR_MS;
use crate::string_enum::string_enum;

/// Rows that one count of a process is spread over, and how many processes have rows of their own: an import, which
/// writes all of its rows again and again, is seldom in conflict with the server.
const SHARDS: i64 = 8;
const PROCESSES: i64 = 16;
/// The `hour` of what is held and not done at a time.
const HELD: i64 = 0;
/// Hours that are kept of what is done in one.
const HOURS_KEPT: i64 = 25;

string_enum! {
    /// What is counted: bytes of raw mails, attachments and uploads as they came in, those of documents alone, and
    /// the mails that were planned to leave in each hour.
    UsageKind {
        Messages = "messages",
        Bytes = "bytes",
        DocumentBytes = "documentBytes",
        Mails = "mails",
    }
}

/// Adds to what a workspace holds, on behalf of something whose id chooses the row.
pub fn add_held(tx: &mut Tx<'_>, ws: i64, what: UsageKind, id: &str, change: i64) -> Result<()> {
    add(tx, ws, what, HELD, id, change)
}

/// Counts something that is done now.
pub fn add_done(tx: &mut Tx<'_>, ws: i64, what: UsageKind, id: &str, now: i64) -> Result<()> {
    let hour = now / HOUR_MS;
    tx.exec_soon(
        "DELETE FROM workspace_usage WHERE ws = ?1 AND what = ?2 AND hour < ?3",
        &[&ws, &what, &(hour - HOURS_KEPT)],
    )?;
    add(tx, ws, what, hour, id, 1)
}

fn add(tx: &mut Tx<'_>, ws: i64, what: UsageKind, hour: i64, id: &str, change: i64) -> Result<()> {
    if change == 0 {
        return Ok(());
    }
    let sum: i64 = id.bytes().map(i64::from).sum();
    let shard = i64::from(std::process::id()) % PROCESSES * SHARDS + sum % SHARDS;
    tx.exec_soon(
        "INSERT INTO workspace_usage (ws, what, hour, shard, n) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws, what, hour, shard) DO UPDATE SET n = workspace_usage.n + excluded.n",
        &[&ws, &what, &hour, &shard, &change],
    )?;
    Ok(())
}

/// What a workspace holds.
pub fn amount_held(tx: &mut Tx<'_>, ws: i64, what: UsageKind) -> Result<i64> {
    sum_of_hours(tx, ws, what, HELD, HELD)
}

/// False where as much is held as a hard limit allows.
pub fn has_room(tx: &mut Tx<'_>, ws: i64, what: UsageKind) -> Result<bool> {
    let limit: Option<(Option<i64>,)> =
        tx.opt("SELECT hard FROM workspace_limits WHERE ws = ?1 AND what = ?2", &[&ws, &what])?;
    match limit.and_then(|(hard,)| hard) {
        Some(hard) => Ok(amount_held(tx, ws, what)? < hard),
        None => Ok(true),
    }
}

/// What it did in so many hours, the present one included.
pub fn count_done(tx: &mut Tx<'_>, ws: i64, what: UsageKind, hours: i64, now: i64) -> Result<i64> {
    let hour = now / HOUR_MS;
    sum_of_hours(tx, ws, what, hour - hours + 1, hour)
}

fn sum_of_hours(tx: &mut Tx<'_>, ws: i64, what: UsageKind, from: i64, to: i64) -> Result<i64> {
    let (n,): (i64,) = tx.one(
        "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM workspace_usage
         WHERE ws = ?1 AND what = ?2 AND hour BETWEEN ?3 AND ?4",
        &[&ws, &what, &from, &to],
    )?;
    Ok(n)
}
