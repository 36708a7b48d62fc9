//! SQLite: one writer thread that commits in groups, a few read-only threads beside it.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use async_channel::{Receiver, Sender, bounded};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use tokio::sync::broadcast;

use crate::job::{Durability, Job};
use crate::migrate::{is_current, migrate};
use crate::threads::spawn;
use crate::tx::{DeferredStatements, TxEffects, run_deferred};
use crate::{Migration, QUEUE_CLOSURES, StoreError, StoreOptions, Tx};

/// How long a statement waits for another process (the command line, say) to finish writing.
const BUSY: Duration = Duration::from_secs(10);
/// The pause between two attempts. SQLite's own busy timeout soon looks only every tenth of a second,
/// and would hardly ever find the moment in which another process that writes a lot lets go.
const BUSY_STEP: Duration = Duration::from_millis(1);
/// Prepared statements kept per connection.
const STATEMENTS_KEPT: usize = 256;
/// Page cache of the writer, in KiB.
const WRITER_CACHE_KIB: i64 = 16 * 1024;
/// Page cache that the readers share out among them, in KiB.
const READERS_CACHE_KIB: i64 = 96 * 1024;
/// Pages of the write-ahead log after which they are moved to their places: four times SQLite's own
/// choice, because pages that change again and again are then moved once.
const WAL_PAGES: i64 = 4_000;
/// The write-ahead log is cut back to this size, in bytes, after a checkpoint.
const WAL_KEPT: i64 = 64 * 1024 * 1024;

/// The mode of a new database file: the server's user only.
const DATABASE_MODE: u32 = 0o600;

type Queue = Sender<Job>;

pub(crate) fn start(
    path: &Path,
    options: &StoreOptions,
    migrations: &[Migration],
    wakes: &broadcast::Sender<String>,
) -> Result<(Queue, Queue), StoreError> {
    make_private(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut writer = open(path, flags, WRITER_CACHE_KIB)?;
    use_write_ahead_log(&writer)?;
    writer.pragma_update(None, "synchronous", "full")?;
    writer.pragma_update(None, "journal_size_limit", WAL_KEPT)?;
    writer.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
    // A read-only command must not wait for the writer.
    if !is_current(&mut Tx::sqlite(&writer), migrations)? {
        let tx = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        migrate(&mut Tx::sqlite(&tx), migrations)?;
        tx.commit()?;
    }

    let (reads, read_queue) = bounded(QUEUE_CLOSURES);
    let readers = options.readers.max(1);
    for number in 0..readers {
        let cache = READERS_CACHE_KIB / readers as i64;
        let reader = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, cache)?;
        let queue = read_queue.clone();
        spawn(format!("db-read-{number}"), move || serve_reads(&reader, &queue));
    }

    let (writes, write_queue) = bounded(QUEUE_CLOSURES);
    let (batch, wakes) = (options.commit_batch.max(1), wakes.clone());
    spawn("db-write".into(), move || serve_writes(&writer, &write_queue, batch, &wakes));
    Ok((reads, writes))
}

/// Creates a new database file with a private mode, which SQLite copies to the files beside it.
/// Errors of the path are reported by the opening.
fn make_private(path: &Path) {
    let _ = File::options().write(true).create_new(true).mode(DATABASE_MODE).open(path);
}

fn open(path: &Path, flags: OpenFlags, cache_kib: i64) -> Result<Connection, StoreError> {
    let mut conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    let mut since = Instant::now();
    conn.busy_handler(Some(move |attempts: i32| {
        if attempts == 0 {
            since = Instant::now();
        }
        thread::sleep(BUSY_STEP);
        since.elapsed() < BUSY
    }))?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // Plans do not depend on arguments; without this SQLite plans anew whenever one changes.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A negative number is KiB, a positive one pages.
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.pragma_update(None, "foreign_keys", "on")?;
    Ok(conn)
}

