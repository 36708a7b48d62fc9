//! A connection to PostgreSQL and its one open transaction. The beginning of a read leaves together with
//! its first statement, and its end together with the next beginning: each would be a round trip.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io::Cursor;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join;
use futures_util::{SinkExt, TryStreamExt};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Statement};

use crate::caches::Caches;
use crate::connect::{ConnectionTask, connect};
use crate::job::Durability;
use crate::repeated_reads::{RepeatedReads, key_of};
use crate::sent_writes::SentWrites;
use crate::{Arg, FromRow, Row, StoreError, Value};

/// Prepared statements kept per connection; SQL is literal, so few are ever needed.
const STATEMENTS_KEPT: usize = 512;

const BEGIN_READ: &str = "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const BEGIN_WRITE: &str = "START TRANSACTION ISOLATION LEVEL REPEATABLE READ";
const BEGIN_RELAXED: &str = "START TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    SET LOCAL synchronous_commit TO off";

/// Statements that this process has sent to PostgreSQL.
static SENT: AtomicU64 = AtomicU64::new(0);

/// Statements that this process has sent to PostgreSQL, without those that begin and end transactions. A test
/// counts by it what an operation costs.
pub fn statements_sent() -> u64 {
    SENT.load(Ordering::Relaxed)
}

pub(crate) struct Session {
    /// Writes that were sent and whose outcome nobody has asked for. Dropped before the client.
    sent: SentWrites,
    client: Arc<Client>,
    /// Dropped after the client.
    runtime: ConnectionRuntime,
    statements: HashMap<String, Statement>,
    /// The beginning of a read, until its first statement.
    begin: Option<String>,
    /// The server has a transaction open.
    is_open: bool,
    /// What the statements of a read have returned; `None` outside of one.
    answers: Option<RepeatedReads>,
    /// What a write has read of settings, and of which tables.
    known: RepeatedReads,
    known_tables: Vec<&'static str>,
    pub(crate) caches: Caches,
}

