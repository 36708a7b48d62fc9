//! Writes a backup: all tables on one consistent snapshot, then the blobs that the place lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use base::files::blobs::Blobs;
use base::ids::Ids;
use base::time::Moment;
use db::Store;
use maintenance::dump::{self, DumpContents, DumpScope};
use node::vault::KEY_FILE;
use sha2::{Digest, Sha256};

use super::damage::{DamagedFile, FileFault, damaged_files};
use super::folder_place::PARTIAL_ENDING;
use super::keep::KeepRule;
use super::manifest::{
    BackupManifest, LAYOUT, PLACE_FILE, PlaceFile, backup_name, manifest_file, manifest_name,
};
use super::place::BackupPlace;
use super::place_files::{HeldLock, PlaceLock};
use super::place_writer::{CopiedBlobs, PlaceWriter};
use super::seal::PlaceKey;
use super::stored_backup::StoredBackup;
use super::{BackupProgress, hex, run_blocking, with_context};

const ZSTD_LEVEL: i32 = 3;
const NOT_WRITTEN: &str = "The backup could not be written";
/// The length of a backup's name, which is a moment.
const NAME_BYTES: usize = "2026-11-15T09-14-03-120Z".len();

/// What is backed up.
#[derive(Clone)]
pub struct BackupSource {
    pub store: Store,
    pub blobs: Blobs,
    pub ids: Arc<Ids>,
    /// The whole installation, or one workspace.
    pub scope: DumpScope,
    /// The folder of `secret.key`; `None` leaves the key out.
    pub key_folder: Option<PathBuf>,
    pub progress: BackupProgress,
}

/// A backup that was written.
pub struct WrittenBackup {
    pub manifest: BackupManifest,
    /// Blobs that the place did not have, and their bytes as they are packed.
    pub new_blobs: u64,
    pub new_blob_bytes: u64,
    /// Blobs that were damaged in the place and were written anew.
    pub repaired: Vec<String>,
    /// Blobs that are not whole, and so not in it.
    pub damaged: Vec<DamagedFile>,
    /// Blobs that were erased while it was written, which is no damage.
    pub erased: Vec<String>,
    /// Older backups that were removed.
    pub removed: Vec<String>,
    /// Why older ones could not be removed; the new one is whole all the same.
    pub not_removed: Option<String>,
}

/// Writes one more backup into a place. With a rule, older ones that it does not keep are removed.
pub async fn write_backup(
    source: &BackupSource,
    place: &BackupPlace,
    passphrase: Option<&str>,
    keep: Option<KeepRule>,
    now: i64,
) -> Result<WrittenBackup, String> {
    let (own, to, passphrase) = (source.clone(), place.clone(), passphrase.map(str::to_owned));
    let (lock, key) = run_blocking(move || begin(&to, passphrase.as_deref(), &own.ids)).await??;
    let name = Moment(now).iso().replace([':', '.'], "-");
    let mut manifest = BackupManifest {
        name,
        version: env!("CARGO_PKG_VERSION").into(),
        schema: 0,
        sealed: key.is_some(),
        workspace: source.scope.workspace().map(|workspace| workspace.slug.clone()),
        has_key: source.key_folder.is_some(),
        tables: Default::default(),
        blobs: 0,
        tables_sha256: String::new(),
        erased_blobs: Vec::new(),
    };
    let (contents, file) = write_tables(source, place, key.clone(), &manifest).await?;
    manifest.tables_sha256 = file.sha256;
    let mut listed = contents.files.clone();
    listed.extend(contents.uploads.iter().map(|upload| upload.as_str().to_owned()));
    let (own, to, sealing, blobs) = (source.clone(), place.clone(), key.clone(), listed.clone());
    let tables_file = manifest.tables_file();
    let copying = run_blocking(move || {
        to.finish(&tables_file, file.file)?;
        let files = PlaceWriter { place: &to, key: sealing.as_ref(), ids: &own.ids };
        let copied = files.write_blobs(&own.blobs, &blobs, now, &own.progress)?;
        Ok::<_, io::Error>((lock, copied))
    });
    let (lock, mut copied) = copying.await?.map_err(with_context(NOT_WRITTEN))?;
    let erased = take_erased(&source.store, &mut copied).await?;
    let backup = BegunBackup { manifest, contents, listed, copied, erased };
    let (source, place) = (source.clone(), place.clone());
    let written =
        run_blocking(move || backup.complete(&source, &place, &*lock, key.as_ref(), keep));
    written.await?.map_err(with_context(NOT_WRITTEN))
}

/// Takes out the missing blobs that no row names any more: mail is erased and uploads are withdrawn while the blobs
/// of the snapshot are copied.
async fn take_erased(store: &Store, copied: &mut CopiedBlobs) -> Result<Vec<String>, String> {
    if !copied.has_missing() {
        return Ok(Vec::new());
    }
    let named = store.read(|tx| {
        let uploads = dump::accepted_uploads(tx)?;
        let uploads = uploads.iter().map(|upload| upload.as_str().to_owned());
        Ok::<BTreeSet<String>, base::error::Error>(
            dump::file_hashes(tx)?.into_iter().chain(uploads).collect(),
        )
    });
    let named = named.await.map_err(|error| format!("{NOT_WRITTEN}: {error}"))?;
    Ok(copied.take_erased(&named))
}

