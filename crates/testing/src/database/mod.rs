//! A fresh database for each test, on SQLite or PostgreSQL.

mod postgres_database;
mod schema_template;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::{Store, StoreOptions};

use self::postgres_database::PostgresDatabase;
use self::schema_template::template_name;

/// The databases that every rule holds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// A test's own database, gone when the test is over.
pub struct Database {
    pub url: String,
    /// Emptied with it.
    _postgres: Option<PostgresDatabase>,
}

impl Database {
    pub fn new(backend: Backend, folder: &Path) -> Database {
        match backend {
            Backend::Sqlite => {
                let file = folder.join("test.db");
                copy_sqlite(&ensure_sqlite_template(), &file);
                Database { url: sqlite_url(&file), _postgres: None }
            }
            Backend::Postgres => {
                let taken = PostgresDatabase::take();
                Database { url: taken.url(), _postgres: Some(taken) }
            }
        }
    }
}

/// Connections to PostgreSQL of one process, half of which read and half of which write.
pub const CONNECTIONS: usize = 4;
/// A machine that runs tests may be slow; the server is not down for that.
const SILENCE: Duration = Duration::from_secs(60);

/// Opens a test's database, as each process that works on it does for itself.
pub fn open(url: &str) -> Store {
    open_keeping(url, StoreOptions::default().plans_kept)
}

/// The same, with plans that are kept for so long.
pub fn open_keeping(url: &str, plans_kept: Duration) -> Store {
    let options = StoreOptions {
        readers: 2,
        connections: CONNECTIONS,
        silence: SILENCE,
        plans_kept,
        ..StoreOptions::default()
    };
    Store::open(url, &options, model::schema::MIGRATIONS).unwrap()
}

/// A file with today's schema that each test's own is copied from. Tests that begin at once each make
/// one; the first to finish is kept.
fn ensure_sqlite_template() -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("mailroom-{}", template_name(|step| step.sqlite)));
    let template = folder.join("template.db");
    if template.exists() {
        return template;
    }
    let made = tempfile::tempdir().unwrap();
    let file = made.path().join("template.db");
    let store =
        Store::open(&sqlite_url(&file), &StoreOptions::default(), model::schema::MIGRATIONS)
            .unwrap();
    let copy = tempfile::tempdir().unwrap().keep();
    copy_sqlite(&file, &copy.join("template.db"));
    drop(store);
    if fs::rename(&copy, &folder).is_err() {
        fs::remove_dir_all(&copy).unwrap();
    }
    template
}

/// Copies a file of SQLite that nobody writes to, with its write-ahead log.
fn copy_sqlite(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    if wal(from).exists() {
        fs::copy(wal(from), wal(to)).unwrap();
    }
}

fn wal(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push("-wal");
    name.into()
}

fn sqlite_url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}
