//! Failure handling of all queues: one failing job does not affect the others.
//!
//! Each due row runs in a transaction or task of its own, so that an error or a panic affects that
//! row alone. The failure is counted and written to `job_failures`, the row's due time moves by a
//! backoff, and after a bounded number of attempts the job is given up and a notice is sent.

use std::future::Future;

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::concurrency::backoff::retry_after;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{UserId, WorkspaceId};
use base::limits::DAY_MS;
use db::{FromRow, StoreError, Tx};
use metrics::counter;
use model::people::notices::{Notice, notify};
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::runs::runtime::{DueJob, JobRuntime};

/// A job that failed this often is given up: the waits between are 1, 5, 15, 60 and 240 minutes.
pub(crate) const JOB_ATTEMPTS: i64 = 6;
/// A failure older than this is not counted with a new one, and is no longer reported.
pub(crate) const REMEMBERED_MS: i64 = DAY_MS;
/// How often jobs begin together that others are in conflict with; then they run one by one.
const TOGETHER_ATTEMPTS: u32 = 3;
/// Failures are kept for this long.
const KEPT_MS: i64 = 30 * DAY_MS;
/// The due time of a held job: the year 9999.
pub(crate) const HELD_UNTIL_MS: i64 = 253_370_764_800_000;

/// How a queue handles failed jobs. Statements name the workspace and the key's parts last, in the
/// order of the key.
pub(crate) struct JobRule {
    pub queue: Queue,
    /// Moves a row's due time to `?1`. `None` for queues whose retry time is in `job_failures`
    /// alone.
    pub retry_at: Option<&'static str>,
    /// Removes a row from its queue permanently.
    pub abandon: &'static str,
    /// How a held or given-up job is made due again.
    pub revival: JobRevival,
    /// Reports a failed job to the team, at the first failure and when it is given up.
    pub report: JobReport,
}

