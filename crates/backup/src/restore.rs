//! Puts a backup back into an empty installation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use base::files::blobs::Blobs;
use base::files::private_files::{file_options, make_folder};
use base::ids::Ids;
use db::{Store, StoreOptions};
use maintenance::load;
use model::installation::QuietReason;
use node::node_files::adopt_blobs;
use node::vault::KEY_FILE;
use sha2::{Digest, Sha256};

use super::damage::{DamagedFile, FileFault, damaged_files};
use super::manifest::{BackupManifest, manifest_name};
use super::place::BackupPlace;
use super::stored_backup::{HashingReader, ScannedTables, StoredBackup, StoredFault, with_others};
use super::stored_key::{NODE_FILES, is_key};
use super::{hex, run_blocking};

/// How a key that was in the data folder before is called afterwards.
const OLD_KEY: &str = "secret.key.before-restore";
const NOT_RESTORED: &str = "The backup could not be restored";

/// Where a backup is put back.
#[derive(Clone)]
pub struct RestoreTarget {
    pub database_url: String,
    pub data: PathBuf,
    pub blobs: Blobs,
    /// The folder of the blobs, where they are in one.
    pub blobs_folder: PathBuf,
}

/// What happens where a backup is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Nothing is put back.
    Refuse,
    /// Everything that is whole is put back.
    Skip,
}

/// A backup that was put back.
pub struct Restored {
    pub manifest: BackupManifest,
    pub damage: BackupDamage,
    /// Blobs that were erased while the backup was written, which is no damage.
    pub erased: Vec<String>,
}

/// What of a backup is not whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupDamage {
    /// Blobs.
    pub files: Vec<DamagedFile>,
    /// Sentences about other pieces.
    pub pieces: Vec<String>,
}

impl BackupDamage {
    pub fn is_none(&self) -> bool {
        self.files.is_empty() && self.pieces.is_empty()
    }
}

/// Why nothing was put back.
pub enum RestoreFailure {
    Refused(String),
    /// It is not whole, and was not to be put back as it is.
    Damaged(Box<BackupManifest>, BackupDamage),
    /// Neither it nor the target has the key that its secrets were sealed with; the sentence says what to do.
    KeyLost(Box<BackupManifest>, BackupDamage, String),
}

impl From<String> for RestoreFailure {
    fn from(sentence: String) -> RestoreFailure {
        RestoreFailure::Refused(sentence)
    }
}

/// Fills the target's database, its folder of blobs and its key. The search index is empty afterwards. Rows and key
/// are touched only once everything was read: what failed before can be repeated.
pub async fn restore(
    place: &BackupPlace,
    at: Option<&str>,
    passphrase: Option<&str>,
    target: &RestoreTarget,
    on_damage: OnDamage,
    now: i64,
) -> Result<Restored, RestoreFailure> {
    let (at, passphrase) = (at.map(str::to_owned), passphrase.map(str::to_owned));
    let found = place.clone();
    let found = move || StoredBackup::find(&found, at.as_deref(), passphrase.as_deref());
    let backup = run_blocking(found).await??;
    if let Some(slug) = &backup.manifest.workspace {
        return Err(RestoreFailure::Refused(format!(
            "The backup {} holds the workspace {slug} alone. `mailroom workspace restore` restores it.",
            backup.manifest.name
        )));
    }
    let store = open_target(target, backup.manifest.schema)?;
    // Before anything of an installation in use is touched.
    if !store.read(load::is_empty).await.map_err(|error| error.to_string())? {
        return Err(RestoreFailure::Refused(
            "There is a workspace in this database already. Restore into an empty one: name another \
             with --data or --database-url."
                .into(),
        ));
    }
    let (copied, to) = (backup.clone(), target.clone());
    let copying = run_blocking(move || copy_blobs(&copied, &to.blobs));
    let CopiedBackup { tables, damage, erased } = copying.await??;
    if on_damage == OnDamage::Refuse && !damage.is_none() {
        return Err(RestoreFailure::Damaged(Box::new(backup.manifest), damage));
    }
    let (keyed, to, check) = (backup.clone(), target.clone(), tables.key_check);
    let key = run_blocking(move || restore_key(&keyed, &to, check.as_deref(), on_damage));
    if !key.await?.map_err(super::with_context(NOT_RESTORED))? {
        let sentence = about_lost_key(&backup.manifest, target);
        return Err(RestoreFailure::KeyLost(Box::new(backup.manifest), damage, sentence));
    }
    fill(&store, tables.file, &backup, now).await?;
    if backup.manifest.tables.contains_key(NODE_FILES) {
        let to = target.clone();
        let adopt = move || adopt_blobs(&to.blobs_folder, &to.blobs, &store, &Ids::random());
        run_blocking(adopt).await??;
    }
    Ok(Restored { manifest: backup.manifest, damage, erased })
}

/// Opens a database that nobody has worked with, at the schema of the backup.
fn open_target(target: &RestoreTarget, schema: i64) -> Result<Store, String> {
    make_folder(&target.data).map_err(|error| format!("{}: {error}", target.data.display()))?;
    let steps = model::schema::MIGRATIONS.iter().filter(|step| step.version <= schema);
    let steps: Vec<db::Migration> = steps.copied().collect();
    Store::open(&target.database_url, &StoreOptions::default(), &steps).map_err(|error| match error
    {
        db::StoreError::TooNew { .. } => {
            "This database has a newer schema than the backup. Restore into a new database; it is \
             brought up to date afterwards."
                .to_owned()
        }
        error => format!("the database cannot be opened: {error}"),
    })
}

/// A backup whose blobs are in the target.
struct CopiedBackup {
    tables: ScannedTables,
    damage: BackupDamage,
    erased: Vec<String>,
}

