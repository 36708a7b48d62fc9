//! Runs the background jobs: each has a loop of its own, which a commit or the clock wakes.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use base::app::App;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use metrics::{counter, gauge};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cleaning::index_maintenance;
use crate::ports::app_mail_reader::NoAppMailReader;
use crate::runs::quiet::SimulateMessages;
use crate::runs::runtime::{BackgroundJob, JobRuntime};
use crate::{
    AppMailReader, CalendarReader, DocumentReader, OpenPages, Ports, PushSender, Relay, ReplyModel,
    WebhookSender, all,
};

/// The longest sleep of a job: rows that other processes added are found by polling.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The wait after a round that failed as a whole.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// The wait while those who have due rows have no slot free. Rows of others that fall due meanwhile wait
/// as long.
const SLOT_WAIT: Duration = Duration::from_millis(250);
/// The wait before a round goes on with the owners that the one before did not look at.
const PARTIAL_PAUSE: Duration = Duration::from_millis(10);
/// The wait doubles with each further round that fails, up to this.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

/// Runs all background jobs of a process.
#[derive(Clone)]
pub struct Worker {
    runtime: JobRuntime,
    ports: Ports,
    quiet: bool,
    jobs: Vec<Arc<dyn BackgroundJob>>,
}

/// How a job's loop continues after a round.
enum Next {
    /// More is due.
    Again,
    /// More is due than there are slots for.
    WaitForSlots,
    /// Nothing is due for this long.
    Sleep(Duration),
}

impl Worker {
    pub fn new(
        app: App,
        relay: Arc<dyn Relay>,
        webhook_sender: Arc<dyn WebhookSender>,
        document_reader: Arc<dyn DocumentReader>,
    ) -> Worker {
        let app_mail_reader = Arc::new(NoAppMailReader);
        let ports = Ports {
            relay,
            webhook_sender,
            document_reader,
            app_mail_reader,
            calendar_reader: None,
            reply_model: None,
            push_sender: None,
            open_pages: None,
        };
        Worker::of(JobRuntime::new(app), ports, false)
    }

    fn of(runtime: JobRuntime, ports: Ports, quiet: bool) -> Worker {
        let mut jobs = all(&runtime, &ports);
        if quiet {
            jobs.retain(|job| !job.is_outward());
            jobs.push(Arc::new(SimulateMessages { runtime: runtime.clone() }));
        }
        Worker { runtime, ports, quiet, jobs }
    }

    /// The same worker with a reader for the text of app mail.
    pub fn with_reader(self, app_mail_reader: Arc<dyn AppMailReader>) -> Worker {
        Worker::of(self.runtime, Ports { app_mail_reader, ..self.ports }, self.quiet)
    }

    /// The same worker with a reader for hosts' calendars.
    pub fn with_calendars(self, calendar_reader: Arc<dyn CalendarReader>) -> Worker {
        let calendar_reader = Some(calendar_reader);
        Worker::of(self.runtime, Ports { calendar_reader, ..self.ports }, self.quiet)
    }

    /// The same worker with a language model that drafts replies.
    pub fn with_model(self, reply_model: Arc<dyn ReplyModel>) -> Worker {
        let reply_model = Some(reply_model);
        Worker::of(self.runtime, Ports { reply_model, ..self.ports }, self.quiet)
    }

    /// The same worker with a way to people's browsers.
    pub fn with_pushes(self, push_sender: Arc<dyn PushSender>) -> Worker {
        let push_sender = Some(push_sender);
        Worker::of(self.runtime, Ports { push_sender, ..self.ports }, self.quiet)
    }

    /// The same worker, which tells nobody of a conversation that they have open.
    pub fn with_open_pages(self, open_pages: Arc<dyn OpenPages>) -> Worker {
        let open_pages = Some(open_pages);
        Worker::of(self.runtime, Ports { open_pages, ..self.ports }, self.quiet)
    }

    /// The same worker without the jobs that send: no mail, event or notice is sent, and queued
    /// ones stay queued.
    pub fn quiet(self) -> Worker {
        Worker::of(self.runtime, self.ports, true)
    }

