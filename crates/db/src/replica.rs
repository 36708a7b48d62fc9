//! A read-only standby of a PostgreSQL database, which takes reads of much off it. A read is answered
//! there only after the standby has replayed all that was durably committed when the read began (relaxed
//! writes may be missing for a moment), and by the database itself wherever the standby cannot.

use std::fmt;
use std::future::pending;
use std::mem::discriminant;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use async_channel::{Receiver, Sender, bounded};
use tokio::sync::{oneshot, watch};
use tokio_postgres::Config;

use crate::connect::of_standby;
use crate::identity::POSTGRES_IDENTITY;
use crate::job::{Closure, ClosureResult, Durability, Job};
use crate::session::Session;
use crate::threads::spawn;
use crate::{DatabaseUrl, PLANS_KEPT, SILENCE, Store, StoreError, Tx};

/// Reads that may wait for a connection; further ones go to the database itself.
const READS_QUEUED: usize = 64;
/// The standby's connections; only a few pages and operations read from it.
const CONNECTIONS: usize = 4;
/// How long a read waits until the standby has what the database had when it began.
const CATCH_UP: Duration = Duration::from_millis(500);
const CATCH_UP_STEP: Duration = Duration::from_millis(5);
/// How long a standby that was behind is left alone, so that few reads wait for one that stays behind.
const REST: Duration = Duration::from_secs(30);
/// How often it is looked whether the standby can be used.
const LOOKED_EVERY: Duration = Duration::from_secs(1);
/// A read that the standby has not answered by then is the database's.
const READ_LIMIT: Duration = Duration::from_secs(10);
/// Ends what nobody waits for any more.
const STATEMENT_LIMIT: &str = "SET statement_timeout TO '10s'";

/// The timeline and the end of what is written to the log; null on a server that is a standby itself.
const POSITION: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' '
        || CAST(pg_current_wal_lsn() AS TEXT) END";
/// Where no position is known that the standby has to reach.
const ORIGIN: &str = "00000000 0/0";
/// Positions of different timelines cannot be compared: a standby of one that was abandoned, by a failover
/// or a recovery to a point in time, may be ahead and yet miss what was committed. A standby that has
/// changed to a new timeline knows of it from its next restart point on.
const STATE: &str = "SELECT pg_is_in_recovery(),
    coalesce(
        pg_last_wal_replay_lsn() >= CAST(split_part(CAST(?1 AS TEXT), ' ', 2) AS pg_lsn)
        AND (
            own.timeline = split_part(CAST(?1 AS TEXT), ' ', 1)
            OR (
                split_part(CAST(?1 AS TEXT), ' ', 3) = 'later'
                AND own.timeline > split_part(CAST(?1 AS TEXT), ' ', 1)
            )
        ),
        false
    )
    FROM (
        SELECT upper(lpad(to_hex(greatest(c.timeline_id, r.min_recovery_end_timeline)), 8, '0'))
            COLLATE \"C\" AS timeline
        FROM pg_control_checkpoint() c, pg_control_recovery() r
    ) own";
/// Added to a position, lets a later timeline count too.
const OR_LATER: &str = " later";
const SCHEMA_VERSION: &str = "SELECT coalesce(max(version), 0) FROM schema_versions";

/// Where the standby is, and how it is asked.
#[derive(Clone)]
pub struct ReplicaOptions {
    pub url: String,
    /// How long a read waits for the standby to catch up.
    pub catch_up: Duration,
    /// How long a standby that was behind is left alone.
    pub rest: Duration,
    /// A standby without a response for this long counts as down.
    pub silence: Duration,
    /// The query that names a database; a standby answers as its primary does.
    pub identity: &'static str,
    /// The query that says whether a server is a standby, and whether it has replayed up to `?1`.
    pub state: &'static str,
}

/// The URL may hold a password.
impl fmt::Debug for ReplicaOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaOptions").field("catch_up", &self.catch_up).finish_non_exhaustive()
    }
}

impl ReplicaOptions {
    pub fn at(url: &str) -> ReplicaOptions {
        ReplicaOptions {
            url: url.to_owned(),
            catch_up: CATCH_UP,
            rest: REST,
            silence: SILENCE,
            identity: POSTGRES_IDENTITY,
            state: STATE,
        }
    }
}

/// How the standby fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// Why it is not used, if it is not: a sentence without addresses.
    pub problem: Option<String>,
    /// Reads that it answered.
    pub answered: u64,
    /// Reads that the database answered in its place.
    pub passed_over: u64,
}

