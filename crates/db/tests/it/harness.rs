//! Opens a fresh store on either database for one test.

use std::env;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use db::{Migration, QueueName, Store, StoreError, StoreOptions, Tx};
use postgres::{Client, NoTls};
use tempfile::TempDir;

/// Where the tests find a PostgreSQL in which they may create databases.
const POSTGRES: &str = "MAILROOM_TEST_POSTGRES";
/// Longer than anything here takes; a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Turns each named rule, an `async fn(&Database)`, into a test on SQLite and one on PostgreSQL.
macro_rules! on_both {
    ($($rule:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $rule() { crate::harness::hold($crate::harness::Database::sqlite(), super::$rule); })+
        }
        mod postgres {
            $(#[test] fn $rule() { crate::harness::hold($crate::harness::Database::postgres(), super::$rule); })+
        }
    };
}

/// The same for rules that only one of the databases can be asked to keep.
macro_rules! on_sqlite {
    ($($rule:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $rule() { crate::harness::hold($crate::harness::Database::sqlite(), super::$rule); })+
        }
    };
}

macro_rules! on_postgres {
    ($($rule:ident),+ $(,)?) => {
        mod postgres {
            $(#[test] fn $rule() { crate::harness::hold($crate::harness::Database::postgres(), super::$rule); })+
        }
    };
}

/// Runs a rule against a database of its own, which goes when the rule is done or has failed.
pub fn hold(database: Database, rule: impl AsyncFnOnce(&Database)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let held = tokio::time::timeout(PATIENCE, rule(&database)).await;
        assert!(held.is_ok(), "the rule was not done after {PATIENCE:?}");
    });
}

/// A queue of any name.
pub struct Named(pub &'static str);

impl QueueName for Named {
    fn queue_name(&self) -> &'static str {
        self.0
    }
}

/// An empty database, deleted when dropped.
pub struct Database {
    pub url: String,
    home: Home,
}

enum Home {
    Sqlite(TempDir),
    Postgres { admin: String, name: String },
}

impl Database {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("store.db").display());
        Database { url, home: Home::Sqlite(folder) }
    }

    pub fn postgres() -> Self {
        Self::postgres_with("")
    }

    /// A database on PostgreSQL, created with further settings.
    pub fn postgres_with(settings: &str) -> Self {
        let Ok(admin) = env::var(POSTGRES) else {
            panic!("{POSTGRES} names no PostgreSQL: run scripts/test, which starts one and sets it")
        };
        let name = unique_name();
        administer(&admin, &format!("CREATE DATABASE {name} TEMPLATE template0 {settings}"));
        Database { url: with_database(&admin, &name), home: Home::Postgres { admin, name } }
    }

    /// Opens the store with the tables these tests use.
    pub fn open(&self) -> Store {
        self.open_with(&StoreOptions { silence: PATIENCE, ..StoreOptions::default() })
    }

    pub fn open_with(&self, options: &StoreOptions) -> Store {
        Store::open(&self.url, options, SCHEMA).unwrap()
    }

    /// The names of all tables, seen past the store.
    pub fn tables(&self) -> Vec<String> {
        match &self.home {
            Home::Sqlite(folder) => {
                let file = rusqlite::Connection::open(folder.path().join("store.db")).unwrap();
                let mut query =
                    file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
                query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            }
            Home::Postgres { .. } => apart(|| {
                let mut client = Client::connect(&self.url, NoTls).unwrap();
                let query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
                client.query(query, &[]).unwrap().iter().map(|row| row.get(0)).collect()
            }),
        }
    }

    /// How a client reaches the server itself.
    pub fn server(&self) -> postgres::Config {
        self.url.parse().unwrap()
    }

    /// Runs statements past the store, on PostgreSQL's administrative database.
    pub fn administer(&self, sql: &str) {
        match &self.home {
            Home::Sqlite(_) => panic!("SQLite has no administrator"),
            Home::Postgres { admin, .. } => administer(admin, sql),
        }
    }

    /// The name PostgreSQL knows the database by.
    pub fn name(&self) -> &str {
        match &self.home {
            Home::Sqlite(_) => panic!("SQLite databases have no name"),
            Home::Postgres { name, .. } => name,
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Home::Postgres { admin, name } = &self.home {
            administer(admin, &format!("DROP DATABASE {name} WITH (FORCE)"));
        }
    }
}

fn administer(admin: &str, sql: &str) {
    apart(|| Client::connect(admin, NoTls).unwrap().batch_execute(sql).unwrap());
}

/// Runs blocking work on a thread of its own: the client cannot be used inside a runtime.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join()).expect("the work beside the test succeeds")
}

fn unique_name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    format!("mailroom_test_{}_{made}_{now}", process::id())
}

/// The same server, another database.
fn with_database(url: &str, name: &str) -> String {
    let (place, settings) = match url.split_once('?') {
        Some((place, settings)) => (place, format!("?{settings}")),
        None => (url, String::new()),
    };
    let (server, _) = place.rsplit_once('/').expect("the URL names a database");
    format!("{server}/{name}{settings}")
}

pub const SCHEMA: &[Migration] = &[Migration {
    version: 1,
    name: "what the tests write",
    both: "
        CREATE TABLE numbers (n BIGINT PRIMARY KEY) {keyed};
        CREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT NOT NULL) {rows};
        CREATE TABLE samples (
            id BIGINT PRIMARY KEY,
            whole BIGINT, yes BOOLEAN, real DOUBLE, words TEXT, bytes BYTES
        ) {rows};
    ",
    sqlite: "",
    postgres: "",
}];

/// How a closure of these tests fails: with a number of its own, or as the store says.
#[derive(Debug)]
pub enum Failure {
    Own(i64),
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Store(error)
    }
}

pub fn insert(tx: &mut Tx<'_>, n: i64) -> Result<(), StoreError> {
    tx.exec("INSERT INTO numbers (n) VALUES (?1)", &[&n]).map(drop)
}

pub fn numbers(tx: &mut Tx<'_>) -> Result<Vec<i64>, StoreError> {
    let rows: Vec<(i64,)> = tx.all("SELECT n FROM numbers ORDER BY n", &[])?;
    Ok(rows.into_iter().map(|(n,)| n).collect())
}

/// Every number that is durable.
pub async fn stored(store: &Store) -> Vec<i64> {
    store.read(numbers).await.unwrap()
}

/// What is stored when nothing is.
pub const NONE: [i64; 0] = [];