    /// Runs the jobs until `stop` is ready, then waits for the running ones. The loops go on whatever a job does;
    /// if one ends by a panic all the same, the others end and the panic goes on to the caller, who starts anew.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let stopping = CancellationToken::new();
        let _end = stopping.clone().drop_guard();
        let mut loops = JoinSet::new();
        for job in &self.jobs {
            let (worker, job, stopping) = (self.clone(), job.clone(), stopping.clone());
            loops.spawn(async move { worker.run_job(job, &stopping).await });
        }
        let (app, stop_statistics) = (self.runtime.app.clone(), stopping.clone());
        loops.spawn(async move {
            index_maintenance::keep_statistics(&app, &stop_statistics).await;
        });
        let mut stop = pin!(stop);
        let broken = loop {
            tokio::select! {
                () = &mut stop => break None,
                // Some have nothing to do on SQLite, and end by themselves.
                Some(ended) = loops.join_next() => if let Err(error) = ended { break Some(error) },
            }
        };
        stopping.cancel();
        while loops.join_next().await.is_some() {}
        self.runtime.tasks.close();
        self.runtime.tasks.wait().await;
        if let Some(panic) = broken.and_then(|error| error.try_into_panic().ok()) {
            resume_unwind(panic);
        }
    }

    async fn run_job(&self, job: Arc<dyn BackgroundJob>, stopping: &CancellationToken) {
        let queue = job.queue();
        let mut wakes = self.runtime.app.store.wakes();
        let mut retry_delay = RETRY_DELAY;
        while !stopping.is_cancelled() {
            // The next round reads the rows that these wake-ups announce.
            while !matches!(wakes.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
            let (worker, own) = (self.clone(), job.clone());
            // A task of its own, so that a panic does not end the loop.
            let round = tokio::spawn(async move { worker.run_round(&*own).await }).await;
            let (full, failed, sleep_at_most) =
                match round.unwrap_or_else(|panic| Err(panic.into())) {
                    Ok(Next::Again) => continue,
                    Ok(Next::WaitForSlots) => (true, false, SLOT_WAIT),
                    Ok(Next::Sleep(sleep_at_most)) => (false, false, sleep_at_most),
                    Err(error) if error.is_outage() => (false, false, RETRY_DELAY),
                    Err(error) => {
                        let queue = queue.as_str();
                        tracing::error!(cause = ?error, queue, "round of a background job failed");
                        counter!("mailroom_job_failures_total", "queue" => queue).increment(1);
                        (false, true, retry_delay)
                    }
                };
            retry_delay = if failed { (2 * retry_delay).min(MAX_RETRY_DELAY) } else { RETRY_DELAY };
            tokio::select! {
                () = wait_for_wake(&mut wakes, queue), if !failed => {}
                () = slot_freed(&*job), if full => {}
                () = tokio::time::sleep(sleep_at_most) => {}
                () = stopping.cancelled() => {}
            }
        }
    }

    /// Runs one round of a job, and looks when the next is due. Looking is a read, which does not
    /// hold up writers as another claim would.
    async fn run_round(&self, job: &dyn BackgroundJob) -> Result<Next> {
        let round = job.run().await;
        // The gauge shows the queue's lag even when the whole round failed.
        let next = self.earliest(job).await?;
        let now = self.runtime.app.clock.now();
        let lag = next.map_or(0.0, |next| lag_seconds(next, now));
        gauge!("mailroom_job_lag_seconds", "queue" => job.queue().as_str()).set(lag);
        let left = next.map(|next| next - now);
        let round = round?;
        let Some(left) = left else { return Ok(Next::Sleep(MAX_POLL_INTERVAL)) };
        Ok(match u64::try_from(left) {
            Ok(left) if left > 0 => Next::Sleep(Duration::from_millis(left).min(MAX_POLL_INTERVAL)),
            _ if round.claimed > 0 && !round.full => Next::Again,
            _ if round.partial => Next::Sleep(PARTIAL_PAUSE),
            _ => Next::WaitForSlots,
        })
    }

    async fn earliest(&self, job: &dyn BackgroundJob) -> Result<Option<i64>> {
        let sql = job.earliest();
        let (next,): (Option<i64>,) =
            self.runtime.app.store.read(move |tx| Ok::<_, Error>(tx.one(sql, &[])?)).await?;
        Ok(next)
    }

    /// Runs all due work and waits for it.
    pub async fn run_due(&self) -> Result<()> {
        loop {
            let mut is_done = true;
            for job in &self.jobs {
                let next = self.earliest(&**job).await?;
                if next.is_some_and(|next| next <= self.runtime.app.clock.now()) {
                    let round = job.run().await?;
                    is_done &= round.claimed == 0 && !round.partial;
                }
            }
            let tasks = &self.runtime.tasks;
            tasks.close();
            tasks.wait().await;
            tasks.reopen();
            if is_done {
                return Ok(());
            }
        }
    }

    /// When the next row of any queue falls due.
    pub async fn next_due(&self) -> Result<Option<i64>> {
        let mut next: Option<i64> = None;
        for job in &self.jobs {
            next = next.into_iter().chain(self.earliest(&**job).await?).min();
        }
        Ok(next)
    }

    /// Runs ANALYZE on the PostgreSQL tables that grew since the last one; returns their names.
    pub async fn analyse_grown_tables(&self) -> Result<Vec<String>> {
        index_maintenance::analyse_grown_tables(&self.runtime.app).await
    }
}

/// How late a row is. One that an update of the schema put into its queue is due from 0 on, which is no time
/// since when it waits.
fn lag_seconds(due_at: i64, now: i64) -> f64 {
    match due_at {
        ..=0 => 0.0,
        _ => (now - due_at).max(0) as f64 / 1_000.0,
    }
}

/// Ready when a commit named this queue, or when so many did that this one may be among them.
async fn wait_for_wake(wakes: &mut Receiver<String>, queue: Queue) {
    loop {
        match wakes.recv().await {
            Ok(woken) if woken != queue.as_str() => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

/// Ready when the job may work on one more row.
async fn slot_freed(job: &dyn BackgroundJob) {
    match job.slots() {
        Some(slots) => slots.wait_for_slot().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_is_counted_from_the_time_of_a_row_that_has_one() {
        let now = 1_790_000_000_000;
        assert_eq!(lag_seconds(now - 2_500, now), 2.5);
        assert_eq!(lag_seconds(now + 2_500, now), 0.0);
        assert_eq!(lag_seconds(0, now), 0.0);
    }
}
