//! Gives the space of deleted rows back, so that none of their bytes stay in the files.

use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::connect::with_limits;
use crate::session::Session;
use crate::{DatabaseUrl, Store, StoreError};

/// How long other processes may keep the database busy.
const PATIENCE: Duration = Duration::from_secs(30);

impl Store {
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
                let is_busy: bool =
                    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
                if is_busy { Err(StoreError::Busy) } else { Ok(()) }
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
