//! A transaction: statements, arguments, wake-ups after commit, and the differences between
//! databases.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::list_expansion::ListExpansion;
use crate::session::Session;
use crate::{Arg, FromRow, Row, StoreError};

/// A queue that can be woken. Text is none, so that a misspelt name does not compile.
pub trait QueueName {
    fn queue_name(&self) -> &'static str;
}

/// One open transaction. Statements name their arguments `?1`, `?2`, … on both databases.
pub struct Tx<'c> {
    pub(crate) conn: Conn<'c>,
    wakes: Vec<&'static str>,
    later: DeferredStatements,
    cancelled: HashSet<(&'static str, i64)>,
    failed: bool,
    race: Option<WriteConflict>,
}

/// What a transaction leaves to do for its batch and after the commit.
pub(crate) struct TxEffects {
    pub(crate) wakes: Vec<&'static str>,
    pub(crate) later: DeferredStatements,
    /// Statements that transactions before it deferred and that must not run any more.
    pub(crate) cancelled: HashSet<(&'static str, i64)>,
}

/// The texts of statements that are put off to the end of their batch, by statement and number.
pub(crate) type DeferredStatements = BTreeMap<(&'static str, i64), String>;

/// A serialization failure. The closure runs again and sees the other transaction's writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WriteConflict {
    /// A serialization failure or a deadlock.
    Conflict,
    /// A unique violation, perhaps by a concurrent transaction.
    Taken,
}

pub(crate) enum Conn<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut Session),
}

impl<'c> Tx<'c> {
    pub(crate) fn sqlite(conn: &'c rusqlite::Connection) -> Self {
        Tx::new(Conn::Sqlite(conn))
    }

    /// The transaction that the session has begun.
    pub(crate) fn postgres(session: &'c mut Session) -> Self {
        Tx::new(Conn::Postgres(session))
    }

    fn new(conn: Conn<'c>) -> Self {
        Tx {
            conn,
            wakes: Vec::new(),
            later: DeferredStatements::new(),
            cancelled: HashSet::new(),
            failed: false,
            race: None,
        }
    }

    /// Runs a statement; returns the number of affected rows.
    pub fn exec(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<u64, StoreError> {
        if let Some(spread) = ListExpansion::of(sql, args) {
            return self.exec(&spread.sql, &spread.args());
        }
        let result = match &mut self.conn {
            Conn::Sqlite(conn) => bind(conn, sql, args)
                .and_then(|mut statement| Ok(statement.raw_execute()?))
                .map(|rows| rows as u64),
            Conn::Postgres(session) => session.execute(sql, args).map_err(StoreError::from),
        };
        self.note_failure(result)
    }

    /// Runs a write whose outcome nothing here asks for. PostgreSQL gets it at once and is not waited for, which
    /// would be a round trip: a failure is told by the next statement, or undoes the transaction in the end.
    pub fn exec_soon(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<(), StoreError> {
        if ListExpansion::of(sql, args).is_some() {
            return self.exec(sql, args).map(drop);
        }
        match &mut self.conn {
            Conn::Sqlite(_) => self.exec(sql, args).map(drop),
            Conn::Postgres(session) => {
                let sent = session.execute_soon(sql, args).map_err(StoreError::from);
                self.note_failure(sent)
            }
        }
    }

    /// Waits for the writes that were sent; the first that failed is the error, and undoes the transaction.
    pub(crate) fn settle(&mut self) -> Result<(), StoreError> {
        let Conn::Postgres(session) = &mut self.conn else { return Ok(()) };
        let settled = session.settle().map_err(StoreError::from);
        self.note_failure(settled)
    }

    /// Defers a statement with a number and a text on SQLite until the other jobs of the batch have
    /// run, ordered by number: the full-text index then writes one segment. The transaction cannot
    /// read its own deferred writes.
    pub fn exec_last(
        &mut self,
        sql: &'static str,
        number: i64,
        text: String,
    ) -> Result<(), StoreError> {
        match self.conn {
            Conn::Sqlite(_) => {
                let before = self.later.insert((sql, number), text);
                debug_assert!(before.is_none(), "a row is deferred twice");
            }
            Conn::Postgres(_) => drop(self.exec(sql, &[&number, &text])?),
        }
        Ok(())
    }

    /// Drops what was deferred with a number, here or by a transaction of the same batch, whose row is
    /// about to be deleted or written anew.
    pub fn cancel_last(&mut self, sql: &'static str, number: i64) {
        if let Conn::Sqlite(_) = self.conn {
            self.later.remove(&(sql, number));
            self.cancelled.insert((sql, number));
        }
    }

    /// Every row of a query.
    pub fn all<T: FromRow>(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<Vec<T>, StoreError> {
        self.rows(sql, args, usize::MAX)
    }

    /// Shows every row of a query, one after the other, without keeping any.
    pub fn each(
        &mut self,
        sql: &str,
        args: &[&dyn Arg],
        see: impl FnMut(&mut Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let spread = ListExpansion::of(sql, args);
        let spread_args = spread.as_ref().map(ListExpansion::args);
        let sql = spread.as_ref().map_or(sql, |spread| spread.sql.as_str());
        let args = spread_args.as_deref().unwrap_or(args);
        let result = match &mut self.conn {
            Conn::Sqlite(conn) => sqlite_each(conn, sql, args, see),
            Conn::Postgres(session) => session.each(sql, args, see),
        };
        self.note_failure(result)
    }

    /// Every row of a query of a table that only settings change. A transaction of PostgreSQL that asks again and
    /// again, for one conversation after the other, asks the server once, until it changes the table itself.
    pub fn read_once<T: FromRow>(
        &mut self,
        table: &'static str,
        sql: &str,
        args: &[&dyn Arg],
    ) -> Result<Vec<T>, StoreError> {
        let Conn::Postgres(session) = &mut self.conn else { return self.all(sql, args) };
        let rows = session.query_once(table, sql, args).map_err(StoreError::from);
        let read = rows
            .and_then(|rows| rows.iter().map(|row| T::from_row(&mut Row::postgres(row))).collect());
        self.note_failure(read)
    }

    /// The first row of a query, if it has one.
    pub fn opt<T: FromRow>(
        &mut self,
        sql: &str,
        args: &[&dyn Arg],
    ) -> Result<Option<T>, StoreError> {
        Ok(self.rows(sql, args, 1)?.pop())
    }

    /// The first row of a query that always has one.
    pub fn one<T: FromRow>(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<T, StoreError> {
        self.opt(sql, args)?.ok_or(StoreError::NoRow)
    }

    /// The spelling for the database at hand, for the few statements that cannot be shared.
    pub fn pick<T>(&self, sqlite: T, postgres: T) -> T {
        match self.conn {
            Conn::Sqlite(_) => sqlite,
            Conn::Postgres(_) => postgres,
        }
    }

    /// Tells a queue's listeners, after the commit, that there may be something in it.
    pub fn wake(&mut self, queue: impl QueueName) {
        let name = queue.queue_name();
        if !self.wakes.contains(&name) {
            self.wakes.push(name);
        }
    }

    /// Runs several statements that take no arguments.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        match &mut self.conn {
            Conn::Sqlite(conn) => Ok(conn.execute_batch(sql)?),
            Conn::Postgres(session) => Ok(session.batch(sql)?),
        }
    }

    pub(crate) fn into_effects(self) -> TxEffects {
        TxEffects { wakes: self.wakes, later: self.later, cancelled: self.cancelled }
    }

    /// The cache of this type that all transactions of the store share. A transaction that is undone leaves
    /// what it has put there. `None` on SQLite, whose pages are in this process anyway.
    pub fn cache<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        match &self.conn {
            Conn::Sqlite(_) => None,
            Conn::Postgres(session) => session.caches.get(),
        }
    }

    /// True when a statement failed: PostgreSQL then rolls back even if the closure ignores the
    /// error, so SQLite does the same.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(crate) fn race(&self) -> Option<WriteConflict> {
        self.race
    }

    pub(crate) fn commit(self) -> Result<Vec<&'static str>, tokio_postgres::Error> {
        if let Conn::Postgres(session) = self.conn {
            session.commit()?;
        }
        Ok(self.wakes)
    }

