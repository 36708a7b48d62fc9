//! What falls due. The rows are the queues: a row is claimed with a short lease, acted on outside
//! of any transaction, and its outcome recorded in a second one. A claim that lapses, because its
//! process was killed, is taken over by whoever finds it. A job that fails fails alone: see `jobs`.

mod app_mail_reader;
mod concurrency;
mod deliver_webhooks;
mod document_reader;
mod end_snoozes;
mod expire_events;
mod extract_documents;
mod failures;
mod fair_share;
mod fetch_app_mail;
mod index_maintenance;
mod lease;
mod outgoing_mail;
mod quiet;
mod recipient_outcomes;
mod relay;
mod remind;
mod sandbox_replies;
mod send_messages;
mod send_notices;
mod upload_cleanup;
mod webhook_sender;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use metrics::{counter, gauge};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::base::error::{Error, Result};
use crate::base::limits::MINUTE_MS;
use crate::base::queue::Queue;

pub use app_mail_reader::{AppMailBody, AppMailReader, WantedMail, WordReading};
pub use deliver_webhooks::RETRIES_MS as DELIVERY_RETRIES_MS;
pub use document_reader::{DocumentReader, ExtractionError, ExtractionFuture, ExtractionOutcome};
pub use relay::{OutgoingMail, Relay, RelayFuture, RelayOutcome};
pub use send_messages::retry_after;
pub use webhook_sender::{Posting, WebhookRequest, WebhookResponse, WebhookSender};

use concurrency::JobSlots;
use failures::FailedJobs;
use fair_share::FairShareCursor;

/// A claim lapses after this long.
pub const LEASE_MS: i64 = MINUTE_MS;
/// How long a queue sleeps at the most: what other processes planned is found by the clock.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The wait after a round that failed as a whole, and while all places are taken.
const PAUSE: Duration = Duration::from_secs(1);
/// The wait doubles with each further round that fails, up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Every kind of work that falls due.
const QUEUES: &[DueQueue] = &[
    DueQueue {
        name: Queue::Messages,
        outward: true,
        earliest: "SELECT min(sends_at) FROM messages WHERE sends_at IS NOT NULL",
        work: |worker| Box::pin(async { Ok(worker.send_messages().await?.into()) }),
    },
    DueQueue {
        name: Queue::Deliveries,
        outward: true,
        earliest: "SELECT min(next_attempt_at) FROM deliveries WHERE next_attempt_at IS NOT NULL",
        work: |worker| Box::pin(worker.make_deliveries()),
    },
    DueQueue {
        name: Queue::SandboxReplies,
        outward: false,
        earliest: "SELECT min(due_at) FROM sandbox_replies",
        work: |worker| Box::pin(async { Ok(worker.give_sandbox_answers().await?.into()) }),
    },
    DueQueue {
        name: Queue::Snoozes,
        outward: false,
        earliest: "SELECT min(snoozed_until) FROM conversations WHERE snoozed_until IS NOT NULL",
        work: |worker| Box::pin(async { Ok(worker.end_snoozes().await?.into()) }),
    },
    DueQueue {
        name: Queue::Notices,
        outward: true,
        earliest: "SELECT min(due_at) FROM notices",
        work: |worker| Box::pin(async { Ok(worker.send_notices().await?.into()) }),
    },
    DueQueue {
        name: Queue::AppMail,
        outward: true,
        earliest: "SELECT min(body_due_at) FROM app_mail WHERE body_due_at IS NOT NULL",
        work: |worker| Box::pin(async { Ok(worker.fetch_app_mail().await?.into()) }),
    },
    DueQueue {
        name: Queue::Reminders,
        outward: true,
        earliest: "SELECT min(remind_at) FROM document_requests WHERE remind_at IS NOT NULL",
        work: |worker| Box::pin(async { Ok(worker.send_reminders().await?.into()) }),
    },
    DueQueue {
        name: Queue::Submissions,
        outward: false,
        earliest: "SELECT min(hands_over_at) FROM document_requests WHERE hands_over_at IS NOT NULL",
        work: |worker| Box::pin(async { Ok(worker.hand_over_uploads().await?.into()) }),
    },
    DueQueue {
        name: Queue::Uploads,
        outward: false,
        earliest: "SELECT min(due_at) FROM uploads WHERE due_at IS NOT NULL",
        work: |worker| Box::pin(async { Ok(worker.tend_uploads().await?.into()) }),
    },
    DueQueue {
        name: Queue::Documents,
        outward: false,
        earliest: "SELECT min(extract_at) FROM documents WHERE extract_at IS NOT NULL",
        work: |worker| Box::pin(worker.read_documents()),
    },
    DueQueue {
        name: Queue::EventRetention,
        outward: false,
        earliest: expire_events::EARLIEST,
        work: |worker| Box::pin(async { Ok(worker.forget_old_events().await?.into()) }),
    },
    DueQueue {
        name: Queue::IndexMaintenance,
        outward: false,
        earliest: index_maintenance::EARLIEST,
        work: |worker| Box::pin(async { Ok(worker.keep_up_index().await?.into()) }),
    },
];

