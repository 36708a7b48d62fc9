//! One small transaction type over SQLite and PostgreSQL.
//!
//! Callers hand the store a closure over a [`Tx`]; the store runs it on a database thread and
//! returns when its outcome is durable. SQL is written once, in the subset both databases share;
//! [`Tx::pick`] is the only way to spell a statement twice.
//!
//! Deliberately absent: async inside a transaction, an ORM, a query builder.

mod breaker;
mod caches;
mod compact;
mod connect;
mod error;
mod identity;
mod job;
mod json;
mod list_expansion;
mod migrate;
mod postgres;
mod repeated_reads;
mod replica;
mod row;
mod schema_version;
mod sent_writes;
mod session;
mod sqlite;
mod tables;
mod threads;
mod tx;
mod value;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_channel::Sender;
use tokio::sync::{broadcast, oneshot};
use tokio_postgres::config::Host;

pub use error::StoreError;
pub use json::Json;
pub use migrate::Migration;
pub use replica::{ReplicaOptions, ReplicaStatus};
pub use session::statements_sent;
pub use tables::{Cell, TableColumn, TableShape};
pub use tx::{QueueName, Tx};
pub use value::{Arg, Column, FromColumn, FromRow, Row, Value};

use breaker::Breaker;
use job::{Closure, ClosureResult, Durability, Job, JobAnswer};
use replica::Replica;

/// Where PostgreSQL listens unless its URL says otherwise.
const POSTGRES_PORT: u16 = 5432;
/// The capacity of a thread queue; callers wait when it is full.
const QUEUE_CLOSURES: usize = 1024;
/// The capacity of the wake-up channel; a slower receiver gets a lag error.
const WAKES_KEPT: usize = 1024;

/// SQLite: one reader for each core, within these bounds; more only share the cache out thinner.
const READERS_LEAST: usize = 2;
const READERS_MOST: usize = 8;

/// How long PostgreSQL may be silent.
const SILENCE: Duration = Duration::from_millis(1_200);
/// How long PostgreSQL keeps a plan.
const PLANS_KEPT: Duration = Duration::from_secs(10);

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// SQLite: the most closures that share one commit. 1 gives each its own.
    pub commit_batch: usize,
    /// SQLite: read-only connections, each on its own thread.
    pub readers: usize,
    /// PostgreSQL: connections, each on its own thread.
    pub connections: usize,
    /// PostgreSQL: a server without a response for this long counts as down.
    pub silence: Duration,
    /// PostgreSQL: how long a plan is cached. A plan for a nearly empty table does not fit when the
    /// table has grown.
    pub plans_kept: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(READERS_LEAST, usize::from);
        let readers = cores.clamp(READERS_LEAST, READERS_MOST);
        StoreOptions {
            commit_batch: 128,
            readers,
            connections: 8,
            silence: SILENCE,
            plans_kept: PLANS_KEPT,
        }
    }
}

/// Which database a URL names.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    Postgres(String),
}

/// The URL of a server may hold a password.
impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseUrl::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            DatabaseUrl::Postgres(_) => f.write_str("postgres://…"),
        }
    }
}

impl DatabaseUrl {
    pub fn parse(url: &str) -> Result<DatabaseUrl, StoreError> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            return match path {
                "" => {
                    Err(StoreError::Url("sqlite: needs a path, such as sqlite:mailroom.db".into()))
                }
                path => Ok(DatabaseUrl::Sqlite(path.into())),
            };
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            // A host without its password's percent signs, a port that is none: said before anything is opened.
            let config = url.parse::<tokio_postgres::Config>()?;
            let has_at = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
            if config.get_hosts().iter().any(has_at) {
                let sentence = "an @ in the user or the password is written as %40";
                return Err(StoreError::Url(sentence.into()));
            }
            return Ok(DatabaseUrl::Postgres(url.into()));
        }
        Err(StoreError::Url("a database URL starts with sqlite: or postgres://".into()))
    }
}

/// Where the database is, without user and password.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self {
            DatabaseUrl::Sqlite(path) => return write!(f, "the file {}", path.display()),
            DatabaseUrl::Postgres(url) => url,
        };
        let Ok(config) = url.parse::<tokio_postgres::Config>() else { return Ok(()) };
        let ports = config.get_ports();
        let host = |(place, host): (usize, &Host)| {
            let port = ports.get(place).or(ports.first()).copied().unwrap_or(POSTGRES_PORT);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(folder) => format!("the socket in {}, port {port}", folder.display()),
            }
        };
        let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
        write!(f, "PostgreSQL at {}", hosts.join(" or "))?;
        match config.get_dbname() {
            Some(name) => write!(f, ", database {name}"),
            None => Ok(()),
        }
    }
}