impl Session {
    pub(crate) fn open(config: &Config) -> Result<Session, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("the system can make a runtime");
        let (client, task) = runtime.block_on(connect(config))?;
        Ok(Session {
            sent: SentWrites::default(),
            client: Arc::new(client),
            runtime: ConnectionRuntime { runtime, task },
            statements: HashMap::new(),
            begin: None,
            is_open: false,
            answers: None,
            known: RepeatedReads::default(),
            known_tables: Vec::new(),
            caches: Caches::default(),
        })
    }

    /// Begins a read, when its first statement is sent.
    pub(crate) fn begin_read(&mut self) {
        self.begin = Some(self.after_rollback(BEGIN_READ));
        self.answers.get_or_insert_default().clear();
    }

    /// Begins a write and waits until that is done: a statement after a beginning that failed would be
    /// committed by itself.
    pub(crate) fn begin_write(&mut self, durability: Durability) -> Result<(), Error> {
        self.begin_now(match durability {
            Durability::Synced => BEGIN_WRITE,
            Durability::Relaxed => BEGIN_RELAXED,
        })
    }

    /// Begins a migration. Each of its statements sees what others committed before, and none fails because
    /// of that.
    pub(crate) fn begin_migration(&mut self) -> Result<(), Error> {
        self.begin_now("START TRANSACTION ISOLATION LEVEL READ COMMITTED")
    }

    fn begin_now(&mut self, begin: &str) -> Result<(), Error> {
        let begin = self.after_rollback(begin);
        self.sent.forget();
        self.forget_known();
        self.begin = None;
        self.answers = None;
        self.is_open = true;
        self.runtime.run(self.client.batch_execute(&begin))
    }

    /// Behind the end of a transaction that nobody needs any more.
    fn after_rollback(&self, begin: &str) -> String {
        match self.is_open {
            true => format!("ROLLBACK; {begin}"),
            false => begin.to_owned(),
        }
    }

    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        self.settle()?;
        self.is_open = false;
        self.runtime.run(self.client.batch_execute("COMMIT"))
    }

    /// Ends a transaction that nobody needs any more, without waiting for the server.
    pub(crate) fn release(&mut self) {
        self.sent.forget();
        self.begin = None;
        self.answers = None;
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let Session { runtime, client, .. } = self;
        runtime.run(async {
            let mut rollback = pin!(client.batch_execute("ROLLBACK"));
            // The first poll queues it, and the connection's own task sends it in its turn.
            let _ = poll_fn(|cx| Poll::Ready(rollback.as_mut().poll(cx))).await;
            yield_now().await;
        });
    }

    /// Runs a statement; returns the number of affected rows.
    pub(crate) fn execute(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<u64, Error> {
        self.forget_changed(sql);
        let statement = self.prepare(sql)?;
        let begin = self.beginning();
        let Session { sent, client, runtime, .. } = self;
        with_args(args, |args| {
            let run = behind(client, begin, client.execute(&statement, args));
            runtime.run(sent.settle_with(run))
        })
    }

    /// Sends a write of a transaction that has begun, without waiting for the server: the next statement
    /// that is waited for, or [`Session::settle`], tells whether it failed.
    pub(crate) fn execute_soon(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<(), Error> {
        if self.begin.is_some() || self.sent.is_full() {
            return self.execute(sql, args).map(drop);
        }
        self.forget_changed(sql);
        let statement = self.prepare(sql)?;
        let client = Arc::clone(&self.client);
        let args: Vec<Value<'static>> = args.iter().map(|arg| arg.value().into_owned()).collect();
        let write = async move {
            let args: Vec<&(dyn ToSql + Sync)> =
                args.iter().map(|arg| arg as &(dyn ToSql + Sync)).collect();
            client.execute(&statement, &args).await
        };
        // Polled once, it is on its way.
        self.runtime.run(self.sent.send(write))
    }

    /// Waits for the writes that were sent. What a failure of one made of the statements behind it is told as
    /// that failure.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        match self.sent.is_empty() {
            true => Ok(()),
            false => self.runtime.run(self.sent.settle()),
        }
    }

    pub(crate) fn query(
        &mut self,
        sql: &str,
        args: &[&dyn Arg],
    ) -> Result<Arc<Vec<tokio_postgres::Row>>, Error> {
        let key = self.answers.as_ref().map(|_| key_of(sql, args));
        let known = self.answers.as_ref().zip(key.as_deref());
        if let Some(rows) = known.and_then(|(answers, key)| answers.get(key)) {
            return Ok(rows);
        }
        self.forget_changed(sql);
        let statement = self.prepare(sql)?;
        let begin = self.beginning();
        let Session { sent, client, runtime, .. } = self;
        let rows = with_args(args, |args| {
            let run = behind(client, begin, client.query(&statement, args));
            runtime.run(sent.settle_with(run))
        });
        let rows = Arc::new(rows?);
        if let Some((answers, key)) = self.answers.as_mut().zip(key) {
            answers.keep(key, &rows);
        }
        Ok(rows)
    }

    /// As [`Session::query`], once in a write for the same rows of a table, until the write changes it.
    pub(crate) fn query_once(
        &mut self,
        table: &'static str,
        sql: &str,
        args: &[&dyn Arg],
    ) -> Result<Arc<Vec<tokio_postgres::Row>>, Error> {
        if self.answers.is_some() {
            return self.query(sql, args);
        }
        let key = key_of(sql, args);
        if let Some(rows) = self.known.get(&key) {
            return Ok(rows);
        }
        let rows = self.query(sql, args)?;
        self.known.keep(key, &rows);
        if !self.known_tables.contains(&table) {
            self.known_tables.push(table);
        }
        Ok(rows)
    }

    /// What was read of a table does not count once a statement may have changed it.
    fn forget_changed(&mut self, sql: &str) {
        if self.known_tables.iter().any(|table| may_change(sql, table)) {
            self.forget_known();
        }
    }

    fn forget_known(&mut self) {
        if !self.known_tables.is_empty() {
            self.known.clear();
            self.known_tables.clear();
        }
    }

    /// The first row of a query that always has one.
    pub(crate) fn one<T: FromRow>(
        &mut self,
        sql: &str,
        args: &[&dyn Arg],
    ) -> Result<T, StoreError> {
        let rows = self.query(sql, args)?;
        let row = rows.first().ok_or(StoreError::NoRow)?;
        T::from_row(&mut Row::postgres(row))
    }

    /// Shows every row of a query, one after the other, without keeping any.
    pub(crate) fn each(
        &mut self,
        sql: &str,
        args: &[&dyn Arg],
        mut see: impl FnMut(&mut Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.settle()?;
        let statement = self.prepare(sql)?;
        let begin = self.beginning();
        with_args(args, |args| {
            let args = args.iter().copied();
            let query = behind(&self.client, begin, self.client.query_raw(&statement, args));
            self.runtime.run(async {
                let mut rows = pin!(query.await?);
                let mut seen = Ok(());
                while let Some(row) = rows.try_next().await? {
                    // After a failure the other rows are read too: nobody would until the next job.
                    if seen.is_ok() {
                        seen = see(&mut Row::postgres(&row));
                    }
                }
                seen
            })
        })
    }

    /// Runs several statements that take no arguments.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.settle()?;
        let begin = self.beginning();
        let run = behind(&self.client, begin, self.client.batch_execute(sql));
        self.runtime.run(run)
    }

    /// Adds rows with COPY, in its text format.
    pub(crate) fn copy_in(&mut self, sql: &str, rows: Vec<u8>) -> Result<(), Error> {
        self.settle()?;
        let begin = self.beginning();
        self.runtime.run(async {
            if let Some(begin) = begin {
                self.client.batch_execute(&begin).await?;
            }
            let mut sink = pin!(self.client.copy_in(sql).await?);
            sink.send(Cursor::new(rows)).await?;
            sink.finish().await?;
            Ok(())
        })
    }

    /// Asks the server, for as long as `within`.
    pub(crate) fn is_alive(&self, within: Duration) -> bool {
        let asked = async { timeout(within, self.client.simple_query("")).await };
        matches!(self.runtime.run(asked), Ok(Ok(_)))
    }

    /// Has everything planned anew.
    pub(crate) fn forget_plans(&mut self) {
        self.release();
        // A connection that is lost has no plans, and is found to be when it is used.
        let _ = self.runtime.run(self.client.batch_execute("DISCARD PLANS"));
    }

    /// The beginning that has to be sent before the next statement.
    fn beginning(&mut self) -> Option<String> {
        let begin = self.begin.take();
        self.is_open |= begin.is_some();
        begin
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        SENT.fetch_add(1, Ordering::Relaxed);
        tracing::trace!(sql, "statement");
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        self.settle()?;
        // The transaction that is open may have failed.
        if let Some(begin) = self.beginning() {
            self.runtime.run(self.client.batch_execute(&begin))?;
        }
        if self.statements.len() >= STATEMENTS_KEPT {
            self.statements.clear();
        }
        let statement = self.runtime.run(self.client.prepare(&dollars(sql)))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// What a connection runs on.
struct ConnectionRuntime {
    runtime: Runtime,
    task: ConnectionTask,
}

/// How long a connection that is closed may take to tell the server.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

impl ConnectionRuntime {
    fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

impl Drop for ConnectionRuntime {
    fn drop(&mut self) {
        // The client is gone, so the task says so and ends.
        let _ = self.runtime.block_on(async { timeout(CLOSE_TIMEOUT, &mut self.task).await });
    }
}

/// A statement sent behind the beginning of its transaction, and done when both are.
async fn behind<T>(
    client: &Client,
    begin: Option<String>,
    statement: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let Some(begin) = begin else { return statement.await };
    let (begun, done) = join(client.batch_execute(&begin), statement).await;
    begun.and(done)
}

fn with_args<T>(args: &[&dyn Arg], run: impl FnOnce(&[&(dyn ToSql + Sync)]) -> T) -> T {
    let values: Vec<Value<'_>> = args.iter().map(|arg| arg.value()).collect();
    let refs: Vec<&(dyn ToSql + Sync)> = values.iter().map(|v| v as &(dyn ToSql + Sync)).collect();
    run(&refs)
}

/// True for a statement that may change a table. The first words of most name the one that they change.
fn may_change(sql: &str, table: &str) -> bool {
    let mut words = sql.split(|c: char| c.is_ascii_whitespace() || c == '(');
    let mut next = || words.find(|word| !word.is_empty());
    let target = match next() {
        Some("SELECT") => return false,
        Some("UPDATE") => next(),
        Some("INSERT" | "DELETE") => next().and_then(|_| next()),
        _ => return sql.contains(table),
    };
    target == Some(table)
}

/// `?1` as PostgreSQL spells it, `$1`. A question mark inside quotes is left alone.
fn dollars(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut quoted = false;
    let mut chars = sql.chars().peekable();
    while let Some(c) = chars.next() {
        quoted ^= c == '\'';
        let is_arg = c == '?' && !quoted && chars.peek().is_some_and(char::is_ascii_digit);
        out.push(if is_arg { '$' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{dollars, may_change};

    #[test]
    fn a_statement_changes_the_table_that_it_begins_with() {
        for sql in [
            "UPDATE rules SET name = ?1",
            "INSERT INTO rules(id) VALUES (?1)",
            "\n  DELETE FROM rules\n WHERE id = ?1",
            "WITH gone AS (DELETE FROM rules RETURNING id) SELECT id FROM gone",
        ] {
            assert!(may_change(sql, "rules"), "{sql}");
        }
        for sql in [
            "SELECT id FROM rules FOR UPDATE",
            "UPDATE rules_of_old SET name = ?1",
            "UPDATE conversations SET rules = ?1 WHERE rule IN (SELECT id FROM rules)",
            "INSERT INTO rule_jobs (rule) SELECT id FROM rules",
        ] {
            assert!(!may_change(sql, "rules"), "{sql}");
        }
    }

    #[test]
    fn arguments_are_renamed_outside_quotes_only() {
        assert_eq!(dollars("a = ?1 AND b = ?12"), "a = $1 AND b = $12");
        assert_eq!(dollars("a = '?1' AND b ? 'x'"), "a = '?1' AND b ? 'x'");
    }
}
