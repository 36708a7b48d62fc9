use std::collections::HashMap;

use postgres::Statement;
use postgres::types::ToSql;

use crate::{Arg, Error, FromRow, Row, Value};

/// Prepared statements kept per PostgreSQL connection; SQL is literal, so few are ever needed.
const STATEMENTS_KEPT: usize = 512;

/// One open transaction. Statements name their arguments `?1`, `?2`, … on both databases.
pub struct Tx<'c> {
    conn: Conn<'c>,
    wakes: Vec<&'static str>,
    conflict: bool,
}

enum Conn<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres { tx: postgres::Transaction<'c>, statements: &'c mut Statements },
}

impl<'c> Tx<'c> {
    pub(crate) fn sqlite(conn: &'c rusqlite::Connection) -> Self {
        Tx { conn: Conn::Sqlite(conn), wakes: Vec::new(), conflict: false }
    }

    pub(crate) fn postgres(tx: postgres::Transaction<'c>, statements: &'c mut Statements) -> Self {
        Tx { conn: Conn::Postgres { tx, statements }, wakes: Vec::new(), conflict: false }
    }

    /// Runs a statement; answers how many rows it touched.
    pub fn exec(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<u64, Error> {
        match &mut self.conn {
            Conn::Sqlite(conn) => Ok(bind(conn, sql, args)?.raw_execute()? as u64),
            Conn::Postgres { tx, statements } => {
                let result = statements
                    .get(tx, sql)
                    .and_then(|statement| with_args(args, |args| tx.execute(&statement, args)));
                self.noted(result)
            }
        }
    }

    /// Every row of a query.
    pub fn all<T: FromRow>(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<Vec<T>, Error> {
        match &mut self.conn {
            Conn::Sqlite(conn) => {
                let mut statement = bind(conn, sql, args)?;
                let mut rows = statement.raw_query();
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(T::from_row(&mut Row::sqlite(row))?);
                }
                Ok(all)
            }
            Conn::Postgres { tx, statements } => {
                let result = statements
                    .get(tx, sql)
                    .and_then(|statement| with_args(args, |args| tx.query(&statement, args)));
                let rows = self.noted(result)?;
                rows.iter().map(|row| T::from_row(&mut Row::postgres(row))).collect()
            }
        }
    }

    /// The first row of a query, if it has one.
    pub fn opt<T: FromRow>(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<Option<T>, Error> {
        match &mut self.conn {
            Conn::Sqlite(conn) => {
                let mut statement = bind(conn, sql, args)?;
                let mut rows = statement.raw_query();
                rows.next()?.map(|row| T::from_row(&mut Row::sqlite(row))).transpose()
            }
            Conn::Postgres { .. } => Ok(self.all(sql, args)?.into_iter().next()),
        }
    }

    /// The first row of a query that always has one.
    pub fn one<T: FromRow>(&mut self, sql: &str, args: &[&dyn Arg]) -> Result<T, Error> {
        self.opt(sql, args)?.ok_or(Error::NoRow)
    }

    /// The spelling for the database at hand, for the few statements that cannot be shared.
    pub fn pick<T>(&self, sqlite: T, postgres: T) -> T {
        match self.conn {
            Conn::Sqlite(_) => sqlite,
            Conn::Postgres { .. } => postgres,
        }
    }

    /// Tells a queue's listeners, after the commit, that there may be something in it.
    pub fn wake(&mut self, queue: &'static str) {
        if !self.wakes.contains(&queue) {
            self.wakes.push(queue);
        }
    }

    /// Runs several statements that take no arguments.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        match &mut self.conn {
            Conn::Sqlite(conn) => Ok(conn.execute_batch(sql)?),
            Conn::Postgres { tx, .. } => Ok(tx.batch_execute(sql)?),
        }
    }

    pub(crate) fn into_wakes(self) -> Vec<&'static str> {
        self.wakes
    }

    /// True when a statement lost a race with another transaction and the closure should run again.
    pub(crate) fn conflict(&self) -> bool {
        self.conflict
    }

    pub(crate) fn commit(self) -> Result<Vec<&'static str>, postgres::Error> {
        if let Conn::Postgres { tx, .. } = self.conn {
            tx.commit()?;
        }
        Ok(self.wakes)
    }

    fn noted<T>(&mut self, result: Result<T, postgres::Error>) -> Result<T, Error> {
        result.map_err(|error| {
            self.conflict |= is_conflict(&error);
            Error::Postgres(error)
        })
    }
}

/// A lost race: serialization failure, deadlock, or a unique value that another transaction took
/// after this one looked. Running the closure again lets it see what the other one did.
pub(crate) fn is_conflict(error: &postgres::Error) -> bool {
    matches!(error.code().map(|code| code.code()), Some("40001" | "40P01" | "23505"))
}

fn bind<'c>(
    conn: &'c rusqlite::Connection,
    sql: &str,
    args: &[&dyn Arg],
) -> Result<rusqlite::CachedStatement<'c>, Error> {
    let mut statement = conn.prepare_cached(sql)?;
    for (index, arg) in args.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, arg.value())?;
    }
    Ok(statement)
}

fn with_args<T>(args: &[&dyn Arg], run: impl FnOnce(&[&(dyn ToSql + Sync)]) -> T) -> T {
    let values: Vec<Value<'_>> = args.iter().map(|arg| arg.value()).collect();
    let refs: Vec<&(dyn ToSql + Sync)> = values.iter().map(|v| v as &(dyn ToSql + Sync)).collect();
    run(&refs)
}

/// The prepared statements of one PostgreSQL connection, by their SQL.
#[derive(Default)]
pub(crate) struct Statements(HashMap<String, Statement>);

impl Statements {
    fn get(
        &mut self,
        tx: &mut postgres::Transaction<'_>,
        sql: &str,
    ) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.0.get(sql) {
            return Ok(statement.clone());
        }
        if self.0.len() >= STATEMENTS_KEPT {
            self.0.clear();
        }
        let statement = tx.prepare(&dollars(sql))?;
        self.0.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
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
    use super::dollars;

    #[test]
    fn arguments_are_renamed_outside_quotes_only() {
        assert_eq!(dollars("a = ?1 AND b = ?12"), "a = $1 AND b = $12");
        assert_eq!(dollars("a = '?1' AND b ? 'x'"), "a = '?1' AND b ? 'x'");
    }
}
