//! PostgreSQL: a few connections, each on a thread of its own, sharing one queue.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use async_channel::{Receiver, RecvError, Sender, bounded};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use tokio::sync::broadcast;
use tokio_postgres::Config;

use crate::breaker::{Breaker, GRACE};
use crate::caches::Caches;
use crate::connect::{connect_listener, with_limits};
use crate::job::Job;
use crate::migrate::migrate;
use crate::session::Session;
use crate::threads::spawn;
use crate::tx::{WriteConflict, race};
use crate::{Migration, QUEUE_CLOSURES, StoreError, StoreOptions, Tx};

/// How often a closure is run before its conflicts with others are given up on.
const ATTEMPTS: u32 = 200;
/// How often a unique violation can be a race; after that it is the caller's own duplicate.
const TAKEN_ATTEMPTS: u32 = 25;
/// The wait after the first lost race. It grows with the next ones, and then no more: whoever has lost often
/// would otherwise lose to everybody who came later.
const BACKOFF: Duration = Duration::from_micros(500);
const BACKOFF_STEPS: u32 = 8;
/// The pause between connection attempts while the server cannot be reached.
const RECONNECT: Duration = Duration::from_millis(100);
/// The interval of health checks on the listening connection.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The time a connection has to show that it is still there.
const ALIVE: Duration = Duration::from_secs(5);
/// Wake-ups for other nodes that may wait to be sent; further ones are left to the clock.
const NOTIFICATIONS: usize = 1024;
/// The channel through which nodes wake one another.
const CHANNEL: &str = "mailroom";
/// The key of the advisory lock that lets one process migrate at a time.
const MIGRATION_LOCK: i64 = 0x6d61_696c_726f_6f6d;

type Queue = Sender<Job>;
/// The queue of notifications to other nodes.
pub(crate) type Notify = mpsc::SyncSender<Cow<'static, str>>;

/// Connects from a thread of its own: the client blocks on a runtime that it brings along, which
/// cannot be done inside the runtime of a caller.
pub(crate) fn start(
    url: &str,
    options: &StoreOptions,
    migrations: &[Migration],
    wakes: &broadcast::Sender<String>,
    breaker: &Arc<Breaker>,
) -> Result<(Queue, Queue, Notify), StoreError> {
    thread::scope(|scope| scope.spawn(|| open(url, options, migrations, wakes, breaker)).join())
        .unwrap_or_else(|panic| resume_unwind(panic))
}

fn open(
    url: &str,
    options: &StoreOptions,
    migrations: &[Migration],
    wakes: &broadcast::Sender<String>,
    breaker: &Arc<Breaker>,
) -> Result<(Queue, Queue, Notify), StoreError> {
    let config = with_limits(url.parse()?);
    prepare_schema(&config, migrations)?;
    let notifier_pid = Arc::new(AtomicI32::new(0));
    let listener = NotificationListener {
        config: config.clone(),
        wakes: wakes.clone(),
        own: notifier_pid.clone(),
        breaker: breaker.clone(),
        silence: options.silence,
    };
    listener.start()?;
    let notify = notifier(config.clone(), notifier_pid, breaker.clone());
    let breaker = breaker.clone();
    let caches = Caches::default();
    let node = Node { config, wakes: wakes.clone(), notify: notify.clone(), breaker, caches };

    let (reads, read_queue) = bounded(QUEUE_CLOSURES);
    let (writes, write_queue) = bounded(QUEUE_CLOSURES);
    let half = options.connections.max(2) / 2;
    for number in 0..options.connections.max(2) {
        let (mode, queue) = match number < half {
            true => (Mode::Write, write_queue.clone()),
            false => (Mode::Read, read_queue.clone()),
        };
        let mut connection = Connection::open(node.clone(), options.plans_kept)?;
        let mut is_first = true;
        spawn(format!("db-{number}"), move || {
            // What a panic left of a session is not used.
            connection.lost |= !std::mem::take(&mut is_first);
            serve(&mut connection, mode, &queue);
        });
    }
    Ok((reads, writes, notify))
}

#[derive(Clone, Copy)]
enum Mode {
    Read,
    Write,
}

#[derive(Clone)]
struct Node {
    config: Config,
    wakes: broadcast::Sender<String>,
    notify: Notify,
    breaker: Arc<Breaker>,
    caches: Caches,
}

impl Node {
    fn open_session(&self) -> Result<Session, StoreError> {
        let mut session = Session::open(&self.config)?;
        session.caches = self.caches.clone();
        Ok(session)
    }

