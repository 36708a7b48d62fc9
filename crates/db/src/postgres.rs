//! PostgreSQL: a few connections, each on a thread of its own, sharing one queue.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use async_channel::{Receiver, Sender, bounded};
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config, IsolationLevel, NoTls};
use tokio::sync::broadcast;

use crate::job::Job;
use crate::migrate::migrate;
use crate::tx::{Statements, is_conflict};
use crate::{Error, Migration, Options, QUEUE_CLOSURES, Tx};

/// How often a closure is run before its conflicts with others are given up on.
const TRIES: u32 = 25;
/// The wait after the first lost race; it grows with each further one.
const BACKOFF: Duration = Duration::from_micros(500);
/// The wait before a lost connection is opened again.
const RECONNECT: Duration = Duration::from_secs(1);
/// The channel through which nodes wake one another.
const CHANNEL: &str = "mailroom";
/// The key of the advisory lock that lets one process migrate at a time.
const MIGRATION_LOCK: i64 = 0x6d61_696c_726f_6f6d;

type Queue = Sender<Box<dyn Job>>;

pub(crate) fn start(
    url: &str,
    options: &Options,
    migrations: &[Migration],
    wakes: &broadcast::Sender<String>,
) -> Result<(Queue, Queue), Error> {
    let config: Config = url.parse()?;
    prepare_schema(&config, migrations)?;
    let node = Node { config, wakes: wakes.clone(), notify: notifier(url.parse()?) };
    listener(node.config.clone(), wakes.clone());

    let (reads, read_queue) = bounded(QUEUE_CLOSURES);
    let (writes, write_queue) = bounded(QUEUE_CLOSURES);
    let half = options.connections.max(2) / 2;
    for number in 0..options.connections.max(2) {
        let (mode, queue) = match number < half {
            true => (Mode::Write, write_queue.clone()),
            false => (Mode::Read, read_queue.clone()),
        };
        let connection = Connection::open(node.clone())?;
        spawn(format!("db-{number}"), move || serve(connection, mode, &queue));
    }
    Ok((reads, writes))
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
    notify: mpsc::Sender<&'static str>,
}

impl Node {
    fn wake(&self, queues: Vec<&'static str>) {
        for queue in queues {
            // A wake-up is a hint; what is due is found by the clock as well.
            let _ = self.wakes.send(queue.to_owned());
            let _ = self.notify.send(queue);
        }
    }
}

fn prepare_schema(config: &Config, migrations: &[Migration]) -> Result<(), Error> {
    let mut client = config.connect(NoTls)?;
    let mut tx = client.transaction()?;
    tx.execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK])?;
    let mut statements = Statements::default();
    let mut tx = Tx::postgres(tx, &mut statements);
    migrate(&mut tx, migrations)?;
    tx.commit()?;
    Ok(())
}

/// A connection that is opened again when it is lost.
struct Connection {
    node: Node,
    client: Client,
    statements: Statements,
}

impl Connection {
    fn open(node: Node) -> Result<Self, Error> {
        let client = node.config.connect(NoTls)?;
        Ok(Connection { node, client, statements: Statements::default() })
    }

    fn reopen_if_lost(&mut self) -> Result<(), Error> {
        if self.client.is_closed() {
            self.client = self.node.config.connect(NoTls)?;
            self.statements = Statements::default();
        }
        Ok(())
    }
}

fn serve(mut connection: Connection, mode: Mode, queue: &Receiver<Box<dyn Job>>) {
    while let Ok(mut job) = queue.recv_blocking() {
        let fate = run(&mut connection, mode, job.as_mut());
        job.answer(fate);
    }
}

/// Runs a job until it wins its races. Conflicts and a connection lost before the commit run it
/// again; a connection lost during the commit leaves the outcome unknown and is reported.
fn run(connection: &mut Connection, mode: Mode, job: &mut dyn Job) -> Result<(), Error> {
    for tries in 1..=TRIES {
        if let Err(error) = connection.reopen_if_lost() {
            tracing::warn!(%error, "the database cannot be reached");
            thread::sleep(RECONNECT);
            if tries == TRIES {
                return Err(error);
            }
            continue;
        }
        match attempt(connection, mode, job)? {
            Attempt::Committed(wakes) => {
                connection.node.wake(wakes);
                return Ok(());
            }
            Attempt::Undone if !connection.client.is_closed() => return Ok(()),
            Attempt::Undone | Attempt::Conflict => thread::sleep(BACKOFF * tries),
        }
    }
    Err(Error::Conflicts(TRIES))
}

enum Attempt {
    Committed(Vec<&'static str>),
    Undone,
    Conflict,
}

fn attempt(connection: &mut Connection, mode: Mode, job: &mut dyn Job) -> Result<Attempt, Error> {
    let begin = connection
        .client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(matches!(mode, Mode::Read))
        .start();
    let tx = match begin {
        Ok(tx) => tx,
        Err(error) if error.is_closed() => return Ok(Attempt::Conflict),
        Err(error) => return Err(error.into()),
    };
    let mut tx = Tx::postgres(tx, &mut connection.statements);
    if !job.run(&mut tx) {
        return Ok(if tx.conflict() { Attempt::Conflict } else { Attempt::Undone });
    }
    match tx.commit() {
        Ok(wakes) => Ok(Attempt::Committed(wakes)),
        Err(error) if is_conflict(&error) => Ok(Attempt::Conflict),
        Err(error) => Err(error.into()),
    }
}

/// Tells the other nodes, from a connection of its own: a NOTIFY inside the transactions
/// themselves would make them commit one after another.
fn notifier(config: Config) -> mpsc::Sender<&'static str> {
    let (notify, queue) = mpsc::channel::<&'static str>();
    spawn("db-notify".into(), move || {
        let mut client: Option<Client> = None;
        while let Ok(first) = queue.recv() {
            let mut names = vec![first];
            names.extend(queue.try_iter());
            names.sort_unstable();
            names.dedup();
            if client.as_ref().is_none_or(Client::is_closed) {
                client = config.connect(NoTls).ok();
            }
            if let Some(client) = &mut client {
                for name in names {
                    let _ = client.execute("SELECT pg_notify($1, $2)", &[&CHANNEL, &name]);
                }
            }
        }
    });
    notify
}

/// Hears the other nodes. It ends when nobody holds the store any more.
fn listener(config: Config, wakes: broadcast::Sender<String>) {
    spawn("db-listen".into(), move || {
        while wakes.strong_count() > 1 {
            let heard = config.connect(NoTls).and_then(|mut client| {
                client.batch_execute(&format!("LISTEN {CHANNEL}"))?;
                hear(&mut client, &wakes)
            });
            if heard.is_err() {
                thread::sleep(RECONNECT);
            }
        }
    });
}

fn hear(client: &mut Client, wakes: &broadcast::Sender<String>) -> Result<(), postgres::Error> {
    while wakes.strong_count() > 1 {
        let mut notifications = client.notifications();
        let mut waiting = notifications.timeout_iter(RECONNECT);
        while let Some(notification) = waiting.next()? {
            let _ = wakes.send(notification.payload().to_owned());
        }
    }
    Ok(())
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name).spawn(body).expect("the system can start a thread");
}
