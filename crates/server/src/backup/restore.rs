//! Puts a backup back into an empty installation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use db::{Store, StoreOptions};
use inbox::base::blobs::Blobs;
use inbox::base::ids::UploadId;
use inbox::base::private_files::{file_options, make_folder};
use inbox::maintenance::load;
use inbox::model::installation::QuietReason;
use sha2::{Digest, Sha256};

use super::manifest::{BackupManifest, PLACE_FILE, manifest_file, manifest_name};
use super::place::BackupPlace;
use super::seal::PlaceKey;
use super::write::hex;
use super::{open_place, read_blob_list, run_blocking};
use crate::node::vault::KEY_FILE;

/// How a key that was in the data folder before is called afterwards.
const OLD_KEY: &str = "secret.key.before-restore";

/// Where a backup is put back.
#[derive(Clone)]
pub struct RestoreTarget {
    pub database_url: String,
    pub data: PathBuf,
    pub blobs: Blobs,
}

/// A backup that was put back.
pub struct Restored {
    pub manifest: BackupManifest,
    /// Blobs that the backup names and does not hold.
    pub missing_blobs: Vec<String>,
}

/// Fills the target's database, its folder of blobs and its key. The search index is empty afterwards.
pub async fn restore(
    place: &BackupPlace,
    at: Option<&str>,
    passphrase: Option<&str>,
    target: &RestoreTarget,
    now: i64,
) -> Result<Restored, String> {
    let (at, passphrase) = (at.map(str::to_owned), passphrase.map(str::to_owned));
    let found = place.clone();
    let (manifest, key) = run_blocking(move || choose(&found, at.as_deref(), passphrase)).await??;
    let store = open_target(target, manifest.schema)?;
    // Before anything of an installation in use is touched.
    if !store.read(load::is_empty).await.map_err(|error| error.to_string())? {
        return Err(
            "There is a workspace in this database already. Restore into an empty one.".into()
        );
    }
    let copying = (place.clone(), key.clone(), manifest.clone(), target.clone());
    let copied = run_blocking(move || copy_files(copying.0, copying.1, copying.2, copying.3));
    let (missing_blobs, tables) =
        copied.await?.map_err(super::told("The backup could not be restored"))?;
    fill(&store, tables, key, &manifest, now).await?;
    Ok(Restored { manifest, missing_blobs })
}

/// The backup that is put back, and the key of a sealed one.
fn choose(
    place: &BackupPlace,
    at: Option<&str>,
    passphrase: Option<String>,
) -> Result<(BackupManifest, Option<PlaceKey>), String> {
    let said = place
        .read(PLACE_FILE)
        .map_err(|error| format!("{} holds no backups of Mailroom: {error}", place.shown()))?;
    let key = open_place(&said, passphrase.as_deref())?;
    let manifest = find(place, at)?;
    let known = inbox::MIGRATIONS.last().map_or(0, |last| last.version);
    if manifest.schema > known {
        return Err(format!(
            "This backup was made by Mailroom {}, which is newer than this one. Restore it with \
             that version or a later one.",
            manifest.version
        ));
    }
    Ok((manifest, key))
}

/// Everything but the rows: the blobs, the key, and the file of tables as one of this machine. Says
/// which blobs are missing.
fn copy_files(
    place: BackupPlace,
    key: Option<PlaceKey>,
    manifest: BackupManifest,
    target: RestoreTarget,
) -> io::Result<(Vec<String>, File)> {
    let missing = copy_blobs(&place, key.as_ref(), &manifest, &target.blobs)?;
    if manifest.has_key {
        restore_key(&place, key.as_ref(), &manifest, &target)?;
    }
    Ok((missing, place.open(&manifest.tables_file())?))
}

/// The newest backup, or the one of this name.
fn find(place: &BackupPlace, at: Option<&str>) -> Result<BackupManifest, String> {
    let files = place.list().map_err(|error| format!("{}: {error}", place.shown()))?;
    let names: Vec<&str> = files.iter().filter_map(|file| manifest_name(file)).collect();
    let found = match at {
        Some(at) => names.iter().find(|name| **name == at),
        None => names.last(),
    };
    let Some(name) = found else {
        return Err(match at {
            Some(at) => format!("There is no backup {at}; there are {}.", names.join(", ")),
            None => format!("There is no complete backup in {}.", place.shown()),
        });
    };
    let text = place.read(&manifest_file(name)).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| format!("The backup {name} is damaged: {error}"))
}

