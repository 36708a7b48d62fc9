//! Reads how far the schema of a database is, without opening it as a store, which would change it.

use std::thread;

use rusqlite::{Connection, OpenFlags};

use crate::connect::with_limits;
use crate::session::Session;
use crate::{DatabaseUrl, Store, StoreError};

impl Store {
    /// The newest step of the schema that the database behind this URL has; 0 where there is none.
    pub fn schema_version(url: &str) -> Result<i64, StoreError> {
        match DatabaseUrl::parse(url)? {
            DatabaseUrl::Sqlite(path) if !path.exists() => Ok(0),
            DatabaseUrl::Sqlite(path) => {
                let conn = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
                let has_steps: bool = conn.query_row(
                    "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'schema_versions')",
                    [],
                    |row| row.get(0),
                )?;
                if !has_steps {
                    return Ok(0);
                }
                Ok(conn.query_row(
                    "SELECT coalesce(max(version), 0) FROM schema_versions",
                    [],
                    |row| row.get(0),
                )?)
            }
            // The client brings a runtime along, which cannot wait inside another.
            DatabaseUrl::Postgres(url) => thread::scope(|scope| {
                scope.spawn(|| of_postgres(&url)).join().unwrap_or(Err(StoreError::Panicked))
            }),
        }
    }
}

fn of_postgres(url: &str) -> Result<i64, StoreError> {
    let mut session = Session::open(&with_limits(url.parse()?))?;
    let (is_known,): (bool,) =
        session.one("SELECT to_regclass('schema_versions') IS NOT NULL", &[])?;
    if !is_known {
        return Ok(0);
    }
    let (version,): (i64,) =
        session.one("SELECT coalesce(max(version), 0) FROM schema_versions", &[])?;
    Ok(version)
}