/// Rows that fall due, found by an index.
struct DueQueue {
    /// Also what [`db::Tx::wake`] is told when a row is added.
    name: Queue,
    /// True for work that reaches somebody outside; it waits while the installation is quiet.
    outward: bool,
    earliest: &'static str,
    /// Takes on what is due and there is room for.
    work: for<'a> fn(&'a Worker) -> Work<'a>,
}

type Work<'a> = Pin<Box<dyn Future<Output = Result<Taken>> + Send + 'a>>;

/// How much was taken on.
struct Taken {
    count: usize,
    /// Everything else that is due waits for a place.
    full: bool,
}

impl From<usize> for Taken {
    fn from(count: usize) -> Taken {
        Taken { count, full: false }
    }
}

/// What a queue does after it took something on.
enum Next {
    /// More is due.
    Again,
    /// More is due than there are places for.
    WaitForSlots,
    /// Nothing is due for so long.
    Sleep(Duration),
}

/// The one that does what is due.
#[derive(Clone)]
pub struct Worker {
    app: App,
    relay: Arc<dyn Relay>,
    webhook_sender: Arc<dyn WebhookSender>,
    reader: Arc<dyn DocumentReader>,
    app_mail_reader: Arc<dyn AppMailReader>,
    messages: JobSlots,
    last_sender: FairShareCursor<i64>,
    deliveries: JobSlots,
    last_webhook: FairShareCursor<String>,
    documents: JobSlots,
    last_read: FairShareCursor<i64>,
    failed_jobs: FailedJobs,
    tasks: TaskTracker,
    quiet: bool,
}

impl Worker {
    pub fn new(
        app: App,
        relay: Arc<dyn Relay>,
        webhook_sender: Arc<dyn WebhookSender>,
        reader: Arc<dyn DocumentReader>,
    ) -> Worker {
        Worker {
            app,
            relay,
            webhook_sender,
            reader,
            app_mail_reader: Arc::new(app_mail_reader::NoAppMailReader),
            messages: JobSlots::new(send_messages::IN_FLIGHT_EACH, send_messages::IN_FLIGHT),
            last_sender: FairShareCursor::default(),
            deliveries: JobSlots::new(
                deliver_webhooks::IN_FLIGHT_EACH,
                deliver_webhooks::IN_FLIGHT,
            ),
            last_webhook: FairShareCursor::default(),
            documents: JobSlots::new(
                extract_documents::IN_FLIGHT_EACH,
                extract_documents::IN_FLIGHT,
            ),
            last_read: FairShareCursor::default(),
            failed_jobs: FailedJobs::default(),
            tasks: TaskTracker::new(),
            quiet: false,
        }
    }

    /// The same worker with a way to read the words of mail at the services that sent it.
    pub fn with_reader(self, app_mail_reader: Arc<dyn AppMailReader>) -> Worker {
        Worker { app_mail_reader, ..self }
    }

    /// The same worker, doing only what stays inside: no mail, event or notice leaves, and what
    /// waits to leave stays as it is.
    pub fn quiet(self) -> Worker {
        Worker { quiet: true, ..self }
    }

