//! Whether this process can still write: to its database, its data folder and its folder of blobs.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::app::App;
use model::installation::node_files::write_time;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::blob_health::{BlobHealth, SILENT};

/// The free disk space that readiness requires, in bytes.
pub const FREE_BYTES_LEAST: u64 = 64 * 1024 * 1024;
/// The minimum interval between write tests.
const TRIED_EVERY: Duration = Duration::from_secs(5);
/// A disk that takes longer does not work.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a write test.
const TRIAL_BYTES: usize = 4_096;
/// The file that is written, and removed.
const TRIAL_FILE: &str = "write-trial";

/// Tries to write, and remembers the outcome for a while.
pub struct StorageCheck {
    app: App,
    folders: Vec<Folder>,
    free_least: u64,
    last: Mutex<Option<(Instant, Result<(), String>)>>,
    blobs: BlobHealth,
}

/// A folder that must be writable, and what it is called.
#[derive(Clone)]
struct Folder {
    name: &'static str,
    path: PathBuf,
}

impl StorageCheck {
    pub fn new(app: App, data: &Path, blobs: &Path, free_least: u64) -> StorageCheck {
        let (folders, health) = (folders(data, blobs), BlobHealth::of(&app.blobs));
        StorageCheck { app, folders, free_least, last: Mutex::default(), blobs: health }
    }

    /// What is wrong with a store of blobs that several nodes share.
    pub async fn blob_store_problem(&self) -> Option<&'static str> {
        (self.blobs.is_up().await == Some(false)).then_some(SILENT)
    }

    /// `Err` says what cannot be written, without naming a path.
    pub async fn outcome(&self) -> Result<(), String> {
        let mut last = self.last.lock().await;
        if let Some((at, outcome)) = &*last
            && at.elapsed() < TRIED_EVERY
        {
            return outcome.clone();
        }
        let tried = timeout(PATIENCE, self.try_all()).await;
        let outcome = tried.unwrap_or_else(|_| Err("writing takes too long".into()));
        let before = last.replace((Instant::now(), outcome.clone())).map(|(_, before)| before);
        match (&outcome, before.unwrap_or(Ok(()))) {
            (Err(problem), before) if before.as_ref() != Err(problem) => {
                tracing::error!(problem, "storage check failed");
            }
            (Ok(()), Err(_)) => tracing::warn!("storage check passes again"),
            _ => {}
        }
        outcome
    }

    async fn try_all(&self) -> Result<(), String> {
        let (folders, free_least) = (self.folders.clone(), self.free_least);
        let tried = tokio::task::spawn_blocking(move || {
            folders.iter().try_for_each(|folder| folder.try_out(free_least))
        });
        tried.await.map_err(|_| "writing could not be tried".to_owned())??;
        let now = self.app.clock.now();
        let written = self.app.store.write(move |tx| write_time(tx, now)).await;
        written.map_err(|error| match error {
            base::error::Error::Store(cause) => format!("the database cannot be written: {cause}"),
            error => format!("the database cannot be written: {error}"),
        })
    }
}

impl Folder {
    fn try_out(&self, free_least: u64) -> Result<(), String> {
        let told = |error: io::Error| format!("the {} cannot be written: {error}", self.name);
        let free = free_bytes(&self.path).map_err(told)?;
        if free < free_least {
            return Err(format!("the {} has only {} MB free", self.name, free / (1024 * 1024)));
        }
        write_trial(&self.path).map_err(told)
    }
}

/// Refuses to start when a folder is not writable, with a remedy.
pub fn require_writable(data: &Path, blobs: &Path) -> Result<(), String> {
    for folder in folders(data, blobs) {
        let made = fs::create_dir_all(&folder.path).and_then(|()| write_trial(&folder.path));
        made.map_err(|error| {
            format!(
                "The {} {} cannot be written: {error}. Mailroom keeps mail and keys there. Mount \
                 it writable, or name another with --data or --blobs.",
                folder.name,
                folder.path.display()
            )
        })?;
    }
    Ok(())
}

fn folders(data: &Path, blobs: &Path) -> Vec<Folder> {
    let folder = |name, path: &Path| Folder { name, path: path.to_owned() };
    vec![folder("data folder", data), folder("folder of blobs", blobs)]
}

pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// A full disk may show only at fsync. Every process has a file of its own.
fn write_trial(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!("{TRIAL_FILE}.{}", std::process::id()));
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(&[0; TRIAL_BYTES])?;
        file.sync_all()
    });
    let removed = fs::remove_file(&path);
    written.and(removed)
}