impl Store {
    /// The same store, which reads from a standby where [`Store::read_from_replica`] is called. A
    /// standby that is away does not matter, also now.
    pub async fn with_replica(mut self, options: ReplicaOptions) -> Result<Store, StoreError> {
        let DatabaseUrl::Postgres(url) = DatabaseUrl::parse(&options.url)? else {
            return Err(StoreError::Url("the URL of a replica starts with postgres://".into()));
        };
        if !self.is_shared() {
            return Err(StoreError::Url("only a database on PostgreSQL has a replica".into()));
        }
        let config = of_standby(url.parse()?);
        let names = options.identity;
        let read = self.read(move |tx| {
            let (identity,): (String,) = tx.one(names, &[])?;
            let (schema,): (i64,) = tx.one(SCHEMA_VERSION, &[])?;
            let _: (Option<String>,) = tx.one(POSITION, &[])?;
            Ok::<_, StoreError>((identity, schema))
        });
        let (identity, schema) = read.await?;
        let state = Arc::new(ReplicaState::new());
        let standby = Standby { config, options, identity, schema, state };
        self.replica = Some(Arc::new(Replica::start(standby)));
        Ok(self)
    }

    /// `None` without a standby.
    pub fn replica_status(&self) -> Option<ReplicaStatus> {
        self.replica.as_ref().map(|replica| replica.state.status())
    }

    /// Decides on the database who may read, and reads from the standby. It has replayed by then all that
    /// was durably committed when `admit` ran; relaxed writes may be missing for a moment. So nobody
    /// misses what they have changed or sees what they may not see any more. Without a standby, or one
    /// that cannot answer or gives an error, both run in one transaction on the database, whose answer
    /// counts. Neither may have effects.
    pub async fn read_from_replica<A, T, E, G, F>(&self, mut admit: G, mut read: F) -> Result<T, E>
    where
        G: FnMut(&mut Tx<'_>) -> Result<A, E> + Clone + Send + 'static,
        F: FnMut(&mut Tx<'_>, A) -> Result<T, E> + Clone + Send + 'static,
        A: Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        if let Some(replica) = &self.replica {
            let answer = self.ask_replica(replica, admit.clone(), read.clone()).await?;
            replica.state.count(answer.is_some());
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
        self.read(move |tx| {
            let admitted = admit(tx)?;
            read(tx, admitted)
        })
        .await
    }

    /// The standby's answer. An error is the database's own.
    async fn ask_replica<A, T, E, G, F>(
        &self,
        replica: &Replica,
        mut admit: G,
        mut read: F,
    ) -> Result<Option<T>, E>
    where
        G: FnMut(&mut Tx<'_>) -> Result<A, E> + Send + 'static,
        F: FnMut(&mut Tx<'_>, A) -> Result<T, E> + Send + 'static,
        A: Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        if replica.state.is_away() {
            return Ok(None);
        }
        let admission = self.read(move |tx| {
            let admitted = admit(tx)?;
            // After the snapshot was taken, so that it is not before anything that `admit` saw.
            let (position,): (Option<String>,) = tx.one(POSITION, &[])?;
            Ok::<_, E>((admitted, position))
        });
        let (admitted, position) = admission.await?;
        let Some(position) = position else { return Ok(None) };
        let mut admitted = Some(admitted);
        let once = move |tx: &mut Tx<'_>| match admitted.take() {
            Some(admitted) => read(tx, admitted),
            None => Err(StoreError::Closed.into()),
        };
        Ok(replica.read(position, once).await)
    }
}

/// The threads that read from the standby. They end with the last clone of the store.
pub(crate) struct Replica {
    reads: Sender<ReplicaRead>,
    state: Arc<ReplicaState>,
}

/// A closure for the standby, with the position that it needs.
struct ReplicaRead {
    job: Job,
    position: String,
}

impl Replica {
    fn start(standby: Standby) -> Replica {
        let (reads, queue) = bounded(READS_QUEUED);
        let (standby, state) = (Arc::new(standby.clone()), standby.state);
        for number in 0..CONNECTIONS {
            let (standby, queue) = (standby.clone(), queue.clone());
            spawn(format!("db-replica-{number}"), move || standby.serve(&queue));
        }
        spawn("db-replica".into(), move || standby.watch(&queue));
        Replica { reads, state }
    }

    /// What the closure returned, unless it failed or could not run in time.
    async fn read<T, E, F>(&self, position: String, mut work: F) -> Option<T>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        let closure: Closure = Box::new(move |tx| ClosureResult::new(work(tx)));
        self.answer(position, closure).await?.downcast::<T, E>().ok()
    }

    async fn answer(&self, position: String, closure: Closure) -> Option<ClosureResult> {
        let (reply, answer) = oneshot::channel();
        let job = Job::new(closure, Durability::Synced, reply);
        let given_up = job.given_up();
        self.reads.try_send(ReplicaRead { job, position }).ok()?;
        let answer = tokio::select! {
            biased;
            answer = answer => answer.ok()?.ok(),
            () = self.state.away() => None,
            () = tokio::time::sleep(READ_LIMIT) => {
                self.state.note_problem(Some(StoreError::Unreachable.into()));
                None
            }
        };
        given_up.store(true, Ordering::Release);
        answer
    }
}

/// Why the standby is not read from.
#[derive(Clone, Debug, thiserror::Error)]
enum ReplicaProblem {
    #[error("it was not asked yet")]
    NotAsked,
    #[error("it cannot be reached")]
    Unreachable { cause: String },
    #[error("it is no copy of this database")]
    OtherDatabase,
    #[error("its schema is another one ({found}, not {known})")]
    OtherSchema { found: i64, known: i64 },
    #[error("it is no standby")]
    NoStandby,
    #[error("it is too far behind")]
    Behind { position: String, since: Instant },
}

impl From<StoreError> for ReplicaProblem {
    fn from(error: StoreError) -> ReplicaProblem {
        ReplicaProblem::Unreachable { cause: error.to_string() }
    }
}

impl From<tokio_postgres::Error> for ReplicaProblem {
    fn from(error: tokio_postgres::Error) -> ReplicaProblem {
        StoreError::from(error).into()
    }
}

/// Whether the standby can be used, as the threads found it.
struct ReplicaState {
    problem: watch::Sender<Option<ReplicaProblem>>,
    answered: AtomicU64,
    passed_over: AtomicU64,
}

impl ReplicaState {
    fn new() -> ReplicaState {
        let problem = watch::Sender::new(Some(ReplicaProblem::NotAsked));
        ReplicaState { problem, answered: AtomicU64::new(0), passed_over: AtomicU64::new(0) }
    }

