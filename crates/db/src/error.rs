//! Errors of the store.

use std::error::Error;
use std::io;

use rusqlite::ErrorCode;

/// Classes and codes of PostgreSQL's errors that say nothing about the statement: no connection, a
/// server that may only be read, no resources, a server that stops or starts, a failing disk.
const TEMPORARY: [&str; 5] = ["08", "25006", "53", "57P", "58"];

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}")]
    Url(String),
    #[error("sqlite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("postgres: {}", describe(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("tls: {0}")]
    Tls(String),
    #[error("migration {version}: {cause}")]
    Migration { version: i64, cause: Box<StoreError> },
    #[error(
        "this database was written by a newer version (schema {found}, this binary knows {known})"
    )]
    TooNew { found: i64, known: i64 },
    #[error("expected one row, found none")]
    NoRow,
    #[error("column {index}: expected {wanted}, found {found}")]
    Column { index: usize, wanted: &'static str, found: &'static str },
    #[error("{field}: expected {wanted}, found {found}")]
    Field { field: &'static str, wanted: &'static str, found: &'static str },
    #[error("the transaction panicked and was undone")]
    Panicked,
    #[error("the batch this transaction was in could not be committed: {0}")]
    Commit(String),
    #[error("rows could not be written: {0}")]
    Rows(String),
    #[error("gave up after {0} conflicts with other transactions")]
    Conflicts(u32),
    #[error("another process kept the database busy")]
    Busy,
    #[error("the store is closed")]
    Closed,
    #[error("the database cannot be reached")]
    Unreachable,
    #[error(
        "a connection pooler such as PgBouncer is between Mailroom and PostgreSQL, and keeps no session \
         for it. Mailroom needs sessions (LISTEN, settings) and keeps a small pool of its own: name \
         PostgreSQL itself in the database URL"
    )]
    Pooler,
}

impl StoreError {
    /// The same error, with the name of the field that the column was read for.
    pub(crate) fn of_field(self, field: &'static str) -> StoreError {
        match self {
            StoreError::Column { wanted, found, .. } => StoreError::Field { field, wanted, found },
            other => other,
        }
    }

    /// True where the same may work later: the database is away or busy, or its disk cannot be written.
    pub fn is_temporary(&self) -> bool {
        match self {
            StoreError::Unreachable | StoreError::Busy | StoreError::Commit(_) => true,
            StoreError::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::DatabaseBusy
                        | ErrorCode::DatabaseLocked
                        | ErrorCode::ReadOnly
                        | ErrorCode::SystemIoFailure
                        | ErrorCode::DiskFull
                        | ErrorCode::CannotOpen
                )
            ),
            StoreError::Postgres(error) => match error.code() {
                Some(state) => TEMPORARY.iter().any(|code| state.code().starts_with(code)),
                None => {
                    error.is_closed()
                        || error.source().is_some_and(|source| source.is::<io::Error>())
                }
            },
            _ => false,
        }
    }

    /// True while the database is down. The store has logged that, so callers need not.
    pub fn is_outage(&self) -> bool {
        matches!(self, StoreError::Unreachable)
    }
}

/// The server's error message without the statement's values, which may contain mail.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => match error.source() {
            Some(cause) if concerns_connection(error, cause) => {
                format!("{error}: {cause}{}", advice(&cause.to_string()))
            }
            _ => error.to_string(),
        },
    }
}

/// True where the cause of an error is about the server and not about a statement, whose values it may quote.
fn concerns_connection(error: &tokio_postgres::Error, cause: &(dyn Error + 'static)) -> bool {
    const KINDS: [&str; 5] = [
        "error connecting to server",
        "error performing TLS handshake",
        "authentication error",
        "invalid connection string",
        "invalid configuration",
    ];
    cause.is::<io::Error>() || KINDS.contains(&error.to_string().as_str())
}

/// What to do where the server's certificate is not believed.
fn advice(cause: &str) -> &'static str {
    let is_untrusted = ["UnknownIssuer", "CaUsedAsEndEntity"].iter().any(|it| cause.contains(it));
    match is_untrusted {
        true => {
            "; its certificate is self-signed or from an authority that this machine does not trust: name \
             the authority's file in SSL_CERT_FILE"
        }
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_temporary_and_a_broken_rule_is_not() {
        let sqlite = |code| {
            StoreError::from(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None))
        };
        for code in [
            rusqlite::ffi::SQLITE_FULL,
            rusqlite::ffi::SQLITE_IOERR,
            rusqlite::ffi::SQLITE_READONLY,
            rusqlite::ffi::SQLITE_BUSY,
        ] {
            assert!(sqlite(code).is_temporary(), "{code}");
        }
        for code in [rusqlite::ffi::SQLITE_CONSTRAINT, rusqlite::ffi::SQLITE_CORRUPT] {
            assert!(!sqlite(code).is_temporary(), "{code}");
        }
        assert!(StoreError::Unreachable.is_temporary());
        assert!(!StoreError::NoRow.is_temporary() && !StoreError::Closed.is_temporary());
    }
}
