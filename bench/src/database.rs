//! The databases that are filled and measured.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use db::DatabaseUrl;
use postgres::{Client, NoTls};
use rusqlite::Connection;

/// How long a SQLite file may stay in use after the last write.
const CLOSING: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

impl DatabaseKind {
    pub fn name(self) -> &'static str {
        match self {
            DatabaseKind::Sqlite => "sqlite",
            DatabaseKind::Postgres => "postgres",
        }
    }
}

/// Which databases are measured.
#[derive(Args, Clone, Debug)]
pub struct Databases {
    /// The databases to measure [default: sqlite, and postgres where --postgres is given]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    databases: Vec<DatabaseKind>,
    /// A PostgreSQL in which databases can be made, as postgres://user@host/database
    #[arg(long, env = "MAILROOM_BENCH_POSTGRES", value_name = "URL")]
    postgres: Option<String>,
}

impl Databases {
    pub fn kinds(&self) -> Vec<DatabaseKind> {
        match (self.databases.as_slice(), &self.postgres) {
            ([], None) => vec![DatabaseKind::Sqlite],
            ([], Some(_)) => vec![DatabaseKind::Sqlite, DatabaseKind::Postgres],
            (chosen, _) => chosen.to_vec(),
        }
    }

    /// Where databases can be made.
    pub fn postgres(&self) -> Option<&str> {
        self.postgres.as_deref()
    }
}

/// Makes an empty database beside the one that the URL names; answers its URL.
pub fn create_postgres(admin: &str, name: &str) -> Result<String, String> {
    let mut client = connect(admin)?;
    for sql in [
        format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"),
    ] {
        client.batch_execute(&sql).map_err(|error| error.to_string())?;
    }
    Ok(beside(admin, name))
}

/// A PostgreSQL database that is dropped with this.
pub struct Passing {
    admin: String,
    name: String,
}

impl Passing {
    pub fn new(admin: &str, name: &str) -> Passing {
        Passing { admin: admin.to_owned(), name: name.to_owned() }
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let dropped = connect(&self.admin)
            .and_then(|mut client| client.batch_execute(&sql).map_err(|error| error.to_string()));
        if let Err(error) = dropped {
            eprintln!("the database {} is left behind: {error}", self.name);
        }
    }
}

