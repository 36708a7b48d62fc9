//! Background jobs that failed: those that are tried again, and those that were given up.
//!
//! A job is named by a hash of its key, because keys hold ids and addresses of what its reader may not
//! see.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::time::Moment;
use db::{Arg, Tx};
use model::messages::send_failure::SendFailure;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::queue_cursor::{number, word};
use super::{QueueAct, QueueContext, QueueItem, QueueKind, QueueState, WaitReason};
use crate::rule_of;
use crate::runs::failures::{HELD_UNTIL_MS, JobRevival, JobRule, REMEMBERED_MS};
use crate::runs::runtime::DueJob;

/// Failures of a workspace among which one is looked for.
const LOOKED_AT: i64 = 20_000;
/// Queues in which giving a job up is more than taking it out: somebody is told, counters change, or it
/// is never given up.
const NOT_DISCARDED: [Queue; 4] =
    [Queue::Snoozes, Queue::Documents, Queue::Deletions, Queue::Retention];
/// Characters of the hash that names a job.
const NAME_CHARS: usize = 20;
/// What a message or a delivery waits for is told with it.
const OWN_KINDS: &str = "j.queue NOT IN ('messages', 'deliveries')";

db::row! {
    struct FailedJobRow from "j" {
        ws: i64,
        queue: String,
        job: String,
        attempts: i64,
        reason: String,
        failed_at: i64,
        next_attempt_at: Option<i64>,
        held_at: Option<i64>,
        held_by: Option<String>,
        slug: String = "w.slug",
    }
}

/// Those that are tried again, and those that somebody holds.
pub(super) fn list_open(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let condition = match context.state {
        Some(QueueState::Held) => "j.held_at IS NOT NULL AND j.failed_at > ?5",
        Some(QueueState::Retrying) => {
            "j.next_attempt_at IS NOT NULL AND j.held_at IS NULL AND j.failed_at > ?5"
        }
        _ => "j.next_attempt_at IS NOT NULL AND (j.failed_at > ?5 OR j.held_at IS NOT NULL)",
    };
    // One whose success another process did not write down is not told for ever.
    let since = match context.state {
        Some(QueueState::Held) => 0,
        _ => context.now - REMEMBERED_MS,
    };
    list(tx, context, after, most, (condition, since))
}

pub(super) fn list_given_up(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    list(tx, context, after, most, ("j.next_attempt_at IS NULL AND j.failed_at > ?5", 0))
}

fn list(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    after: Option<&[String]>,
    most: i64,
    (condition, since): (&str, i64),
) -> Result<Vec<(Vec<String>, QueueItem)>> {
    let (ws, queue, job) = match after {
        Some(key) => {
            let ws = number(key, 0)?;
            let last = by_name(tx, ws, word(key, 1)?)?;
            let gone = || Error::invalid("cursor", "is of a job that is done; begin anew");
            let last = last.ok_or_else(gone)?;
            (ws, last.queue, last.job)
        }
        None => (context.ws.unwrap_or(0), String::new(), String::new()),
    };
    let place = match context.ws {
        Some(_) => "j.ws = ?1 AND (j.queue, j.job) > (?2, ?3)",
        None => "(j.ws, j.queue, j.job) > (?1, ?2, ?3)",
    };
    let rows: Vec<FailedJobRow> = tx.all(
        &format!(
            "SELECT {} FROM job_failures j CROSS JOIN workspaces w
             WHERE w.ws = j.ws AND {OWN_KINDS} AND {place} AND {condition}
             ORDER BY j.ws, j.queue, j.job LIMIT ?4",
            FailedJobRow::COLUMNS
        ),
        &[&ws, &queue, &job, &most, &since],
    )?;
    Ok(rows.into_iter().map(|row| (vec![row.ws.to_string(), row.name()], row.item())).collect())
}

/// A failed job by the name that lists show.
fn by_name(tx: &mut Tx<'_>, ws: i64, name: &str) -> Result<Option<FailedJobRow>> {
    let rows: Vec<FailedJobRow> = tx.all(
        &format!(
            "SELECT {} FROM job_failures j CROSS JOIN workspaces w
             WHERE j.ws = ?1 AND w.ws = j.ws AND {OWN_KINDS} ORDER BY j.queue, j.job LIMIT ?2",
            FailedJobRow::COLUMNS
        ),
        &[&ws, &LOOKED_AT],
    )?;
    Ok(rows.into_iter().find(|row| row.name() == name))
}

pub(super) fn is_here(tx: &mut Tx<'_>, ws: i64, id: &str) -> Result<bool> {
    Ok(by_name(tx, ws, id)?.is_some())
}

pub(super) fn find(
    tx: &mut Tx<'_>,
    context: &QueueContext<'_>,
    id: &str,
) -> Result<Option<QueueItem>> {
    let found = by_name(tx, context.ws.unwrap_or(0), id)?;
    Ok(found.map(|row| row.item()))
}

/// The key, for the operator.
pub(super) fn details(tx: &mut Tx<'_>, item: &QueueItem) -> Result<Value> {
    let found = by_name(tx, item.ws, &item.id)?;
    Ok(json!({ "job": found.map(|row| row.job) }))
}

impl FailedJobRow {
    fn name(&self) -> String {
        let hash = Sha256::digest(format!("{} {} {}", self.ws, self.queue, self.job));
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("job_{}", &hex[..NAME_CHARS])
    }