    fn wake(&self, queues: Vec<&'static str>) {
        for queue in queues {
            // A wake-up may be lost; due rows are also found by polling.
            let _ = self.wakes.send(queue.to_owned());
            let _ = self.notify.try_send(Cow::Borrowed(queue));
        }
    }
}

fn prepare_schema(config: &Config, migrations: &[Migration]) -> Result<(), StoreError> {
    let mut session = Session::open(config)?;
    session.begin_migration()?;
    session.batch(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))?;
    let mut tx = Tx::postgres(&mut session);
    migrate(&mut tx, migrations)?;
    tx.commit()?;
    Ok(())
}

/// A connection that is opened again when it is lost.
struct Connection {
    node: Node,
    session: Session,
    plans_kept: Duration,
    planned_since: Instant,
    lost: bool,
}

impl Connection {
    fn open(node: Node, plans_kept: Duration) -> Result<Self, StoreError> {
        let session = node.open_session()?;
        Ok(Connection { node, session, plans_kept, planned_since: Instant::now(), lost: false })
    }

    /// Has everything planned anew once in a while.
    fn forget_old_plans(&mut self) {
        if self.planned_since.elapsed() >= self.plans_kept {
            self.planned_since = Instant::now();
            self.session.forget_plans();
        }
    }

    /// Reopens a lost connection; waiting callers get an error while the breaker is open.
    fn reopen_if_lost(&mut self) -> Result<(), StoreError> {
        let begun = Instant::now();
        while self.lost {
            match self.node.open_session() {
                Ok(session) => {
                    self.node.caches.clear();
                    self.session = session;
                    self.lost = false;
                    self.node.breaker.note_answer();
                }
                Err(error) => {
                    self.node.breaker.note_refusal(&error);
                    if self.node.breaker.is_open() || begun.elapsed() >= GRACE {
                        return Err(StoreError::Unreachable);
                    }
                    thread::sleep(RECONNECT);
                }
            }
        }
        Ok(())
    }

    /// Asks the server, after an error: the client itself notices a lost connection only when it
    /// is used again, and the first error of one can look like any other.
    fn is_lost(&mut self) -> bool {
        // Behind answers that nobody takes, none would be seen.
        self.session.release();
        self.lost = !self.session.is_alive(ALIVE);
        self.lost
    }
}

fn serve(connection: &mut Connection, mode: Mode, queue: &Receiver<Job>) {
    while let Ok(mut job) = next_job(&mut connection.session, queue) {
        connection.forget_old_plans();
        let fate = run(connection, mode, &mut job);
        if matches!(mode, Mode::Write) {
            // What was not committed keeps no lock until the next job.
            connection.session.release();
        }
        job.answer(fate);
    }
}

/// The next job. Where none waits, the transaction of the last one is ended first.
fn next_job(session: &mut Session, queue: &Receiver<Job>) -> Result<Job, RecvError> {
    queue.try_recv().or_else(|_| {
        session.release();
        queue.recv_blocking()
    })
}

/// Runs a job until it wins its races. Conflicts and a connection lost before the commit run it
/// again; a connection lost during the commit leaves the outcome unknown and is reported.
fn run(connection: &mut Connection, mode: Mode, job: &mut Job) -> Result<(), StoreError> {
    for attempts in 1..=ATTEMPTS {
        connection.reopen_if_lost()?;
        if job.is_given_up() {
            return Err(StoreError::Unreachable);
        }
        match attempt(connection, mode, job) {
            Attempt::Committed(wakes) => {
                connection.node.wake(wakes);
                return Ok(());
            }
            Attempt::Undone => return Ok(()),
            // A unique violation in every attempt is the caller's own duplicate, and is returned.
            Attempt::Raced(WriteConflict::Taken) if attempts >= TAKEN_ATTEMPTS => return Ok(()),
            Attempt::Raced(_) => {}
            Attempt::Failed if connection.is_lost() => {}
            Attempt::Failed => return Ok(()),
            Attempt::NotBegun(_) if connection.is_lost() => {}
            Attempt::NotBegun(error) => return Err(error.into()),
            Attempt::NotCommitted(error) => {
                connection.is_lost();
                return Err(error.into());
            }
        }
        connection.session.release();
        thread::sleep(BACKOFF * attempts.min(BACKOFF_STEPS));
    }
    Err(StoreError::Conflicts(ATTEMPTS))
}