    /// Logs what is new.
    fn note_problem(&self, problem: Option<ReplicaProblem>) {
        let before = self.problem.send_replace(problem.clone());
        if before.as_ref().map(discriminant) == problem.as_ref().map(discriminant) {
            return;
        }
        match problem {
            None => tracing::info!("the replica is used"),
            Some(ReplicaProblem::Unreachable { cause }) => {
                tracing::warn!(%cause, "the replica is not used: it cannot be reached");
            }
            Some(problem) => tracing::warn!("the replica is not used: {problem}"),
        }
    }

    fn is_away(&self) -> bool {
        self.problem.borrow().is_some()
    }

    /// Ready when the standby cannot be used.
    async fn away(&self) {
        let mut problem = self.problem.subscribe();
        if problem.wait_for(Option::is_some).await.is_err() {
            pending().await
        }
    }

    /// The position that was not reached, and since when that is known.
    fn behind(&self) -> Option<(String, Instant)> {
        match &*self.problem.borrow() {
            Some(ReplicaProblem::Behind { position, since }) => Some((position.clone(), *since)),
            _ => None,
        }
    }

    fn count(&self, has_answered: bool) {
        let counter = if has_answered { &self.answered } else { &self.passed_over };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn status(&self) -> ReplicaStatus {
        ReplicaStatus {
            problem: self.problem.borrow().as_ref().map(ToString::to_string),
            answered: self.answered.load(Ordering::Relaxed),
            passed_over: self.passed_over.load(Ordering::Relaxed),
        }
    }
}

/// How the threads reach the standby, and what they expect there.
#[derive(Clone)]
struct Standby {
    config: Config,
    options: ReplicaOptions,
    identity: String,
    schema: i64,
    state: Arc<ReplicaState>,
}

impl Standby {
    /// Looks again and again whether the standby can be used, for as long as the store is.
    fn watch(&self, reads: &Receiver<ReplicaRead>) {
        let mut kept = None;
        while !reads.is_closed() {
            let behind = self.state.behind();
            let problem = self.look(&mut kept, behind.clone());
            // A read may have found meanwhile that the standby is behind.
            if problem.is_some() || self.state.behind() == behind {
                self.state.note_problem(problem);
            }
            thread::sleep(LOOKED_EVERY);
        }
    }

