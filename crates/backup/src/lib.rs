//! Backups: what they consist of, writing one, and putting one back.
//!
//! A place holds any number of backups. Each has three files that carry its name: the tables, the list
//! of its blobs, and a manifest, which is written last: without it there is no backup. The blobs of all
//! backups lie together, so that a further one adds only those that are new. A sealed place is the same
//! with every file but the manifests encrypted.

mod bucket_place;
mod damage;
mod folder_place;
mod keep;
mod manifest;
mod place;
mod place_files;
mod place_writer;
mod restore;
mod restore_workspace;
mod scheduled;
mod seal;
mod stored_backup;
mod stored_key;
mod timing;
mod verify;
mod write;

pub use damage::{DamagedFile, FileFault, name_damaged};
pub use keep::KeepRule;
pub use manifest::BackupManifest;
pub use place::BackupPlace;
pub use restore::{BackupDamage, OnDamage, RestoreFailure, RestoreTarget, Restored, restore};
pub use restore_workspace::{
    RestoredWorkspace, WorkspaceRestore, WorkspaceRestoreFailure, open_workspace, restore_workspace,
};
pub use scheduled::{BackupRunner, BackupSettings};
pub use timing::BackupTiming;
pub use verify::{BackupVerification, VerifiedBackups, verify_backups};
pub use write::{BackupSource, WrittenBackup, write_backup};

use std::io;
use std::path::Path;
use std::sync::Arc;

use manifest::{LAYOUT, PlaceFile};
use seal::PlaceKey;

/// Told how many blobs are looked at, and of how many.
pub type BackupProgress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// The passphrase in a file: its first line.
pub fn read_passphrase(file: &Path) -> Result<String, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(format!("{}: must hold a passphrase in its first line", file.display()));
    }
    Ok(line.to_owned())
}

/// The key of a place that is there; a sealed one needs its passphrase.
fn open_place(said: &[u8], passphrase: Option<&str>) -> Result<Option<PlaceKey>, String> {
    let file: PlaceFile = serde_json::from_slice(said)
        .map_err(|_| "The place of backups is damaged, or of a newer version.".to_owned())?;
    if file.mailroom_backups != LAYOUT {
        return Err("These backups were written by a newer version of Mailroom.".into());
    }
    match (file.sealed, passphrase) {
        (Some(sealed), Some(passphrase)) => PlaceKey::open(passphrase, &sealed).map(Some),
        (Some(_), None) => Err("These backups are sealed: give their passphrase with \
                                --passphrase-file."
            .into()),
        (None, Some(_)) => Err("The backups there are not sealed. Use another place for sealed \
                                ones, or leave --passphrase-file out."
            .into()),
        (None, None) => Ok(None),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn with_context(what: &str) -> impl Fn(io::Error) -> String {
    move |error| format!("{what}: {error}")
}

/// Runs what blocks on a thread of its own; what a panic leaves is a sentence.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())
}