/// Waits until nobody is connected to a database any more: what a killed process had asked of
/// PostgreSQL is still finished. SQLite has no one else.
pub fn wait_until_left(url: &str) -> Result<(), String> {
    let DatabaseUrl::Postgres(url) = DatabaseUrl::parse(url).map_err(|error| error.to_string())?
    else {
        return Ok(());
    };
    let mut client = connect(&url)?;
    let started = Instant::now();
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
               AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    loop {
        let row = client.query_one(sql, &[]).map_err(|error| error.to_string())?;
        if row.get::<_, i64>(0) == 0 {
            return Ok(());
        }
        if started.elapsed() > CLOSING {
            return Err("the database is still in use".into());
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The same server, another database: the path of the URL.
pub fn beside(admin: &str, name: &str) -> String {
    let (url, query) = admin.split_once('?').unwrap_or((admin, ""));
    let server = url.rsplit_once('/').map_or(url, |(server, _)| server);
    match query {
        "" => format!("{server}/{name}"),
        query => format!("{server}/{name}?{query}"),
    }
}

/// Brings a database that was just filled to the state it would come to by itself.
pub fn settle(url: &str) -> Result<(), String> {
    match DatabaseUrl::parse(url).map_err(|error| error.to_string())? {
        DatabaseUrl::Sqlite(path) => {
            let file = Connection::open(&path).map_err(|error| error.to_string())?;
            merge_words(&file).map_err(|error| error.to_string())?;
            check_point(&file, &path)
        }
        DatabaseUrl::Postgres(url) => {
            let mut client = connect(&url)?;
            for sql in ["VACUUM ANALYZE", "CHECKPOINT"] {
                client.batch_execute(sql).map_err(|error| error.to_string())?;
            }
            Ok(())
        }
    }
}

/// Lets PostgreSQL see how large its tables have become. SQLite does not ask.
pub fn count_tables(url: &str) -> Result<(), String> {
    match DatabaseUrl::parse(url).map_err(|error| error.to_string())? {
        DatabaseUrl::Sqlite(_) => Ok(()),
        DatabaseUrl::Postgres(url) => {
            connect(&url)?.batch_execute("ANALYZE").map_err(|error| error.to_string())
        }
    }
}

/// Puts the word index together, as the server does whenever it has time.
fn merge_words(file: &Connection) -> rusqlite::Result<()> {
    file.busy_timeout(CLOSING)?;
    loop {
        let before = file.total_changes();
        file.execute("INSERT INTO message_index (message_index, rank) VALUES ('merge', 1000)", [])?;
        // Fewer than two mean that nothing was left to do.
        if file.total_changes() < before + 2 {
            return Ok(());
        }
    }
}

/// Moves what is in the write-ahead log to its place in the file.
fn check_point(file: &Connection, path: &Path) -> Result<(), String> {
    let started = Instant::now();
    loop {
        let busy: i64 = file
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(|error| error.to_string())?;
        if busy == 0 {
            return Ok(());
        }
        if started.elapsed() > CLOSING {
            return Err(format!("{} is still in use", path.display()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a database takes on disk.
pub fn bytes(url: &str) -> Result<u64, String> {
    match DatabaseUrl::parse(url).map_err(|error| error.to_string())? {
        DatabaseUrl::Sqlite(path) => {
            Ok(std::fs::metadata(&path).map_err(|error| error.to_string())?.len())
        }
        DatabaseUrl::Postgres(url) => {
            let sql = "SELECT pg_database_size(current_database())";
            let row = connect(&url)?.query_one(sql, &[]).map_err(|error| error.to_string())?;
            Ok(row.get::<_, i64>(0).unsigned_abs())
        }
    }
}

/// Runs statements, each as the one database and as the other says it.
pub fn change(url: &str, sqlite: &str, postgres: &str) -> Result<(), String> {
    match DatabaseUrl::parse(url).map_err(|error| error.to_string())? {
        DatabaseUrl::Sqlite(path) => {
            let file = Connection::open(&path).map_err(|error| error.to_string())?;
            file.busy_timeout(CLOSING).map_err(|error| error.to_string())?;
            file.execute_batch(sqlite).map_err(|error| error.to_string())
        }
        DatabaseUrl::Postgres(url) => {
            connect(&url)?.batch_execute(postgres).map_err(|error| error.to_string())
        }
    }
}

/// The texts that a query finds, in one column. The server may be running.
pub fn texts(url: &str, sql: &str) -> Result<Vec<String>, String> {
    match DatabaseUrl::parse(url).map_err(|error| error.to_string())? {
        DatabaseUrl::Sqlite(path) => {
            let read = || -> rusqlite::Result<Vec<String>> {
                let file = Connection::open(&path)?;
                file.busy_timeout(CLOSING)?;
                let mut query = file.prepare(sql)?;
                query.query_map([], |row| row.get(0))?.collect()
            };
            read().map_err(|error| error.to_string())
        }
        DatabaseUrl::Postgres(url) => {
            let rows = connect(&url)?.query(sql, &[]).map_err(|error| error.to_string())?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        }
    }
}

fn connect(url: &str) -> Result<Client, String> {
    Client::connect(url, NoTls).map_err(|error| format!("PostgreSQL cannot be reached: {error}"))
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn another_database_of_the_same_server_has_the_same_url_but_for_its_path() {
        assert_eq!(beside("postgres://u@%2Ftmp/postgres", "b"), "postgres://u@%2Ftmp/b");
        assert_eq!(beside("postgres://u@h/p?sslmode=x", "b"), "postgres://u@h/b?sslmode=x");
    }
}