pub(crate) type JobReport = fn(&mut Tx<'_>, &App, &JobFailure) -> Result<()>;

/// How a job that nobody works on becomes due again.
pub(crate) enum JobRevival {
    /// As it is retried. A row that giving up deleted is not found.
    Retry,
    /// By a statement of its own: `?1` is the due time.
    Statement(&'static str),
    /// It is due once its failure is forgotten.
    Forget,
    /// Giving up was the end of it.
    Never,
}

/// A job that failed.
#[derive(Clone, Debug)]
pub(crate) struct JobFailure {
    pub job: DueJob,
    pub queue: Queue,
    pub attempts: i64,
    /// Part of a plain sentence; it repeats nothing of a mail.
    pub reason: &'static str,
    pub given_up: bool,
}

impl JobRuntime {
    /// Starts the work on a claimed row. `holding` is dropped when the outcome is recorded.
    pub(crate) fn start<F, H>(&self, rule: &'static JobRule, job: DueJob, work: F, holding: H)
    where
        F: Future<Output = Result<()>> + Send + 'static,
        H: Send + 'static,
    {
        let runtime = self.clone();
        self.tasks.spawn(async move {
            runtime.run_claimed(rule, job, work).await;
            drop(holding);
        });
    }

    /// The rows of a queue that are due: `?1` is now, `?2` how many at the most.
    pub(crate) async fn due_rows<T>(&self, sql: &'static str, most: i64) -> Result<Vec<DueJob>>
    where
        T: FromRow + Into<DueJob> + Send + 'static,
    {
        let now = self.app.clock.now();
        let find = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.all::<T>(sql, &[&now, &most])?);
        let rows = self.app.store.read(find).await?;
        Ok(rows.into_iter().map(T::into).collect())
    }

    /// Runs each job in a transaction of its own; returns how many are done or put off. A job
    /// returns false when its row is no longer due, or was claimed by another process.
    pub(crate) async fn run_each<F>(
        &self,
        rule: &'static JobRule,
        jobs: Vec<DueJob>,
        run: F,
    ) -> usize
    where
        F: Fn(&mut Tx<'_>, &App, &DueJob) -> Result<bool> + Clone + Send + 'static,
    {
        let mut under_way = JoinSet::new();
        for job in jobs {
            let (runtime, run, span) = (self.clone(), run.clone(), job.span(rule.queue));
            let done = async move {
                let (app, own) = (runtime.app.clone(), job.clone());
                let work = move |tx: &mut Tx<'_>| run(tx, &app, &own);
                match runtime.app.store.write(work).await {
                    Ok(false) => false,
                    done => runtime.settle(rule, job, done.map(drop)).await,
                }
            };
            under_way.spawn(done.instrument(span));
        }
        under_way.join_all().await.into_iter().filter(|done| *done).count()
    }

    /// As [`JobRuntime::run_each`], so many jobs in one transaction: what it reads of settings is read once,
    /// and they are made durable together. Where one fails, or is in conflict again and again, they run one
    /// by one.
    pub(crate) async fn run_together<F>(
        &self,
        rule: &'static JobRule,
        jobs: Vec<DueJob>,
        most: usize,
        run: F,
    ) -> usize
    where
        F: Fn(&mut Tx<'_>, &App, &DueJob) -> Result<bool> + Clone + Send + 'static,
    {
        let mut count = 0;
        // One after the other: two at a time would count on the same rows and be in conflict.
        for jobs in jobs.chunks(most) {
            let (app, own, each) = (self.app.clone(), jobs.to_vec(), run.clone());
            let mut attempts = 0;
            let work = move |tx: &mut Tx<'_>| {
                attempts += 1;
                if attempts > TOGETHER_ATTEMPTS {
                    return Err(Error::Store(StoreError::Conflicts(TOGETHER_ATTEMPTS)));
                }
                let done = own.iter().map(|job| {
                    let _span = job.span(rule.queue).entered();
                    each(tx, &app, job)
                });
                done.collect::<Result<Vec<bool>>>()
            };
            let Ok(done) = self.app.store.write(work).await else {
                count += self.run_each(rule, jobs.to_vec(), run.clone()).await;
                continue;
            };
            for (job, _) in jobs.iter().zip(done).filter(|(_, done)| *done) {
                count += usize::from(self.settle(rule, job.clone(), Ok(())).await);
            }
        }
        count
    }

    /// Runs a claimed job to its end, whether it succeeds, fails or panics.
    pub(crate) async fn run_claimed<F>(&self, rule: &'static JobRule, job: DueJob, work: F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let span = job.span(rule.queue);
        // A task of its own, so that a panic ends nothing else.
        let done = tokio::spawn(work.instrument(span.clone())).await;
        let done = done.unwrap_or_else(|panic| Err(panic.into()));
        self.settle(rule, job, done).instrument(span).await;
    }

    /// Writes down how a job ended; false when that failed too, and the job is due as before. Called
    /// within the span of the job.
    pub(crate) async fn settle(
        &self,
        rule: &'static JobRule,
        job: DueJob,
        done: Result<()>,
    ) -> bool {
        match done {
            Ok(()) => {
                if self.failed_jobs.lock().remove(&(rule.queue, job.clone())) {
                    self.forget_failure(rule, job).await;
                }
                true
            }
            Err(error) => self.fail(rule, job, &error).await,
        }
    }

    async fn fail(&self, rule: &'static JobRule, job: DueJob, error: &Error) -> bool {
        let (queue, reason) = (rule.queue.as_str(), reason(error));
        counter!("mailroom_job_failures_total", "queue" => queue).increment(1);
        tracing::error!(cause = ?error, "job attempt failed");
        self.failed_jobs.lock().insert((rule.queue, job.clone()));
        let app = self.app.clone();
        let record = move |tx: &mut Tx<'_>| record(tx, &app, rule, &job, reason);
        let failure = match self.app.store.write(record).await {
            Ok(failure) => failure,
            Err(error) => {
                tracing::error!(cause = ?error, "job failure could not be recorded");
                return false;
            }
        };
        if failure.given_up {
            counter!("mailroom_jobs_given_up_total", "queue" => queue).increment(1);
            tracing::error!(attempts = failure.attempts, "job given up");
            self.failed_jobs.lock().remove(&(rule.queue, failure.job.clone()));
        }
        if failure.given_up || failure.attempts == 1 {
            let app = self.app.clone();
            let report = move |tx: &mut Tx<'_>| (rule.report)(tx, &app, &failure);
            if let Err(error) = self.app.store.write(report).await {
                tracing::error!(cause = ?error, "job failure could not be reported");
            }
        }
        true
    }

    async fn forget_failure(&self, rule: &'static JobRule, job: DueJob) {
        let (queue, name) = (rule.queue, job.name());
        let forget = move |tx: &mut Tx<'_>| {
            tx.exec(
                "DELETE FROM job_failures WHERE ws = ?1 AND queue = ?2 AND job = ?3",
                &[&job.ws, &queue, &name],
            )?;
            Ok::<_, Error>(())
        };
        if let Err(error) = self.app.store.write_relaxed(forget).await {
            tracing::error!(cause = ?error, "past job failure could not be deleted");
        }
    }
}

/// Counts a failure, and puts the job off or takes it out of its queue.
fn record(
    tx: &mut Tx<'_>,
    app: &App,
    rule: &JobRule,
    job: &DueJob,
    reason: &'static str,
) -> Result<JobFailure> {
    let (now, name) = (app.clock.now(), job.name());
    let before: Option<(i64, i64, Option<i64>)> = tx.opt(
        "SELECT attempts, failed_at, held_at FROM job_failures
         WHERE ws = ?1 AND queue = ?2 AND job = ?3",
        &[&job.ws, &rule.queue, &name],
    )?;
    // An attempt that was under way when somebody held the job changes nothing of that.
    let is_held = before.is_some_and(|(_, _, held_at)| held_at.is_some());
    let before = before.filter(|(_, at, _)| now - at < REMEMBERED_MS);
    let attempts = 1 + before.map_or(0, |(attempts, _, _)| attempts);
    let given_up = attempts >= JOB_ATTEMPTS && !is_held;
    let next = match is_held {
        true => Some(HELD_UNTIL_MS),
        false => (!given_up).then(|| now + retry_after(attempts)),
    };
    tx.exec(
        "INSERT INTO job_failures (ws, queue, job, attempts, reason, failed_at, next_attempt_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (ws, queue, job) DO UPDATE SET attempts = excluded.attempts,
            reason = excluded.reason, failed_at = excluded.failed_at,
            next_attempt_at = excluded.next_attempt_at",
        &[&job.ws, &rule.queue, &name, &attempts, &reason, &now, &next],
    )?;
    tx.exec(
        "DELETE FROM job_failures WHERE failed_at < ?1 AND held_at IS NULL",
        &[&(now - KEPT_MS)],
    )?;
    match (&next, rule.retry_at) {
        (Some(next), Some(retry_at)) => drop(tx.exec(retry_at, &job.args(&[next]))?),
        (Some(_), None) => {}
        (None, _) => drop(tx.exec(rule.abandon, &job.args(&[]))?),
    }
    Ok(JobFailure { job: job.clone(), queue: rule.queue, attempts, reason, given_up })
}

/// Why a job failed, in words for the team.
fn reason(error: &Error) -> &'static str {
    match error {
        Error::Files(_) | Error::LostFile => "a file that belongs to it cannot be read",
        Error::Store(StoreError::Panicked) => "a fault in Mailroom stopped it",
        Error::NotFound(_) | Error::Store(StoreError::NoRow) => "what it belongs to is missing",
        Error::Store(_) => "its data cannot be read or written",
        _ => "it cannot be done",
    }
}

/// Sends the owners a notice about a given-up job that no conversation or log shows: at most once a
/// day for each queue.
pub(crate) fn notify_owners(tx: &mut Tx<'_>, app: &App, failure: &JobFailure) -> Result<()> {
    let (ws, now) = (failure.job.ws, app.clock.now());
    if !failure.given_up {
        return Ok(());
    }
    let (given_up,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM job_failures
         WHERE ws = ?1 AND queue = ?2 AND next_attempt_at IS NULL AND failed_at > ?3",
        &[&ws, &failure.queue, &(now - DAY_MS)],
    )?;
    if given_up > 1 {
        return Ok(());
    }
    let actor = system(tx, ws, Circle::team())?;
    let cx = Cx { now, ..app.cx(&actor) };
    let owners: Vec<(UserId,)> =
        tx.all("SELECT id FROM users WHERE ws = ?1 AND role = 'owner' ORDER BY id", &[&ws])?;
    let subject = format!("A job of the queue {} was given up", failure.queue.as_str());
    let text = format!(
        "A job failed {attempts} times and is not tried any more: {reason}. Others of its queue \
         are not held up.\n\nQueue: {queue}\nJob: {job}\nService: {service}\n\nThe log of the \
         service names the cause. Further ones of today are counted in \
         mailroom_jobs_given_up_total.\n",
        attempts = failure.attempts,
        reason = failure.reason,
        queue = failure.queue.as_str(),
        job = failure.job.name(),
        service = cx.public_url,
    );
    for (owner,) in owners {
        notify(tx, &cx, &owner, &Notice { subject: &subject, text: &text })?;
    }
    Ok(())
}

/// Sends no notice: the failure is shown where the job's result would be.
pub(crate) fn send_no_notice(_: &mut Tx<'_>, _: &App, _: &JobFailure) -> Result<()> {
    Ok(())
}

/// The system actor of a workspace, limited to a circle.
pub(crate) fn system(tx: &mut Tx<'_>, ws: i64, circle: Circle) -> Result<Actor> {
    let (workspace,): (WorkspaceId,) = tx.one("SELECT id FROM workspaces WHERE ws = ?1", &[&ws])?;
    Ok(Actor::system(ws, workspace, circle))
}
