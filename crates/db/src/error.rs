//! Errors of the store.

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}")]
    Url(String),
    #[error("sqlite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("postgres: {}", describe(.0))]
    Postgres(#[from] postgres::Error),
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

    /// True while the database is down. The store has logged that, so callers need not.
    pub fn is_outage(&self) -> bool {
        matches!(self, StoreError::Unreachable)
    }
}

/// The server's error message without the statement's values, which may contain mail.
fn describe(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => error.to_string(),
    }
}