    /// `behind` is what was known before.
    fn look(
        &self,
        kept: &mut Option<ReplicaSession>,
        behind: Option<(String, Instant)>,
    ) -> Option<ReplicaProblem> {
        // The primary may have another timeline by now; the next read asks for exactly that.
        let position = match &behind {
            Some((position, _)) => format!("{position}{OR_LATER}"),
            None => ORIGIN.to_owned(),
        };
        let (session, has_replayed) = match self.examine(kept.take(), &position) {
            Ok(examined) => examined,
            Err(problem) => return Some(problem),
        };
        *kept = Some(session);
        let (position, since) = behind?;
        let stays_behind = !has_replayed || since.elapsed() < self.options.rest;
        stays_behind.then_some(ReplicaProblem::Behind { position, since })
    }

    fn examine(
        &self,
        kept: Option<ReplicaSession>,
        position: &str,
    ) -> Result<(ReplicaSession, bool), ReplicaProblem> {
        let mut session = match kept {
            Some(session) if session.connection.is_alive(self.options.silence) => session,
            Some(_) => return Err(StoreError::Unreachable.into()),
            None => self.open()?,
        };
        let (found,): (i64,) = session.connection.one(SCHEMA_VERSION, &[])?;
        if found != self.schema {
            return Err(ReplicaProblem::OtherSchema { found, known: self.schema });
        }
        let has_replayed = session.has_replayed(position, self.options.state)?;
        Ok((session, has_replayed))
    }

    fn open(&self) -> Result<ReplicaSession, ReplicaProblem> {
        let mut connection = Session::open(&self.config)?;
        connection.batch(STATEMENT_LIMIT)?;
        let mut session = ReplicaSession { connection, planned_since: Instant::now() };
        let (identity,): (String,) = session.connection.one(self.options.identity, &[])?;
        if identity != self.identity {
            return Err(ReplicaProblem::OtherDatabase);
        }
        Ok(session)
    }

    fn serve(&self, reads: &Receiver<ReplicaRead>) {
        let mut kept = None;
        while let Ok(mut read) = reads.recv_blocking() {
            if read.job.is_given_up() {
                continue;
            }
            let fate = self.run(&mut kept, &mut read).map_err(|problem| {
                self.state.note_problem(Some(problem));
                StoreError::Unreachable
            });
            read.job.answer(fate);
        }
    }

    /// Runs a read once. Its own error, and that of a statement, are the caller's to judge.
    fn run(
        &self,
        kept: &mut Option<ReplicaSession>,
        read: &mut ReplicaRead,
    ) -> Result<(), ReplicaProblem> {
        let mut session = self.caught_up(kept.take(), &read.position)?;
        // A connection may be lost with a statement that failed, so it is not kept then.
        if session.run(&mut read.job) {
            *kept = Some(session);
        }
        Ok(())
    }

    /// A session that sees what was committed up to the position. One that was lost since its last
    /// read is opened again.
    fn caught_up(
        &self,
        kept: Option<ReplicaSession>,
        position: &str,
    ) -> Result<ReplicaSession, ReplicaProblem> {
        match kept.map(|session| self.catch_up(session, position)) {
            None | Some(Err(ReplicaProblem::Unreachable { .. })) => {
                self.catch_up(self.open()?, position)
            }
            Some(result) => result,
        }
    }

    fn catch_up(
        &self,
        mut session: ReplicaSession,
        position: &str,
    ) -> Result<ReplicaSession, ReplicaProblem> {
        let begun = Instant::now();
        while !session.has_replayed(position, self.options.state)? {
            if begun.elapsed() >= self.options.catch_up {
                let (position, since) = (position.to_owned(), Instant::now());
                return Err(ReplicaProblem::Behind { position, since });
            }
            thread::sleep(CATCH_UP_STEP);
        }
        Ok(session)
    }
}

/// A connection to the standby.
struct ReplicaSession {
    connection: Session,
    planned_since: Instant,
}

impl ReplicaSession {
    /// Runs a closure in a transaction of its own; false when one of its statements failed.
    fn run(&mut self, job: &mut Job) -> bool {
        self.forget_old_plans();
        self.connection.begin_read();
        let mut tx = Tx::postgres(&mut self.connection);
        job.run(&mut tx);
        let has_failed = tx.has_failed();
        self.connection.release();
        !has_failed
    }

    /// True when it has replayed up to the position; an error when it is no standby.
    fn has_replayed(&mut self, position: &str, state: &str) -> Result<bool, ReplicaProblem> {
        let (is_standby, has_replayed): (bool, bool) = self.connection.one(state, &[&position])?;
        match is_standby {
            true => Ok(has_replayed),
            false => Err(ReplicaProblem::NoStandby),
        }
    }

    /// Has everything planned anew once in a while, as on the database itself.
    fn forget_old_plans(&mut self) {
        if self.planned_since.elapsed() >= PLANS_KEPT {
            self.planned_since = Instant::now();
            self.connection.forget_plans();
        }
    }
}
