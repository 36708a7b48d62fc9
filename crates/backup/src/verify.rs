//! Verifies backups where they lie, without restoring them: the tables, and every blob that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

use super::BackupProgress;
use super::damage::{DamagedFile, FileFault, damaged_files};
use super::manifest::{BackupManifest, manifest_file};
use super::place::BackupPlace;
use super::run_blocking;
use super::seal::PlaceKey;
use super::stored_backup::{StoredBackup, StoredFault, list_backups};

/// Which backups of a place are verified.
#[derive(Clone, Debug)]
pub enum VerifiedBackups {
    Newest,
    Named(String),
    All,
}

/// One backup, and what is wrong with it.
pub struct BackupVerification {
    pub name: String,
    /// `None` where it cannot be read.
    pub manifest: Option<BackupManifest>,
    /// Sentences about its manifest, its tables and its other pieces.
    pub faults: Vec<String>,
    /// Blobs that are not whole.
    pub damaged: Vec<DamagedFile>,
    /// Blobs that were erased while it was written, which is no damage.
    pub erased: Vec<String>,
}

impl BackupVerification {
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty() && self.damaged.is_empty()
    }
}

/// Reads everything that the backups hold. An error where the place itself cannot be read.
pub async fn verify_backups(
    place: &BackupPlace,
    which: VerifiedBackups,
    passphrase: Option<&str>,
    progress: BackupProgress,
) -> Result<Vec<BackupVerification>, String> {
    let (place, passphrase) = (place.clone(), passphrase.map(str::to_owned));
    run_blocking(move || verify_all(&place, &which, passphrase.as_deref(), &progress)).await?
}

fn verify_all(
    place: &BackupPlace,
    which: &VerifiedBackups,
    passphrase: Option<&str>,
    progress: &BackupProgress,
) -> Result<Vec<BackupVerification>, String> {
    let (names, key) = list_backups(place, passphrase)?;
    let chosen: Vec<&String> = match which {
        VerifiedBackups::All => names.iter().collect(),
        VerifiedBackups::Newest => names.last().into_iter().collect(),
        VerifiedBackups::Named(at) => names.iter().filter(|name| *name == at).collect(),
    };
    if let (VerifiedBackups::Named(at), []) = (which, &chosen[..]) {
        return Err(format!("There is no backup {at}; there are {}.", names.join(", ")));
    }
    let told = |error: std::io::Error| {
        format!(
            "{}: {error}. Nothing is known of what was not read: verify it again.",
            place.label()
        )
    };
    let there: BTreeSet<String> = place.blobs().map_err(told)?.into_iter().collect();
    let mut blobs = KnownBlobs { there, known: BTreeMap::new(), progress };
    let mut verified = Vec::new();
    for name in chosen {
        let found = verify_one(place, name, key.clone(), &mut blobs).map_err(told)?;
        // One that was removed meanwhile by its rule is no damage.
        let is_gone = !found.is_whole() && is_removed(place, name).map_err(told)?;
        verified.extend((!is_gone).then_some(found));
    }
    Ok(verified)
}

fn is_removed(place: &BackupPlace, name: &str) -> std::io::Result<bool> {
    match place.read(&manifest_file(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) if FileFault::of(&error).is_none() => Err(error),
        _ => Ok(false),
    }
}

/// Blobs lie together: each is read once, however many backups name it.
struct KnownBlobs<'a> {
    there: BTreeSet<String>,
    known: BTreeMap<String, Option<FileFault>>,
    progress: &'a BackupProgress,
}

impl KnownBlobs<'_> {
    /// What is wrong with the blobs of a backup.
    fn read(
        &mut self,
        backup: &StoredBackup,
        named: &[String],
    ) -> std::io::Result<BTreeMap<String, FileFault>> {
        let mut faults = BTreeMap::new();
        for (number, blob) in named.iter().enumerate() {
            (self.progress)(number as u64, named.len() as u64);
            let fault = match self.known.get(blob) {
                Some(fault) => *fault,
                None => {
                    let fault = backup.read_blob(&self.there, blob)?.err();
                    self.known.insert(blob.clone(), fault);
                    fault
                }
            };
            faults.extend(fault.map(|fault| (blob.clone(), fault)));
        }
        Ok(faults)
    }
}

fn verify_one(
    place: &BackupPlace,
    name: &str,
    key: Option<PlaceKey>,
    blobs: &mut KnownBlobs<'_>,
) -> std::io::Result<BackupVerification> {
    let mut found = BackupVerification {
        name: name.to_owned(),
        manifest: None,
        faults: Vec::new(),
        damaged: Vec::new(),
        erased: Vec::new(),
    };
    let backup = match StoredBackup::open(place, name, key) {
        Ok(backup) => backup,
        Err(StoredFault::Place(error)) => return Err(error),
        Err(StoredFault::Lost(sentence)) => {
            found.faults.push(sentence);
            return Ok(found);
        }
    };
    found.manifest = Some(backup.manifest.clone());
    let tables = match backup.scan_tables() {
        Ok(tables) => tables,
        Err(StoredFault::Place(error)) => return Err(error),
        Err(StoredFault::Lost(sentence)) => {
            found.faults = backup.small_faults(None)?;
            found.faults.push(sentence);
            return Ok(found);
        }
    };
    found.faults = backup.small_faults(Some(&tables))?;
    let damaged_rows = tables.contents.damaged.iter();
    let mut faults = blobs.read(&backup, &tables.blobs())?;
    faults.extend(damaged_rows.map(|hash| (hash.clone(), FileFault::Damaged)));
    found.erased = backup.take_erased(&mut faults);
    if !found.erased.is_empty() {
        let blobs = found.erased.join(" ");
        tracing::warn!(backup = name, blobs, "these were erased while the backup was written");
    }
    if !faults.is_empty() {
        let uses = backup.uses(&tables.file, faults.keys().cloned().collect()).unwrap_or_default();
        found.damaged = damaged_files(faults, uses);
    }
    Ok(found)
}