    fn queues(&self) -> impl Iterator<Item = &'static DueQueue> + use<> {
        let quiet = self.quiet;
        let simulated = Some(&quiet::SIMULATED_MESSAGES).filter(|_| quiet);
        QUEUES.iter().filter(move |queue| !(quiet && queue.outward)).chain(simulated)
    }

    /// Does what is due until `stop` is ready; what is in flight then is finished.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let stopping = CancellationToken::new();
        let queues = TaskTracker::new();
        for queue in self.queues() {
            let (worker, stopping) = (self.clone(), stopping.clone());
            queues.spawn(async move { worker.keep_up(queue, &stopping).await });
        }
        let (worker, stop_statistics) = (self.clone(), stopping.clone());
        queues.spawn(async move { worker.keep_statistics(&stop_statistics).await });
        stop.await;
        stopping.cancel();
        for tasks in [&queues, &self.tasks] {
            tasks.close();
            tasks.wait().await;
        }
    }

    async fn keep_up(&self, queue: &'static DueQueue, stopping: &CancellationToken) {
        let mut wakes = self.app.store.wakes();
        let mut pause = PAUSE;
        while !stopping.is_cancelled() {
            // Whatever these tell of is seen by the work that follows.
            while !matches!(wakes.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
            let worker = self.clone();
            // A task of its own, so that a panic is not the end of the queue.
            let round = tokio::spawn(async move { worker.take_on(queue).await }).await;
            let (full, failed, sleep_at_most) = match round
                .unwrap_or_else(|panic| Err(panic.into()))
            {
                Ok(Next::Again) => continue,
                Ok(Next::WaitForSlots) => (true, false, PAUSE),
                Ok(Next::Sleep(sleep_at_most)) => (false, false, sleep_at_most),
                Err(error) if error.is_outage() => (false, false, PAUSE),
                Err(error) => {
                    tracing::error!(cause = ?error, queue = queue.name.word(), "due work failed");
                    counter!("mailroom_due_failures_total", "queue" => queue.name.word())
                        .increment(1);
                    (false, true, pause)
                }
            };
            pause = if failed { (2 * pause).min(LONGEST_PAUSE) } else { PAUSE };
            tokio::select! {
                () = woken(&mut wakes, queue.name.word()), if !failed => {}
                () = self.messages.freed(), if full && queue.name == Queue::Messages => {}
                () = self.deliveries.freed(), if full && queue.name == Queue::Deliveries => {}
                () = self.documents.freed(), if full && queue.name == Queue::Documents => {}
                () = tokio::time::sleep(sleep_at_most) => {}
                () = stopping.cancelled() => {}
            }
        }
    }

    /// Takes on what is due, and looks what there is to do after that. Looking is a read: it does
    /// not stand in the way of those who write, as another claim would.
    async fn take_on(&self, queue: &DueQueue) -> Result<Next> {
        let taken = (queue.work)(self).await;
        // How late the queue is, a round that failed as a whole tells as well.
        let next = self.earliest(queue).await?;
        let left = next.map(|next| next - self.app.clock.now());
        let late = left.unwrap_or(0).min(0).unsigned_abs() as f64 / 1_000.0;
        gauge!("mailroom_due_late_seconds", "queue" => queue.name.word()).set(late);
        let taken = taken?;
        let Some(left) = left else { return Ok(Next::Sleep(MAX_POLL_INTERVAL)) };
        Ok(match u64::try_from(left) {
            Ok(left) if left > 0 => Next::Sleep(Duration::from_millis(left).min(MAX_POLL_INTERVAL)),
            _ if taken.count > 0 && !taken.full => Next::Again,
            _ => Next::WaitForSlots,
        })
    }

    async fn earliest(&self, queue: &DueQueue) -> Result<Option<i64>> {
        let sql = queue.earliest;
        let (next,): (Option<i64>,) =
            self.app.store.read(move |tx| Ok::<_, Error>(tx.one(sql, &[])?)).await?;
        Ok(next)
    }

    /// Does everything that is due now, and waits for it.
    pub async fn run_due(&self) -> Result<()> {
        loop {
            let mut taken_on = 0;
            for queue in self.queues() {
                if self.earliest(queue).await?.is_some_and(|next| next <= self.app.clock.now()) {
                    taken_on += (queue.work)(self).await?.count;
                }
            }
            self.tasks.close();
            self.tasks.wait().await;
            self.tasks.reopen();
            if taken_on == 0 {
                return Ok(());
            }
        }
    }

    /// When the next row of any queue falls due.
    pub async fn next_due(&self) -> Result<Option<i64>> {
        let mut next: Option<i64> = None;
        for queue in self.queues() {
            next = next.into_iter().chain(self.earliest(queue).await?).min();
        }
        Ok(next)
    }
}

/// Ready when a commit named this queue, or when so many did that this one may be among them.
async fn woken(wakes: &mut Receiver<String>, name: &str) {
    loop {
        match wakes.recv().await {
            Ok(woken) if woken != name => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}