/// Copies the blobs that are whole.
fn copy_blobs(backup: &StoredBackup, blobs: &Blobs) -> Result<CopiedBackup, String> {
    let told =
        super::with_context("The backup cannot be read at present, and nothing was restored");
    let tables = backup.scan_tables().map_err(|fault| match fault {
        StoredFault::Place(error) => told(error),
        StoredFault::Lost(sentence) => {
            let names = backup.place.list().unwrap_or_default();
            let names: Vec<String> =
                names.iter().filter_map(|file| manifest_name(file)).map(str::to_owned).collect();
            with_others(&sentence, &backup.manifest.name, &names)
        }
    })?;
    let (pieces, contents) = (backup.small_faults(Some(&tables)).map_err(&told)?, &tables.contents);
    let mut faults: BTreeMap<String, FileFault> =
        contents.damaged.iter().map(|hash| (hash.clone(), FileFault::Damaged)).collect();
    let there: BTreeSet<String> = backup.place.blobs().map_err(&told)?.into_iter().collect();
    for hash in &contents.files {
        match backup.read_blob(&there, hash).map_err(&told)? {
            Ok(packed) => {
                blobs.replace_file(hash, &packed).map_err(super::with_context(NOT_RESTORED))?
            }
            Err(fault) => drop(faults.insert(hash.clone(), fault)),
        }
    }
    for upload in &contents.uploads {
        match backup.read_blob(&there, upload.as_str()).map_err(&told)? {
            Ok(bytes) => {
                let adopted = blobs.partial_uploads().adopt(upload, &bytes);
                adopted.map_err(super::with_context(NOT_RESTORED))?;
            }
            Err(fault) => drop(faults.insert(upload.as_str().to_owned(), fault)),
        }
    }
    let erased = backup.take_erased(&mut faults);
    let uses = match faults.is_empty() {
        true => BTreeMap::new(),
        false => backup.uses(&tables.file, faults.keys().cloned().collect()).unwrap_or_default(),
    };
    let damage = BackupDamage { files: damaged_files(faults, uses), pieces };
    Ok(CopiedBackup { tables, damage, erased })
}

/// Puts the key back, where the backup has one that is whole. False where the target has no key to go on with.
fn restore_key(
    backup: &StoredBackup,
    target: &RestoreTarget,
    check: Option<&str>,
    on_damage: OnDamage,
) -> io::Result<bool> {
    let secret = match backup.read_key(check) {
        Ok(secret) => secret,
        // It was named before, and is skipped.
        Err(error) if FileFault::of(&error).is_some() => None,
        Err(error) => return Err(error),
    };
    match secret {
        Some(secret) => write_key(&secret, target).map(|()| true),
        // Nothing in the tables asks for it.
        None if check.is_none() => Ok(true),
        None => match fs::read(target.data.join(KEY_FILE)) {
            // Whoever lost the key for good gets the tables with another one.
            Ok(here) => Ok(on_damage == OnDamage::Skip || is_key(&here, check)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        },
    }
}

fn about_lost_key(manifest: &BackupManifest, target: &RestoreTarget) -> String {
    let (name, data) = (&manifest.name, target.data.display());
    format!(
        "The backup {name} does not hold the {KEY_FILE} that its secrets were sealed with, neither does {data}, \
         and nothing was restored. Put the {KEY_FILE} of that server into {data}, then restore again."
    )
}

fn write_key(secret: &[u8], target: &RestoreTarget) -> io::Result<()> {
    let path = target.data.join(KEY_FILE);
    match fs::read(&path) {
        Ok(here) if here == secret => return Ok(()),
        Ok(_) => fs::rename(&path, target.data.join(OLD_KEY))?,
        Err(_) => {}
    }
    let mut file = file_options().write(true).create_new(true).open(&path)?;
    io::Write::write_all(&mut file, secret)?;
    file.sync_all()
}

async fn fill(
    store: &Store,
    mut tables: File,
    backup: &StoredBackup,
    now: i64,
) -> Result<(), String> {
    let backup = backup.clone();
    let trouble = Arc::new(Mutex::new(None));
    let noted = trouble.clone();
    let filled = store
        .write(move |tx| {
            let result = load_file(tx, &mut tables, &backup, now);
            match result {
                Ok(loaded) if loaded == backup.manifest.tables => Ok(()),
                Ok(_) => Err(damaged_error()),
                Err(error) => {
                    if let base::error::Error::Files(error) = &error {
                        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                        *noted = Some(error.to_string());
                    }
                    Err(error)
                }
            }
        })
        .await;
    filled.map_err(|error| {
        let trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        let why = trouble.unwrap_or_else(|| match error {
            base::error::Error::Store(cause) => cause.to_string(),
            error => error.to_string(),
        });
        format!("{NOT_RESTORED}: {why}")
    })
}

fn load_file(
    tx: &mut db::Tx<'_>,
    file: &mut File,
    backup: &StoredBackup,
    now: i64,
) -> base::error::Result<BTreeMap<String, u64>> {
    // The transaction may have begun before.
    file.seek(SeekFrom::Start(0))?;
    let mut hashed = HashingReader { input: file, hash: Sha256::new() };
    let loaded = load::load(tx, &mut *backup.lines(&mut hashed)?, QuietReason::Restored, now)?;
    io::copy(&mut hashed, &mut io::sink())?;
    if hex(&hashed.hash.finalize()) != backup.manifest.tables_sha256 {
        return Err(damaged_error());
    }
    Ok(loaded.tables)
}

fn damaged_error() -> base::error::Error {
    base::error::Error::Conflict(
        "This backup cannot be restored: it is damaged or incomplete.".into(),
    )
}
