//! How often a language model may be asked: a budget for each day and inbox, and a rest after
//! failures in a row.

use base::error::Result;
use base::ids::{MailboxId, MessageId};
use base::limits::{DAY_MS, MODEL_FAILURES, MODEL_REST_MS};
use db::Tx;

/// Days whose calls are kept.
const DAYS_KEPT: i64 = 60;

/// How the language model fares in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelHealth {
    pub failures: i64,
    /// Until then it is not asked.
    pub resumes_at: i64,
    /// Why the last call failed, without words of a mail; empty after one that did not.
    pub last_error: String,
    pub last_at: i64,
}

/// Takes one call out of the budget for a message, before the model is asked. False when it was asked
/// about this message before, when the day's budget is used up, or while the model rests.
pub fn take_call(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    message: &MessageId,
    now: i64,
) -> Result<bool> {
    if health(tx, ws)?.resumes_at > now {
        return Ok(false);
    }
    let day = now.div_euclid(DAY_MS);
    let (most,): (i64,) = tx.one(
        "SELECT model_calls_a_day FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&ws, mailbox],
    )?;
    if calls_on(tx, ws, mailbox, day)? >= most {
        return Ok(false);
    }
    let first = tx.exec(
        "UPDATE drafting_jobs SET asked = TRUE WHERE ws = ?1 AND message = ?2 AND asked = FALSE",
        &[&ws, message],
    )?;
    if first == 0 {
        return Ok(false);
    }
    tx.exec(
        "INSERT INTO model_calls (ws, mailbox, day, calls, tokens) VALUES (?1, ?2, ?3, 1, 0)
         ON CONFLICT (ws, mailbox, day) DO UPDATE SET calls = model_calls.calls + 1",
        &[&ws, mailbox, &day],
    )?;
    tx.exec(
        "DELETE FROM model_calls WHERE ws = ?1 AND mailbox = ?2 AND day < ?3",
        &[&ws, mailbox, &(day - DAYS_KEPT)],
    )?;
    Ok(true)
}

/// The calls for an inbox on a day, counted from 1970.
pub fn calls_on(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId, day: i64) -> Result<i64> {
    let calls: Option<(i64,)> = tx.opt(
        "SELECT calls FROM model_calls WHERE ws = ?1 AND mailbox = ?2 AND day = ?3",
        &[&ws, mailbox, &day],
    )?;
    Ok(calls.map_or(0, |(calls,)| calls))
}

pub fn health(tx: &mut Tx<'_>, ws: i64) -> Result<ModelHealth> {
    let found: Option<(i64, i64, String, i64)> = tx.opt(
        "SELECT failures, resumes_at, last_error, last_at FROM model_health WHERE ws = ?1",
        &[&ws],
    )?;
    Ok(found.map_or_else(ModelHealth::default, |(failures, resumes_at, last_error, last_at)| {
        ModelHealth { failures, resumes_at, last_error, last_at }
    }))
}

/// Writes down how a call ended: the tokens it took, and why the model failed, if it did. After some
/// failures in a row the model rests.
pub fn note_call(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    tokens: i64,
    failure: Option<&str>,
    now: i64,
) -> Result<()> {
    let (failures, error) = match failure {
        None => (0, ""),
        Some(reason) => (health(tx, ws)?.failures + 1, reason),
    };
    let resumes_at = if failures >= MODEL_FAILURES { now + MODEL_REST_MS } else { 0 };
    tx.exec(
        "INSERT INTO model_health (ws, failures, resumes_at, last_error, last_at)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws) DO UPDATE SET failures = excluded.failures,
            resumes_at = excluded.resumes_at, last_error = excluded.last_error,
            last_at = excluded.last_at",
        &[&ws, &failures, &resumes_at, &error, &now],
    )?;
    tx.exec(
        "UPDATE model_calls SET tokens = tokens + ?4 WHERE ws = ?1 AND mailbox = ?2 AND day = ?3",
        &[&ws, mailbox, &now.div_euclid(DAY_MS), &tokens],
    )?;
    Ok(())
}
