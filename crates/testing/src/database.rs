//! A fresh database for each test, on SQLite or PostgreSQL.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use db::{Migration, Store, StoreOptions};
use postgres::{Client, Config, NoTls};

/// The databases that every rule holds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// Where the private PostgreSQL of a test run listens.
const VARIABLE: &str = "MAILROOM_TEST_POSTGRES";

/// A test's own database, gone when the test is over.
pub struct Database {
    pub url: String,
    postgres: Option<(String, String)>,
}

impl Database {
    pub fn new(backend: Backend, folder: &Path) -> Database {
        match backend {
            Backend::Sqlite => {
                let file = folder.join("test.db");
                copy_sqlite(&ensure_sqlite_template(), &file);
                Database { url: sqlite_url(&file), postgres: None }
            }
            Backend::Postgres => new_postgres_database(),
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
    Store::open(url, &options, inbox::MIGRATIONS).unwrap()
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some((admin, name)) = &self.postgres {
            let dropped =
                connect(admin).batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"));
            if let Err(error) = dropped {
                eprintln!("{name} could not be dropped: {error}");
            }
        }
    }
}

fn new_postgres_database() -> Database {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let admin = std::env::var(VARIABLE)
        .unwrap_or_else(|_| panic!("{VARIABLE} is not set; run the tests with scripts/test"));
    let mut client = connect(&admin);
    let template = ensure_postgres_template(&admin, &mut client);
    let name = format!("t_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).unwrap();
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).unwrap();
    Database { url: in_database(&admin, &name), postgres: Some((admin, name)) }
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
        Store::open(&sqlite_url(&file), &StoreOptions::default(), inbox::MIGRATIONS).unwrap();
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

/// A name for today's schema.
fn template_name(own: impl Fn(&Migration) -> &'static str) -> String {
    let mut schema = DefaultHasher::new();
    for step in inbox::MIGRATIONS {
        (step.both, own(step)).hash(&mut schema);
    }
    format!("template_{:x}", schema.finish())
}

/// A database with today's schema that each test's own is copied from. The first test makes it,
/// the others wait for that.
fn ensure_postgres_template(admin: &str, client: &mut Client) -> String {
    let template = template_name(|step| step.postgres);
    client.batch_execute("SELECT pg_advisory_lock(1)").unwrap();
    let known = "SELECT 1 FROM pg_database WHERE datname = $1 AND NOT datallowconn";
    if client.query(known, &[&template]).unwrap().is_empty() {
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {template} WITH (FORCE)")).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {template} TEMPLATE template0")).unwrap();
        let url = in_database(admin, &template);
        Store::open(&url, &StoreOptions::default(), inbox::MIGRATIONS).unwrap();
        client
            .batch_execute(&format!(
                "ALTER DATABASE {template} WITH ALLOW_CONNECTIONS false;
                 SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                 WHERE datname = '{template}'"
            ))
            .unwrap();
    }
    client.batch_execute("SELECT pg_advisory_unlock(1)").unwrap();
    template
}

fn connect(url: &str) -> Client {
    url.parse::<Config>().unwrap().connect(NoTls).unwrap()
}

/// The same server, another database: the path of the URL.
fn in_database(admin: &str, name: &str) -> String {
    let (server, _) = admin.rsplit_once('/').expect("a URL with a database");
    format!("{server}/{name}")
}
