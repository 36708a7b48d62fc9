//! The identity of a database, which distinguishes it from a copy.

use std::fs;
use std::time::UNIX_EPOCH;

use crate::{DatabaseUrl, Store, StoreError};

/// The server's system identifier, which its standbys share, and the OID of the database.
pub(crate) const POSTGRES_IDENTITY: &str =
    "SELECT 'postgres ' || CAST(s.system_identifier AS TEXT) || ' ' || CAST(d.oid AS TEXT)
     FROM pg_control_system() s, pg_database d
     WHERE d.datname = current_database()";

impl Store {
    /// The identity of the database behind this URL. For a SQLite file it is the creation time,
    /// which is kept by a move within the file system and differs for a copy; for a PostgreSQL
    /// database the server's system identifier and the database's OID. `None` where neither is
    /// available.
    pub async fn identity(&self, url: &str) -> Option<String> {
        match DatabaseUrl::parse(url).ok()? {
            DatabaseUrl::Sqlite(path) => {
                let made = fs::metadata(path).and_then(|file| file.created()).ok()?;
                let since = made.duration_since(UNIX_EPOCH).ok()?;
                Some(format!("file {}", since.as_nanos()))
            }
            DatabaseUrl::Postgres(_) => self.postgres_identity().await.ok(),
        }
    }

    async fn postgres_identity(&self) -> Result<String, StoreError> {
        self.read(|tx| {
            let (identity,): (String,) = tx.one(POSTGRES_IDENTITY, &[])?;
            Ok(identity)
        })
        .await
    }
}