/// A database and the threads that work on it. Cheap to clone; the threads end with the last clone.
#[derive(Clone)]
pub struct Store {
    reads: Sender<Job>,
    writes: Sender<Job>,
    wakes: broadcast::Sender<String>,
    /// Sends notifications to other nodes; `None` on SQLite.
    notify: Option<postgres::Notify>,
    /// The circuit breaker; `None` on SQLite.
    breaker: Option<Arc<Breaker>>,
    /// The standby that some reads go to, where there is one.
    replica: Option<Arc<Replica>>,
}

impl Store {
    /// Opens the database, brings its schema up to date and starts the threads.
    pub fn open(
        url: &str,
        options: &StoreOptions,
        migrations: &[Migration],
    ) -> Result<Store, StoreError> {
        let (wakes, _) = broadcast::channel(WAKES_KEPT);
        match DatabaseUrl::parse(url)? {
            DatabaseUrl::Sqlite(path) => {
                let (reads, writes) = sqlite::start(&path, options, migrations, &wakes)?;
                Ok(Store { reads, writes, wakes, notify: None, breaker: None, replica: None })
            }
            DatabaseUrl::Postgres(url) => {
                let breaker = Arc::new(Breaker::new());
                let (reads, writes, notify) =
                    postgres::start(&url, options, migrations, &wakes, &breaker)?;
                let (notify, breaker) = (Some(notify), Some(breaker));
                Ok(Store { reads, writes, wakes, notify, breaker, replica: None })
            }
        }
    }

    /// Runs a closure on one consistent snapshot. It may be run again, so it must have no effects.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(&self.reads, Durability::Synced, work).await
    }

    /// Runs a closure in one transaction; `Ok` means that its writes are durable. An `Err` or a
    /// panic rolls back this closure alone. It may run again, so it must have no effects beside its
    /// writes.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(&self.writes, Durability::Synced, work).await
    }

    /// Like [`Store::write`], without waiting for fsync: a killed process loses nothing, a power
    /// cut may lose the last commits. For writes that are repeated in that case.
    pub async fn write_relaxed<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(&self.writes, Durability::Relaxed, work).await
    }

    /// True when other nodes may work on the same database.
    pub fn is_shared(&self) -> bool {
        self.notify.is_some()
    }

    /// Sends a payload that is in no table to the other nodes, which receive it through
    /// [`Store::wakes`]. Delivery is best effort: without a connection it is dropped.
    pub fn notify_others(&self, words: String) {
        if let Some(notify) = &self.notify {
            let _ = notify.try_send(Cow::Owned(words));
        }
    }

    /// The queues named by [`Tx::wake`], each sent after its commit.
    pub fn wakes(&self) -> broadcast::Receiver<String> {
        self.wakes.subscribe()
    }

    /// False while the database's server counts as down.
    pub fn is_reachable(&self) -> bool {
        !self.breaker.as_ref().is_some_and(|breaker| breaker.is_down())
    }

    async fn run<T, E, F>(
        &self,
        queue: &Sender<Job>,
        durability: Durability,
        mut work: F,
    ) -> Result<T, E>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let closure: Closure = Box::new(move |tx| ClosureResult::new(work(tx)));
        self.answer(queue, durability, closure).await?.downcast()
    }

    /// Waits for the result, or until the server counts as down. A running write may have been
    /// committed then, as after a lost connection.
    async fn answer(
        &self,
        queue: &Sender<Job>,
        durability: Durability,
        closure: Closure,
    ) -> JobAnswer {
        let (reply, answer) = oneshot::channel();
        let job = Job::new(closure, durability, reply);
        let given_up = job.given_up();
        let answered = async {
            queue.send(job).await.map_err(|_| StoreError::Closed)?;
            answer.await.unwrap_or(Err(StoreError::Closed))
        };
        let Some(breaker) = &self.breaker else { return answered.await };
        tokio::select! {
            biased;
            () = breaker.wait_until_open() => {
                given_up.store(true, Ordering::Release);
                Err(StoreError::Unreachable)
            }
            answer = answered => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_place_or_says_what_is_wrong() {
        assert_eq!(
            DatabaseUrl::parse("sqlite:a/b.db").unwrap(),
            DatabaseUrl::Sqlite("a/b.db".into())
        );
        let url = "postgres://u@h/d";
        assert_eq!(DatabaseUrl::parse(url).unwrap(), DatabaseUrl::Postgres(url.into()));
        assert!(DatabaseUrl::parse("sqlite:").is_err());
        assert!(DatabaseUrl::parse("mysql://x").is_err());
    }
}
