//! One server at a time works on a data folder and on an SQLite database: the lock that holds this, and what is left to
//! do once a process has done its work there.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use base::files::private_files::{file_options, make_folder};
use db::{DatabaseUrl, Store, StoreError};

/// The file in the data folder that a server locks, and what the name of the one beside a database ends with.
const LOCK_FILE: &str = "server.lock";
const LOCK_ENDING: &str = ".server.lock";
/// Attempts to lock, and the pause between them.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);
/// The longest that the file says.
const HOLDER_BYTES: u64 = 32;

/// The locks of a process that works alone on a folder and a database. The system releases them when it ends, however
/// it ends.
#[derive(Debug)]
pub struct DataLock {
    _files: Vec<File>,
}

impl DataLock {
    /// Takes the locks; the sentence says who has them. Commands beside a server need none.
    pub fn take(data: &Path, database_url: &str) -> Result<DataLock, String> {
        make_folder(data).map_err(|error| format!("{}: {error}", data.display()))?;
        let mut files = Vec::new();
        for (path, what) in lock_files(data, database_url) {
            files.extend(take_one(&path, &what)?);
        }
        Ok(DataLock { _files: files })
    }
}

/// What is locked, and how people name it. A data folder belongs to one process with any database: nodes of one
/// PostgreSQL have a folder each.
fn lock_files(data: &Path, database_url: &str) -> Vec<(PathBuf, String)> {
    let mut files = vec![(data.join(LOCK_FILE), format!("the data folder {}", data.display()))];
    if let Some(path) = sqlite_path(database_url) {
        let mut name: OsString = path.clone().into_os_string();
        name.push(LOCK_ENDING);
        // Where there is no folder, whoever opens the database says so.
        if path.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir()) {
            files.push((name.into(), format!("the database {}", path.display())));
        }
    }
    files
}

fn sqlite_path(database_url: &str) -> Option<PathBuf> {
    match DatabaseUrl::parse(database_url) {
        Ok(DatabaseUrl::Sqlite(path)) => Some(path),
        _ => None,
    }
}

fn take_one(path: &Path, what: &str) -> Result<Option<File>, String> {
    let opened = file_options().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = opened.map_err(|error| format!("{}: {error}", path.display()))?;
    let mut attempts = 1;
    let locked = loop {
        match file.try_lock() {
            // A command that ends looks for a moment whether a server runs.
            Err(TryLockError::WouldBlock) if attempts < ATTEMPTS => {
                attempts += 1;
                thread::sleep(PAUSE);
            }
            locked => break locked,
        }
    };
    match locked {
        Ok(()) => {
            // Who holds it is only said; the lock counts without it.
            let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Err(format!(
            "Another process of Mailroom{} works on {what}. Stop it first, or name another folder with --data.",
            holder(&mut file)
        )),
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, "{what} cannot be locked: take care that no second server is started on it");
            Ok(None)
        }
    }
}

/// The process that has a lock.
fn holder(file: &mut File) -> String {
    let mut said = String::new();
    let read = file.take(HOLDER_BYTES).read_to_string(&mut said);
    match (read, said.trim().parse::<u32>()) {
        (Ok(_), Ok(process)) => format!(", number {process},"),
        _ => String::new(),
    }
}

/// Leaves an SQLite database as the one file that whoever copies it expects. Where a server runs, it does so when it
/// stops.
pub fn settle_database(database_url: &str, data: &Path) {
    let Some(path) = sqlite_path(database_url) else { return };
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    let has_log = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    if !has_log || is_served(data, database_url) {
        return;
    }
    match Store::checkpoint(&path) {
        Ok(()) | Err(StoreError::Busy) => {}
        Err(error) => {
            tracing::warn!(%error, "the log of the database could not be moved into its file")
        }
    }
}

/// True while a server has a lock.
fn is_served(data: &Path, database_url: &str) -> bool {
    lock_files(data, database_url).iter().any(|(path, _)| {
        let file = File::open(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    })
}
