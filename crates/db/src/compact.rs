//! Gives the space of deleted rows back, so that none of their bytes stay in the files, and moves everything
//! into the one file of an SQLite database.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::connect::with_limits;
use crate::session::Session;
use crate::{DatabaseUrl, Store, StoreError};

/// How long other processes may keep the database busy.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same for a process that ends.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

impl Store {
    /// Moves what the write-ahead log of an SQLite database holds into its file, so that the file alone is the
    /// whole database. Blocks, for a short time where others use it; `Busy` when they went on doing so.
    pub fn checkpoint(path: &Path) -> Result<(), StoreError> {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.busy_timeout(LAST_PATIENCE)?;
        empty_log(&conn)
    }

    /// Compacts the database behind this URL; blocks while it does. SQLite writes its file anew and
    /// empties its log, unless readers need it for too long. PostgreSQL marks the space for reuse.
    ///
    /// Without `rewrite` SQLite only empties its log, which keeps a busy server waiting far less.
    pub fn compact(url: &str, rewrite: bool) -> Result<(), StoreError> {
        match DatabaseUrl::parse(url)? {
            DatabaseUrl::Sqlite(path) => {
                let conn = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
                conn.busy_timeout(PATIENCE)?;
                if rewrite {
                    conn.execute_batch("VACUUM")?;
                }
                empty_log(&conn)
            }
            // The client brings a runtime along, which cannot wait inside another.
            DatabaseUrl::Postgres(url) => thread::scope(|scope| {
                let vacuum = || -> Result<(), StoreError> {
                    Ok(Session::open(&with_limits(url.parse()?))?.batch("VACUUM")?)
                };
                scope.spawn(vacuum).join().unwrap_or(Err(StoreError::Panicked))
            }),
        }
    }
}

fn empty_log(conn: &Connection) -> Result<(), StoreError> {
    let is_busy: bool = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if is_busy { Err(StoreError::Busy) } else { Ok(()) }
}