/// The busy handler is not asked when several processes open a new file at once.
fn use_write_ahead_log(conn: &Connection) -> Result<(), StoreError> {
    let patience = Instant::now() + BUSY;
    loop {
        match conn.pragma_update(None, "journal_mode", "wal") {
            Err(error) if is_busy(&error) && Instant::now() < patience => thread::sleep(BUSY_STEP),
            result => return Ok(result?),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// A thread that goes on after a panic may have left one open.
fn end_open_transaction(conn: &Connection) {
    if !conn.is_autocommit() {
        let _ = statement(conn, "ROLLBACK");
    }
}

fn serve_reads(conn: &Connection, queue: &Receiver<Job>) {
    end_open_transaction(conn);
    while let Ok(mut job) = queue.recv_blocking() {
        let fate = statement(conn, "BEGIN").map(|()| {
            job.run(&mut Tx::sqlite(conn));
        });
        if !conn.is_autocommit() {
            let _ = statement(conn, "COMMIT");
        }
        job.answer(fate);
    }
}

fn serve_writes(
    conn: &Connection,
    queue: &Receiver<Job>,
    batch: usize,
    wakes: &broadcast::Sender<String>,
) {
    end_open_transaction(conn);
    let mut synced = None;
    let mut put_off = None;
    while let Some(first) = put_off.take().or_else(|| queue.recv_blocking().ok()) {
        // Jobs that arrive while a batch runs wait for the next one: otherwise all writers end up
        // in one batch, and the writer thread and its callers would run in turns instead of in
        // parallel.
        let waiting = 1 + queue.len();
        let keep = first.durability;
        let fate = sync_as(conn, keep, &mut synced);
        // A durable job is not added to a relaxed batch; a relaxed job in a durable batch costs
        // nothing.
        let queued = std::iter::from_fn(|| match queue.try_recv().ok()? {
            job if keep == Durability::Relaxed && job.durability == Durability::Synced => {
                put_off = Some(job);
                None
            }
            job => Some(job),
        });
        let jobs = std::iter::once(first).chain(queued.fuse()).take(waiting.min(batch));
        write_batch(conn, fate, jobs, wakes);
    }
}

/// Says whether commits wait for the disk. SQLite takes this only between two transactions.
fn sync_as(
    conn: &Connection,
    keep: Durability,
    synced: &mut Option<Durability>,
) -> Result<(), StoreError> {
    if *synced != Some(keep) {
        let level = match keep {
            Durability::Synced => "full",
            Durability::Relaxed => "normal",
        };
        conn.pragma_update(None, "synchronous", level)?;
        *synced = Some(keep);
    }
    Ok(())
}

/// The work after a batch's jobs have run.
#[derive(Default)]
struct BatchEffects {
    /// The queues to wake after the commit.
    woken: Vec<&'static str>,
    /// Statements that were put off.
    later: DeferredStatements,
}

impl BatchEffects {
    fn add(&mut self, of_job: TxEffects) {
        for queue in of_job.wakes {
            if !self.woken.contains(&queue) {
                self.woken.push(queue);
            }
        }
        if !self.later.is_empty() {
            for cancelled in of_job.cancelled {
                self.later.remove(&cancelled);
            }
        }
        for (statement, text) in of_job.later {
            let before = self.later.insert(statement, text);
            debug_assert!(before.is_none(), "a row is deferred twice");
        }
    }
}

/// Runs each job, commits once, and only then returns the results. A failed job rolls back its own
/// writes only.
fn write_batch(
    conn: &Connection,
    ready: Result<(), StoreError>,
    jobs: impl Iterator<Item = Job>,
    wakes: &broadcast::Sender<String>,
) {
    let mut ran: Vec<Job> = Vec::new();
    let mut effects = BatchEffects::default();
    let mut spoilt = false;
    let mut fate = ready.and_then(|()| statement(conn, "BEGIN IMMEDIATE"));
    for mut job in jobs {
        if fate.is_ok() {
            match run_trusting(conn, &mut job, &mut effects) {
                Ok(clean) => spoilt = !clean,
                Err(error) => fate = Err(error),
            }
        }
        ran.push(job);
        if spoilt {
            break;
        }
    }
    if spoilt {
        effects = BatchEffects::default();
        fate = fate.and_then(|()| run_again(conn, &mut ran, &mut effects));
    }
    fate = fate.and_then(|()| run_deferred(conn, &effects.later));
    fate = fate.and_then(|()| statement(conn, "COMMIT"));
    if fate.is_err() && !conn.is_autocommit() {
        let _ = statement(conn, "ROLLBACK");
    }
    match fate {
        Ok(()) => {
            for queue in effects.woken {
                // No receiver is fine: due rows are also found by polling.
                let _ = wakes.send(queue.to_owned());
            }
            ran.into_iter().for_each(|job| job.answer(Ok(())));
        }
        Err(error) => {
            tracing::error!(%error, jobs = ran.len(), "a batch of writes could not be committed");
            let reason = error.to_string();
            ran.into_iter().for_each(|job| job.answer(Err(StoreError::Commit(reason.clone()))));
        }
    }
}

/// Runs a job without a savepoint, because most failing jobs have written nothing, and because each
/// savepoint flushes the full-text index. False when a failed job has written: then the whole
/// transaction must be rolled back.
fn run_trusting(
    conn: &Connection,
    job: &mut Job,
    effects: &mut BatchEffects,
) -> Result<bool, StoreError> {
    let before = conn.total_changes();
    let kept = run(conn, job, effects)?;
    Ok(kept || conn.total_changes() == before)
}

/// Runs the jobs of a spoilt transaction once more, each in a savepoint of its own.
fn run_again(
    conn: &Connection,
    jobs: &mut [Job],
    effects: &mut BatchEffects,
) -> Result<(), StoreError> {
    statement(conn, "ROLLBACK")?;
    statement(conn, "BEGIN IMMEDIATE")?;
    for job in jobs {
        statement(conn, "SAVEPOINT job")?;
        if !run(conn, job, effects)? {
            statement(conn, "ROLLBACK TO job")?;
        }
        statement(conn, "RELEASE job")?;
    }
    Ok(())
}

/// True when the job's writes should be committed; `Err` when the whole batch is lost, for example
/// when a full disk made SQLite roll back.
fn run(conn: &Connection, job: &mut Job, effects: &mut BatchEffects) -> Result<bool, StoreError> {
    let mut tx = Tx::sqlite(conn);
    let kept = job.run(&mut tx);
    if conn.is_autocommit() {
        return Err(StoreError::Commit("the database ended the transaction".into()));
    }
    if kept {
        effects.add(tx.into_effects());
    }
    Ok(kept)
}

fn statement(conn: &Connection, sql: &str) -> Result<(), StoreError> {
    conn.prepare_cached(sql)?.raw_execute()?;
    Ok(())
}