/// Opens a database that nobody has worked with, at the schema of the backup.
fn open_target(target: &RestoreTarget, schema: i64) -> Result<Store, String> {
    make_folder(&target.data).map_err(|error| format!("{}: {error}", target.data.display()))?;
    let steps = inbox::MIGRATIONS.iter().filter(|step| step.version <= schema);
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

fn copy_blobs(
    place: &BackupPlace,
    key: Option<&PlaceKey>,
    manifest: &BackupManifest,
    blobs: &Blobs,
) -> io::Result<Vec<String>> {
    let mut missing = Vec::new();
    let there: BTreeSet<String> = place.blobs()?.into_iter().collect();
    for hash in read_blob_list(place, key, manifest)? {
        let name = key.map_or_else(|| hash.clone(), |key| key.blob_name(&hash));
        if !there.contains(&name) {
            missing.push(hash);
            continue;
        }
        let packed = place.read(&BackupPlace::blob_name(&name))?;
        let packed = unsealed(key, &name, packed)?;
        if let Some(upload) = UploadId::parse(&hash) {
            blobs.partial_uploads().adopt(&upload, &packed)?;
            continue;
        }
        if Blobs::packed_hash(&packed)? != hash {
            return Err(io::Error::other(format!("the blob {hash} is damaged")));
        }
        blobs.adopt_file(&hash, &packed)?;
    }
    Ok(missing)
}

fn restore_key(
    place: &BackupPlace,
    key: Option<&PlaceKey>,
    manifest: &BackupManifest,
    target: &RestoreTarget,
) -> io::Result<()> {
    let name = manifest.key_file();
    let secret = unsealed(key, &name, place.read(&name)?)?;
    let path = target.data.join(KEY_FILE);
    match fs::read(&path) {
        Ok(here) if here == secret => return Ok(()),
        Ok(_) => fs::rename(&path, target.data.join(OLD_KEY))?,
        Err(_) => {}
    }
    let mut file = file_options().write(true).create_new(true).open(&path)?;
    io::Write::write_all(&mut file, &secret)?;
    file.sync_all()
}

async fn fill(
    store: &Store,
    file: File,
    key: Option<PlaceKey>,
    manifest: &BackupManifest,
    now: i64,
) -> Result<(), String> {
    let name = manifest.tables_file();
    let (sha256, tables) = (manifest.tables_sha256.clone(), manifest.tables.clone());
    let trouble = Arc::new(Mutex::new(None));
    let noted = trouble.clone();
    let filled = store
        .write(move |tx| {
            let result = load_file(tx, &file, key.as_ref(), &name, &sha256, now);
            match result {
                Ok(loaded) if loaded == tables => Ok(()),
                Ok(_) => Err(damaged()),
                Err(error) => {
                    if let inbox::Error::Files(error) = &error {
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
        trouble.unwrap_or_else(|| match error {
            inbox::Error::Store(cause) => cause.to_string(),
            error => error.to_string(),
        })
    })
}

fn load_file(
    tx: &mut db::Tx<'_>,
    mut file: &File,
    key: Option<&PlaceKey>,
    name: &str,
    sha256: &str,
    now: i64,
) -> inbox::Result<BTreeMap<String, u64>> {
    // The transaction may have begun before.
    file.seek(SeekFrom::Start(0))?;
    let mut file = HashingReader { input: file, hash: Sha256::new() };
    let contents = match key {
        Some(key) => load_packed(tx, key.unseal(name, BufReader::new(&mut file))?, now)?,
        None => load_packed(tx, &mut file, now)?,
    };
    io::copy(&mut file, &mut io::sink())?;
    if hex(&file.hash.finalize()) != sha256 {
        return Err(damaged());
    }
    Ok(contents)
}

fn load_packed(
    tx: &mut db::Tx<'_>,
    input: impl Read,
    now: i64,
) -> inbox::Result<BTreeMap<String, u64>> {
    let mut lines = BufReader::new(zstd::Decoder::new(input)?);
    Ok(load::load(tx, &mut lines, QuietReason::Restored, now)?.tables)
}

fn damaged() -> inbox::Error {
    inbox::Error::Conflict("This backup cannot be restored: it is damaged or incomplete.".into())
}

pub(super) fn unsealed(key: Option<&PlaceKey>, name: &str, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let Some(key) = key else { return Ok(bytes) };
    let mut opened = Vec::new();
    key.unseal(name, bytes.as_slice())?.read_to_end(&mut opened)?;
    Ok(opened)
}

/// A file whose bytes are hashed as they are read.
struct HashingReader<'a> {
    input: &'a File,
    hash: Sha256,
}

impl Read for HashingReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.hash.update(&out[..read]);
        Ok(read)
    }
}
