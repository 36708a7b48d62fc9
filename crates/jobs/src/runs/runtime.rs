//! The runtime of background jobs: the app, the running tasks, and the claims of due rows.
//!
//! The rows are the queues. A row is claimed by moving its due time to the end of a lease, is
//! processed outside of any transaction, and its outcome is recorded in a second one. After a
//! process was killed its leases expire, and another process claims the rows.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::app::App;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::limits::MINUTE_MS;
use db::{Arg, FromRow, Tx};
use tokio_util::task::TaskTracker;
use tracing::Span;

use crate::runs::concurrency::JobSlots;

/// A lease ends after this long.
pub(crate) const LEASE_MS: i64 = MINUTE_MS;

/// One kind of background work: the rows of one queue, found by an index.
pub(crate) trait BackgroundJob: Send + Sync {
    /// Woken by [`db::Tx::wake`] when a row is added.
    fn queue(&self) -> Queue;

    /// The query for the time of the row that is due first.
    fn earliest(&self) -> &'static str;

    /// True for jobs that send to the outside; they pause while the installation is quiet.
    fn is_outward(&self) -> bool {
        false
    }

    /// The limit on rows that are worked on at once, where there is one.
    fn slots(&self) -> Option<&JobSlots> {
        None
    }

    /// Claims due rows up to the free slots, and runs or starts them.
    fn run(&self) -> BoxFuture<'_, Result<JobRound>>;
}

/// The rows that one round of a job claimed.
pub(crate) struct JobRound {
    pub claimed: usize,
    /// Every other row that is due waits for a slot.
    pub full: bool,
    /// Not every owner of due rows was looked at: the next round goes on with the others.
    pub partial: bool,
}

impl JobRound {
    /// A round that found no slot free.
    pub fn without_slots() -> JobRound {
        JobRound { claimed: 0, full: true, partial: false }
    }
}

impl From<usize> for JobRound {
    fn from(claimed: usize) -> JobRound {
        JobRound { claimed, full: false, partial: false }
    }
}

/// Shared by all jobs of one worker. Cheap to clone.
#[derive(Clone)]
pub(crate) struct JobRuntime {
    pub app: App,
    pub tasks: TaskTracker,
    pub failed_jobs: FailedJobs,
}

/// The jobs whose last attempt in this process failed: their rows in `job_failures` are deleted when
/// they succeed.
#[derive(Clone, Default)]
pub(crate) struct FailedJobs(Arc<Mutex<HashSet<(Queue, DueJob)>>>);

impl FailedJobs {
    pub fn lock(&self) -> MutexGuard<'_, HashSet<(Queue, DueJob)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One due row, by the key of its table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DueJob {
    pub ws: i64,
    /// The rest of the key.
    pub key: Vec<String>,
}

/// How the due rows of a queue are claimed.
pub(crate) struct ClaimRule {
    /// The keys of due rows: `?1` is now, `?2` how many at the most.
    pub due: &'static str,
    /// Moves a row to the end of its lease, `?1`; the workspace and the key's parts follow.
    pub lease: &'static str,
    /// Rows claimed in one transaction.
    pub at_once: i64,
}

impl JobRuntime {
    pub fn new(app: App) -> JobRuntime {
        JobRuntime { app, tasks: TaskTracker::new(), failed_jobs: FailedJobs::default() }
    }

    /// Claims the due rows of a queue that no other process holds. `T` is a row of their keys.
    pub async fn claim<T>(&self, rule: &'static ClaimRule) -> Result<Vec<DueJob>>
    where
        T: FromRow + Into<DueJob> + Send + 'static,
    {
        let now = self.app.clock.now();
        let claim = move |tx: &mut Tx<'_>| {
            let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
            let due: Vec<T> = tx.all(&format!("{}{lock}", rule.due), &[&now, &rule.at_once])?;
            let jobs: Vec<DueJob> = due.into_iter().map(T::into).collect();
            for job in &jobs {
                tx.exec(rule.lease, &job.args(&[&(now + LEASE_MS)]))?;
            }
            Ok::<_, Error>(jobs)
        };
        self.app.store.write(claim).await
    }
}

impl From<(i64, String)> for DueJob {
    fn from((ws, id): (i64, String)) -> DueJob {
        DueJob { ws, key: vec![id] }
    }
}

impl From<(i64, String, String)> for DueJob {
    fn from((ws, first, second): (i64, String, String)) -> DueJob {
        DueJob { ws, key: vec![first, second] }
    }
}

impl DueJob {
    /// What the log lines of the work on this row carry. Of the highest level, so that they carry it
    /// whatever levels are asked for.
    pub fn span(&self, queue: Queue) -> Span {
        // Addresses of people are part of some keys.
        let id = self.key.iter().find(|part| !part.contains('@')).map_or("", String::as_str);
        tracing::error_span!("job", queue = queue.as_str(), workspace = self.ws, id)
    }

    /// The key as one word.
    pub fn name(&self) -> String {
        self.key.join(" ")
    }

    /// `first`, then the workspace and the parts of the key.
    pub fn args<'a>(&'a self, first: &[&'a dyn Arg]) -> Vec<&'a dyn Arg> {
        let mut args: Vec<&'a dyn Arg> = first.to_vec();
        args.push(&self.ws);
        args.extend(self.key.iter().map(|part| part as &dyn Arg));
        args
    }
}
