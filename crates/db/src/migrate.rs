//! Schema migrations: which have run, and running the others in order.

use crate::{StoreError, Tx};

/// One step of the schema. Steps only move forward and are never edited once released.
///
/// `both` is written in neutral types (`TEXT`, `BIGINT`, `BOOLEAN`, `BYTES`, `DOUBLE`); a table
/// ends in `{rows}`, or in `{keyed}` when it is small and always read by its primary key.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub both: &'static str,
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

const VERSIONS: &str =
    "CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT PRIMARY KEY, name TEXT NOT NULL)";

/// True when the last step was taken already. A database that is newer than that is not current.
pub(crate) fn is_current(tx: &mut Tx<'_>, migrations: &[Migration]) -> Result<bool, StoreError> {
    let known = migrations.last().map_or(0, |last| last.version);
    let tables: Vec<(String,)> =
        tx.all("SELECT name FROM sqlite_master WHERE name = 'schema_versions'", &[])?;
    if tables.is_empty() {
        return Ok(false);
    }
    let (found,): (Option<i64>,) = tx.one("SELECT max(version) FROM schema_versions", &[])?;
    Ok(found == Some(known))
}

/// Brings the schema up to date.
pub(crate) fn migrate(tx: &mut Tx<'_>, migrations: &[Migration]) -> Result<(), StoreError> {
    assert!(migrations.is_sorted_by(|a, b| a.version < b.version), "steps are in order");
    tx.batch(VERSIONS)?;
    let (found,): (i64,) =
        tx.one("SELECT CAST(coalesce(max(version), 0) AS BIGINT) FROM schema_versions", &[])?;
    let known = migrations.last().map_or(0, |last| last.version);
    if found > known {
        return Err(StoreError::TooNew { found, known });
    }
    for step in migrations.iter().filter(|step| step.version > found) {
        let own = tx.pick(step.sqlite, step.postgres);
        let both = tx.pick(SQLITE_TYPES, POSTGRES_TYPES);
        let both = both.iter().fold(step.both.to_owned(), |sql, (from, to)| sql.replace(from, to));
        let sql = format!("{both}\n{own}");
        tx.batch(&sql).map_err(|cause| StoreError::Migration {
            version: step.version,
            cause: Box::new(cause),
        })?;
        tx.exec(
            "INSERT INTO schema_versions (version, name) VALUES (?1, ?2)",
            &[&step.version, &step.name],
        )?;
    }
    Ok(())
}

type Spellings = &'static [(&'static str, &'static str)];

const SQLITE_TYPES: Spellings = &[
    ("{rows}", "STRICT"),
    ("{keyed}", "STRICT, WITHOUT ROWID"),
    ("BIGINT", "INTEGER"),
    ("BOOLEAN", "INTEGER"),
    ("BYTES", "BLOB"),
    ("DOUBLE", "REAL"),
];

const POSTGRES_TYPES: Spellings = &[
    ("{rows}", ""),
    ("{keyed}", ""),
    ("TEXT", "TEXT COLLATE \"C\""),
    ("BYTES", "BYTEA"),
    ("DOUBLE", "DOUBLE PRECISION"),
];