    fn rows<T: FromRow>(
        &mut self,
        sql: &str,
        args: &[&dyn Arg],
        most: usize,
    ) -> Result<Vec<T>, StoreError> {
        if let Some(spread) = ListExpansion::of(sql, args) {
            return self.rows(&spread.sql, &spread.args(), most);
        }
        let result = match &mut self.conn {
            Conn::Sqlite(conn) => sqlite_rows(conn, sql, args, most),
            Conn::Postgres(session) => {
                session.query(sql, args).map_err(StoreError::from).and_then(|rows| {
                    let rows = rows.iter().take(most);
                    rows.map(|row| T::from_row(&mut Row::postgres(row))).collect()
                })
            }
        };
        self.note_failure(result)
    }

    pub(crate) fn note_failure<T>(
        &mut self,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Err(error) = &result {
            self.failed |= matches!(error, StoreError::Sqlite(_) | StoreError::Postgres(_));
            if let StoreError::Postgres(error) = error {
                self.race = race(error).or(self.race);
            }
        }
        result
    }
}

/// The serialization failure that PostgreSQL reports, if it is one.
pub(crate) fn race(error: &tokio_postgres::Error) -> Option<WriteConflict> {
    match error.code()?.code() {
        "40001" | "40P01" => Some(WriteConflict::Conflict),
        "23505" => Some(WriteConflict::Taken),
        _ => None,
    }
}

fn sqlite_rows<T: FromRow>(
    conn: &rusqlite::Connection,
    sql: &str,
    args: &[&dyn Arg],
    most: usize,
) -> Result<Vec<T>, StoreError> {
    let mut statement = bind(conn, sql, args)?;
    let mut rows = statement.raw_query();
    let mut all = Vec::new();
    while all.len() < most
        && let Some(row) = rows.next()?
    {
        all.push(T::from_row(&mut Row::sqlite(row))?);
    }
    Ok(all)
}

fn sqlite_each(
    conn: &rusqlite::Connection,
    sql: &str,
    args: &[&dyn Arg],
    mut see: impl FnMut(&mut Row<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut statement = bind(conn, sql, args)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        see(&mut Row::sqlite(row))?;
    }
    Ok(())
}

/// Runs the deferred statements.
pub(crate) fn run_deferred(
    conn: &rusqlite::Connection,
    later: &DeferredStatements,
) -> Result<(), StoreError> {
    for ((sql, number), text) in later {
        bind(conn, sql, &[number, text])?.raw_execute()?;
    }
    Ok(())
}

fn bind<'c>(
    conn: &'c rusqlite::Connection,
    sql: &str,
    args: &[&dyn Arg],
) -> Result<rusqlite::CachedStatement<'c>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    if statement.parameter_count() != args.len() {
        let wanted = statement.parameter_count();
        return Err(rusqlite::Error::InvalidParameterCount(args.len(), wanted).into());
    }
    for (index, arg) in args.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, arg.value())?;
    }
    Ok(statement)
}