enum Attempt {
    Committed(Vec<&'static str>),
    /// The closure would not have it.
    Undone,
    /// A statement lost a race.
    Raced(WriteConflict),
    /// A statement failed for another reason.
    Failed,
    NotBegun(tokio_postgres::Error),
    NotCommitted(tokio_postgres::Error),
}

fn attempt(connection: &mut Connection, mode: Mode, job: &mut Job) -> Attempt {
    let session = &mut connection.session;
    match mode {
        Mode::Read => session.begin_read(),
        Mode::Write => {
            if let Err(error) = session.begin_write(job.durability) {
                return Attempt::NotBegun(error);
            }
        }
    }
    let mut tx = Tx::postgres(session);
    if !job.run(&mut tx) {
        return match tx.race() {
            Some(race) => Attempt::Raced(race),
            None if tx.has_failed() => Attempt::Failed,
            None => Attempt::Undone,
        };
    }
    match mode {
        // It wrote nothing, and the session ends it when it is used again.
        Mode::Read => Attempt::Committed(Vec::new()),
        Mode::Write => match tx.commit() {
            Ok(wakes) => Attempt::Committed(wakes),
            Err(error) if race(&error).is_some() => Attempt::Raced(WriteConflict::Conflict),
            Err(error) => Attempt::NotCommitted(error),
        },
    }
}

/// Sends NOTIFY on a connection of its own: inside the transactions it would serialize their
/// commits.
fn notifier(config: Config, pid: Arc<AtomicI32>, breaker: Arc<Breaker>) -> Notify {
    let (notify, queue) = mpsc::sync_channel::<Cow<'static, str>>(NOTIFICATIONS);
    spawn("db-notify".into(), move || {
        let mut session: Option<Session> = None;
        while let Ok(first) = queue.recv() {
            let mut names = vec![first];
            names.extend(queue.try_iter());
            names.sort_unstable();
            names.dedup();
            if breaker.is_down() {
                continue;
            }
            // The first attempt may discover that the connection was lost.
            let sent =
                (0..2).any(|_| send_notifications(&config, &mut session, &pid, &names).is_ok());
            if !sent && !breaker.is_down() {
                tracing::warn!("NOTIFY to other nodes failed");
            }
        }
    });
    notify
}

fn send_notifications(
    config: &Config,
    kept: &mut Option<Session>,
    pid: &AtomicI32,
    names: &[Cow<'static, str>],
) -> Result<(), StoreError> {
    let mut session = match kept.take() {
        Some(session) => session,
        None => {
            let mut session = Session::open(config)?;
            let (own,): (i64,) = session.one("SELECT pg_backend_pid()", &[])?;
            pid.store(own as i32, Ordering::Release);
            session
        }
    };
    for name in names {
        session.execute("SELECT pg_notify(?1, ?2)", &[&CHANNEL, name])?;
    }
    *kept = Some(session);
    Ok(())
}

/// Receives the other nodes' notifications (LISTEN) for as long as the store is used. Its health
/// check also drives the circuit breaker: it detects an unreachable server while there are no
/// queries, or while all of them wait, and the server's return.
struct NotificationListener {
    config: Config,
    wakes: broadcast::Sender<String>,
    /// The process id of this node's notifier: its own notifications were already delivered at the
    /// commit.
    own: Arc<AtomicI32>,
    breaker: Arc<Breaker>,
    silence: Duration,
}

impl NotificationListener {
    fn start(self) -> Result<(), StoreError> {
        let mut client = Some(self.listen()?);
        spawn("db-listen".into(), move || {
            while self.is_needed() {
                match client.take().map_or_else(|| self.listen(), Ok) {
                    Ok(client) => {
                        self.breaker.note_answer();
                        self.forward(client);
                    }
                    Err(error) => {
                        self.breaker.note_refusal(&error);
                        thread::sleep(RECONNECT);
                    }
                }
            }
        });
        Ok(())
    }

    fn is_needed(&self) -> bool {
        self.wakes.strong_count() > 1
    }

    fn listen(&self) -> Result<Client, StoreError> {
        let mut client = connect_listener(&self.config)?;
        client.batch_execute(&format!("LISTEN {CHANNEL}"))?;
        Ok(client)
    }

    /// Forwards notifications of other nodes to the wake-up channel, until the connection is lost.
    fn forward(&self, mut client: Client) {
        while self.is_needed() {
            let received = client.notifications().timeout_iter(HEALTH_CHECK_INTERVAL).next();
            match received {
                Ok(Some(notification))
                    if notification.process_id() == self.own.load(Ordering::Acquire) => {}
                Ok(Some(notification)) => drop(self.wakes.send(notification.payload().to_owned())),
                // No notification may also mean a dead connection, so it is checked.
                Ok(None) => {
                    let asked = Instant::now();
                    match client.is_valid(self.silence) {
                        Ok(()) => {}
                        Err(_) if asked.elapsed() >= self.silence => {
                            return self.breaker.note_stall();
                        }
                        Err(_) => return,
                    }
                }
                Err(_) => return,
            }
        }
    }
}