/// Makes a place ready; others wait while the lock is held.
fn begin(
    place: &BackupPlace,
    passphrase: Option<&str>,
    ids: &Ids,
) -> Result<(PlaceLock, Option<PlaceKey>), String> {
    let told = with_context(NOT_WRITTEN);
    place.prepare().map_err(&told)?;
    let lock = place.lock(ids)?;
    remove_unfinished(place).map_err(&told)?;
    Ok((lock, place_key(place, passphrase, ids)?))
}

/// A backup whose tables and blobs are in their place.
struct BegunBackup {
    manifest: BackupManifest,
    contents: DumpContents,
    /// Its blobs, and its uploads by their ids.
    listed: Vec<String>,
    copied: CopiedBlobs,
    erased: Vec<String>,
}

impl BegunBackup {
    /// Adds the list of blobs, the key and at last the manifest, and removes older ones.
    fn complete(
        self,
        source: &BackupSource,
        place: &BackupPlace,
        lock: &dyn HeldLock,
        key: Option<&PlaceKey>,
        keep: Option<KeepRule>,
    ) -> io::Result<WrittenBackup> {
        let BegunBackup { mut manifest, contents, listed, copied, erased } = self;
        let files = PlaceWriter { place, key, ids: &source.ids };
        let list = listed.iter().map(|name| format!("{name}\n")).collect::<String>();
        files.write(&manifest.blobs_file(), list.as_bytes())?;
        if let Some(folder) = &source.key_folder {
            let secret = fs::read(folder.join(KEY_FILE))?;
            files.write(&manifest.key_file(), &secret)?;
        }
        (manifest.blobs, manifest.tables) = (listed.len() as u64, contents.tables);
        manifest.schema = contents.schema;
        manifest.erased_blobs = erased.iter().map(|blob| files.blob_name(blob)).collect();
        let text = serde_json::to_vec_pretty(&manifest).map_err(io::Error::other)?;
        // Who has the lock now may have removed blobs that this one names.
        lock.check()?;
        place.write(&manifest.manifest_file(), text)?;
        let pruned = match keep {
            // The tables of an older one may be all that is left of those bytes.
            Some(_) if !contents.damaged.is_empty() => Err(io::Error::other(
                "blobs in the database are damaged, and an older backup may hold them whole",
            )),
            Some(keep) => lock.check().and_then(|()| remove_old(place, key, &manifest.name, keep)),
            None => Ok(Vec::new()),
        };
        let mut faults = copied.faults;
        faults.extend(contents.damaged.into_iter().map(|hash| (hash, FileFault::Damaged)));
        let damaged = name_uses(place, key, &manifest, faults);
        let (removed, not_removed) = match pruned {
            Ok(removed) => (removed, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Ok(WrittenBackup {
            manifest,
            new_blobs: copied.new,
            new_blob_bytes: copied.new_bytes,
            repaired: copied.repaired,
            damaged,
            erased,
            removed,
            not_removed,
        })
    }
}

/// Says who uses the blobs that are not whole, as the tables of the backup have it.
fn name_uses(
    place: &BackupPlace,
    key: Option<&PlaceKey>,
    manifest: &BackupManifest,
    faults: BTreeMap<String, FileFault>,
) -> Vec<DamagedFile> {
    if faults.is_empty() {
        return Vec::new();
    }
    let backup =
        StoredBackup { place: place.clone(), key: key.cloned(), manifest: manifest.clone() };
    let wanted = faults.keys().cloned().collect();
    let uses = place.open(&manifest.tables_file()).map_err(base::error::Error::from);
    let uses = uses.and_then(|tables| backup.uses(&tables, wanted)).unwrap_or_else(|error| {
        tracing::warn!(%error, "the uses of damaged blobs could not be read");
        BTreeMap::new()
    });
    damaged_files(faults, uses)
}

/// Removes what is left of backups that were begun and never finished, which have no manifest.
fn remove_unfinished(place: &BackupPlace) -> io::Result<()> {
    let files = place.list()?;
    let finished: BTreeSet<&str> = files.iter().filter_map(|file| manifest_name(file)).collect();
    let is_left = |file: &&String| name_of(file).is_some_and(|name| !finished.contains(name));
    for file in files.iter().filter(is_left) {
        place.remove(file)?;
    }
    Ok(())
}

/// The name of the backup that a file belongs to, whole or begun.
fn name_of(file: &str) -> Option<&str> {
    let whole = file.strip_suffix(PARTIAL_ENDING).unwrap_or(file);
    let name = backup_name(whole)?;
    let is_moment = |byte: u8| byte.is_ascii_digit() || b"-TZ".contains(&byte);
    (name.len() == NAME_BYTES && name.bytes().all(is_moment)).then_some(name)
}

/// The key of a sealed place. The first backup decides whether a place is sealed.
fn place_key(
    place: &BackupPlace,
    passphrase: Option<&str>,
    ids: &Ids,
) -> Result<Option<PlaceKey>, String> {
    let said = match place.read(PLACE_FILE) {
        Ok(said) => said,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return begin_place(place, passphrase, ids);
        }
        Err(error) => return Err(format!("{}: {error}", place.label())),
    };
    super::open_place(&said, passphrase)
}

fn begin_place(
    place: &BackupPlace,
    passphrase: Option<&str>,
    ids: &Ids,
) -> Result<Option<PlaceKey>, String> {
    let (key, sealed) = match passphrase {
        Some(passphrase) => {
            let (key, sealed) = PlaceKey::make(passphrase, ids)?;
            (Some(key), Some(sealed))
        }
        None => (None, None),
    };
    let file = PlaceFile { mailroom_backups: LAYOUT, sealed };
    let text = serde_json::to_vec_pretty(&file).map_err(|error| error.to_string())?;
    place.write(PLACE_FILE, text).map_err(with_context(NOT_WRITTEN))?;
    Ok(key)
}

/// The tables as they were written, in a file that is not finished yet.
struct TablesFile {
    file: File,
    sha256: String,
}

/// Dumps the tables in one read transaction, which may have to begin again.
async fn write_tables(
    source: &BackupSource,
    place: &BackupPlace,
    key: Option<PlaceKey>,
    manifest: &BackupManifest,
) -> Result<(DumpContents, TablesFile), String> {
    let (place, ids, name) = (place.clone(), source.ids.clone(), manifest.tables_file());
    let scope = source.scope.clone();
    // The error of a file, which the store cannot carry.
    let trouble = Arc::new(Mutex::new(None));
    let noted = trouble.clone();
    let written = source
        .store
        .read(move |tx| {
            let result = write_dump(tx, &scope, &place, key.as_ref(), &ids, &name);
            if let Err(base::error::Error::Files(error)) = &result {
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
            result
        })
        .await;
    written.map_err(|error| {
        let trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        let why = trouble.unwrap_or_else(|| match error {
            base::error::Error::Store(cause) => cause.to_string(),
            error => error.to_string(),
        });
        format!("{NOT_WRITTEN}: {why}")
    })
}

fn write_dump(
    tx: &mut db::Tx<'_>,
    scope: &DumpScope,
    place: &BackupPlace,
    key: Option<&PlaceKey>,
    ids: &Ids,
    name: &str,
) -> base::error::Result<(DumpContents, TablesFile)> {
    let file = HashingWriter { out: place.create(name)?, hash: Sha256::new() };
    let (contents, file) = match key {
        Some(key) => {
            let (contents, sealed) =
                dump_packed(tx, scope, key.seal(name, ids, BufWriter::new(file))?)?;
            (contents, sealed.finish()?)
        }
        None => dump_packed(tx, scope, BufWriter::new(file))?,
    };
    let file = file.into_inner().map_err(|error| error.into_error())?;
    Ok((contents, TablesFile { file: file.out, sha256: hex(&file.hash.finalize()) }))
}

fn dump_packed<W: Write>(
    tx: &mut db::Tx<'_>,
    scope: &DumpScope,
    out: W,
) -> base::error::Result<(DumpContents, W)> {
    let mut packed = zstd::Encoder::new(out, ZSTD_LEVEL)?;
    let contents = dump::dump(tx, scope, &mut packed, &mut |_, _| {})?;
    Ok((contents, packed.finish()?))
}

/// Removes the backups that a rule does not keep, and the blobs that no remaining one names. The one
/// that was just written stays, whatever the clock said before.
fn remove_old(
    place: &BackupPlace,
    key: Option<&PlaceKey>,
    new: &str,
    keep: KeepRule,
) -> io::Result<Vec<String>> {
    let files = place.list()?;
    let names: Vec<&str> = files.iter().filter_map(|file| manifest_name(file)).collect();
    let kept = keep.select(&names);
    let is_kept = |name: &&str| kept.contains(name) || *name == new;
    let (kept, old): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| is_kept(name));
    if old.is_empty() {
        return Ok(Vec::new());
    }
    // The manifest goes first: what is left of a backup without one is none.
    for name in &old {
        place.remove(&manifest_file(name))?;
        for file in
            files.iter().filter(|file| file.starts_with(name) && **file != manifest_file(name))
        {
            place.remove(file)?;
        }
    }
    let mut needed = BTreeSet::new();
    for name in kept {
        let backup = StoredBackup::open(place, name, key.cloned());
        let backup = backup.map_err(|fault| io::Error::other(fault.to_string()))?;
        for hash in backup.read_blob_list()? {
            needed.insert(backup.blob_name(&hash));
        }
    }
    for name in place.blobs()?.into_iter().filter(|name| !needed.contains(name)) {
        place.remove(&BackupPlace::blob_name(&name))?;
    }
    Ok(old.iter().map(|name| (*name).to_owned()).collect())
}

/// A file whose bytes are hashed as they are written.
struct HashingWriter {
    out: File,
    hash: Sha256,
}

impl Write for HashingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