    fn item(&self) -> QueueItem {
        let (state, wait_reason) = match (self.held_at, self.next_attempt_at) {
            (Some(_), _) => (QueueState::Held, WaitReason::Held),
            (None, Some(_)) => (QueueState::Retrying, WaitReason::Deferred),
            (None, None) => (QueueState::GivenUp, WaitReason::GivenUp),
        };
        let next = self.next_attempt_at.filter(|_| state == QueueState::Retrying);
        QueueItem {
            kind: QueueKind::Jobs,
            id: self.name(),
            workspace: self.slug.clone(),
            state,
            wait_reason,
            target: self.queue.clone(),
            attempts: self.attempts,
            since: Moment(self.failed_at),
            next_attempt_at: next.map(Moment),
            held_at: self.held_at.map(Moment),
            held_by: self.held_by.clone().filter(|_| state == QueueState::Held),
            last_outcome: Some(SendFailure::new("failed", &self.reason, "")),
            conversation_id: None,
            event_type: None,
            subject: None,
            circle: Circle::team(),
            ws: self.ws,
        }
    }

    /// True once its next attempt has begun: it is leased or done, and its failure is of the past.
    fn is_attempted(&self, now: i64) -> bool {
        self.next_attempt_at.is_some_and(|at| at <= now)
    }

    fn due_job(&self) -> DueJob {
        DueJob { ws: self.ws, key: self.job.splitn(2, ' ').map(str::to_owned).collect() }
    }
}

pub(super) fn change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    item: &QueueItem,
    act: QueueAct,
    by: &str,
) -> Result<()> {
    let row = by_name(tx, cx.actor.ws, &item.id)?.ok_or(Error::NotFound("job"))?;
    let queue = Queue::parse(&row.queue).ok_or(Error::NotFound("queue"))?;
    let rule = rule_of(queue, &row.job).ok_or(Error::NotFound("queue"))?;
    let refuse = |sentence: &str| Err(Error::invalid("job", sentence));
    if item.state == QueueState::Retrying && row.is_attempted(cx.now) {
        return refuse("is being tried at this moment, or done since");
    }
    match (act, item.state) {
        (QueueAct::Hold, QueueState::Retrying) => hold(tx, cx, rule, &row, by)?,
        (QueueAct::Hold, QueueState::Held) => return refuse("is held already"),
        (QueueAct::Hold, _) => return refuse("was given up, so it cannot be held"),
        (QueueAct::Release, QueueState::Held) => {
            revive(tx, cx, rule, &row)?;
            write(tx, &row, "held_at = NULL, held_by = NULL, next_attempt_at = ?4", &[&cx.now])?;
        }
        (QueueAct::Release, _) => return refuse("is not held"),
        (QueueAct::Retry, QueueState::Held) => return refuse("is held; release it instead"),
        (QueueAct::Retry, _) => {
            revive(tx, cx, rule, &row)?;
            forget(tx, &row)?;
        }
        (QueueAct::Discard, QueueState::GivenUp) => forget(tx, &row)?,
        (QueueAct::Discard, _) if NOT_DISCARDED.contains(&queue) => {
            return refuse("of this queue cannot be discarded; hold it instead");
        }
        (QueueAct::Discard, _) => {
            tx.exec(rule.abandon, &row.due_job().args(&[]))?;
            write(
                tx,
                &row,
                "held_at = NULL, held_by = NULL, next_attempt_at = ?4",
                &[&None::<i64>],
            )?;
        }
    }
    tx.wake(queue);
    Ok(())
}

fn hold(tx: &mut Tx<'_>, cx: &Cx<'_>, rule: &JobRule, row: &FailedJobRow, by: &str) -> Result<()> {
    let moved = match (rule.retry_at, &rule.revival) {
        (Some(retry_at), _) => tx.exec(retry_at, &row.due_job().args(&[&HELD_UNTIL_MS]))?,
        (None, JobRevival::Forget) => 1,
        (None, _) => return Err(Error::invalid("job", "of this queue cannot be held")),
    };
    if moved == 0 {
        return Err(gone_error());
    }
    let columns = "held_at = ?4, held_by = ?5, next_attempt_at = ?6";
    write(tx, row, columns, &[&cx.now, &by, &HELD_UNTIL_MS])
}

/// Makes a job due now.
fn revive(tx: &mut Tx<'_>, cx: &Cx<'_>, rule: &JobRule, row: &FailedJobRow) -> Result<()> {
    let is_tried = row.next_attempt_at.is_some();
    let statement = match (&rule.revival, rule.retry_at) {
        (JobRevival::Statement(statement), _) => Some(*statement),
        (JobRevival::Forget, _) => None,
        (JobRevival::Never, retry_at) if is_tried => retry_at,
        (JobRevival::Never, _) => return Err(gone_error()),
        (JobRevival::Retry, retry_at) => retry_at,
    };
    let Some(statement) = statement else { return Ok(()) };
    match tx.exec(statement, &row.due_job().args(&[&cx.now]))? {
        0 => Err(gone_error()),
        _ => Ok(()),
    }
}

fn gone_error() -> Error {
    Error::invalid("job", "has nothing left to do: what it worked on is gone")
}

/// Sets columns of a failure; their arguments follow the key's.
fn write(tx: &mut Tx<'_>, row: &FailedJobRow, columns: &str, args: &[&dyn Arg]) -> Result<()> {
    let mut all: Vec<&dyn Arg> = vec![&row.ws, &row.queue, &row.job];
    all.extend(args);
    tx.exec(
        &format!("UPDATE job_failures SET {columns} WHERE ws = ?1 AND queue = ?2 AND job = ?3"),
        &all,
    )?;
    Ok(())
}

/// The next failure counts as the first.
fn forget(tx: &mut Tx<'_>, row: &FailedJobRow) -> Result<()> {
    tx.exec(
        "DELETE FROM job_failures WHERE ws = ?1 AND queue = ?2 AND job = ?3",
        &[&row.ws, &row.queue, &row.job],
    )?;
    Ok(())
}
