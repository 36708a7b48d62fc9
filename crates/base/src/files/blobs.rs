//! Raw mail, attachments and uploads, named by their SHA-256.
//!
//! Small ones live in a table, so that the commit that names them also makes them durable and no
//! file is made per mail; larger ones are files that are synced before anything names them, in a folder
//! of this machine or in a store that several nodes share.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use db::Tx;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use zstd::bulk::Compressor;

use crate::concurrency::blocking::spawn_blocking;
use crate::error::Result;
use crate::files::blob_files::BlobFiles;
use crate::files::partial_uploads::PartialUploads;
use crate::files::private_files;
use crate::usage::{self, UsageKind};

/// Up to this many bytes, after compression, a blob lives in the database.
const INLINE_BYTES: usize = 100 * 1024;
const ZSTD_LEVEL: i32 = 3;
/// Compressors that are kept for the next blob: to make one costs as much as to use it.
const COMPRESSORS_KEPT: usize = 2;
/// Files that are packed at one time; each takes some megabytes and a core.
const PACKED_AT_ONCE: usize = 2;
/// Up to this many bytes a blob is unpacked without a look at how many there are.
const UNCHECKED_BYTES: usize = 64 * 1024 * 1024;
/// A file is taken in by pieces of this many bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// The folder of customers' uploads until they are submitted. No hash begins with this name.
const PARTIAL_UPLOADS: &str = "arriving";
/// What the name of a file that was set aside ends with.
const UNUSED: &str = "unused";

#[derive(Clone)]
pub struct Blobs {
    folder: Arc<Path>,
    /// Where files are kept instead of in the folder.
    shared: Option<Arc<dyn BlobFiles>>,
    partial_uploads: PartialUploads,
    packing: Arc<Semaphore>,
    compressors: Arc<Mutex<Vec<Compressor<'static>>>>,
}

/// A blob that is durable, or will be with the transaction that keeps it.
#[derive(Clone, Debug)]
pub struct Blob {
    pub hash: String,
    pub size: i64,
    packed: Option<Vec<u8>>,
}

impl Blobs {
    /// Keeps files in a folder.
    pub fn open(folder: &Path) -> io::Result<Blobs> {
        Blobs::open_with(folder, None)
    }

    /// Keeps files in a shared store where there is one; the folder then holds only what is arriving.
    pub fn open_with(folder: &Path, shared: Option<Arc<dyn BlobFiles>>) -> io::Result<Blobs> {
        private_files::make_folder(folder)?;
        let partial_uploads = PartialUploads::open(&folder.join(PARTIAL_UPLOADS), shared.clone())?;
        let packing = Arc::new(Semaphore::new(PACKED_AT_ONCE));
        let (folder, compressors) = (folder.into(), Arc::default());
        Ok(Blobs { folder, shared, partial_uploads, packing, compressors })
    }

    /// Files that are still being written.
    pub fn partial_uploads(&self) -> &PartialUploads {
        &self.partial_uploads
    }

    /// Takes bytes in. Call it outside of a transaction: it may write and sync a file.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Blob> {
        let hash = Blobs::hash_of(bytes);
        let size = bytes.len() as i64;
        let packed = self.compress(bytes)?;
        if packed.len() <= INLINE_BYTES {
            return Ok(Blob { hash, size, packed: Some(packed) });
        }
        self.write_file(&hash, &packed)?;
        Ok(Blob { hash, size, packed: None })
    }

    fn compress(&self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let kept = self.compressors().pop();
        let mut compressor = kept.map_or_else(|| Compressor::new(ZSTD_LEVEL), Ok)?;
        let packed = compressor.compress(bytes);
        let mut kept = self.compressors();
        if kept.len() < COMPRESSORS_KEPT {
            kept.push(compressor);
        }
        packed
    }

    fn compressors(&self) -> MutexGuard<'_, Vec<Compressor<'static>>> {
        self.compressors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a file in by pieces, however large it is, when it has its turn.
    pub async fn put_file(&self, file: File) -> io::Result<Blob> {
        let _turn = self.packing.acquire().await.map_err(io::Error::other)?;
        let blobs = self.clone();
        let packing = spawn_blocking(move || blobs.pack_file(file));
        packing.await.map_err(io::Error::other)?
    }

    fn pack_file(&self, mut file: File) -> io::Result<Blob> {
        let (mut packed, place) = tempfile_in(&self.folder, PARTIAL_UPLOADS)?;
        let taken = self.pack(&mut file, &mut packed, &place);
        if taken.is_err() || place.exists() {
            let _ = fs::remove_file(&place);
        }
        taken
    }

    fn pack(&self, file: &mut File, packed: &mut File, place: &Path) -> io::Result<Blob> {
        let (mut hash, mut size) = (Sha256::new(), 0);
        let mut encoder = zstd::Encoder::new(packed, ZSTD_LEVEL)?;
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let read = file.read(&mut piece)?;
            if read == 0 {
                break;
            }
            hash.update(&piece[..read]);
            encoder.write_all(&piece[..read])?;
            size += read as i64;
        }
        let packed = encoder.finish()?;
        let hash = hex(&hash.finalize());
        if packed.metadata()?.len() <= INLINE_BYTES as u64 {
            return Ok(Blob { hash, size, packed: Some(fs::read(place)?) });
        }
        if self.shared.is_some() {
            self.write_file(&hash, &fs::read(place)?)?;
            return Ok(Blob { hash, size, packed: None });
        }
        let path = self.path(&hash);
        if !is_there(&path) {
            packed.sync_all()?;
            self.store(place, &path)?;
        }
        Ok(Blob { hash, size, packed: None })
    }

    fn write_file(&self, hash: &str, packed: &[u8]) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            return write_shared(shared.as_ref(), hash, packed);
        }
        let path = self.path(hash);
        if is_there(&path) {
            return Ok(());
        }
        let blobs = path.parent().unwrap_or(&self.folder);
        private_files::make_folder(blobs)?;
        let mut file = tempfile_in(blobs, hash)?;
        file.0.write_all(packed)?;
        file.0.sync_all()?;
        self.store(&file.1, &path)
    }

    /// Gives a synced file its name for good.
    fn store(&self, from: &Path, path: &Path) -> io::Result<()> {
        let blobs = path.parent().unwrap_or(&self.folder);
        private_files::make_folder(blobs)?;
        fs::rename(from, path)?;
        File::open(blobs)?.sync_all()?;
        File::open(&self.folder)?.sync_all()
    }

    /// The file of a blob, packed as it lies in the folder.
    pub fn read_file(&self, hash: &str) -> io::Result<Vec<u8>> {
        match &self.shared {
            Some(shared) => shared.read(&shared_name(hash)),
            None => match fs::read(self.path(hash)) {
                // A row that came while the file was set aside names it until it is put back.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::read(self.aside(hash)).map_err(|_| error)
                }
                read => read,
            },
        }
    }

    /// True when the file of a blob is there.
    pub fn has_file(&self, hash: &str) -> io::Result<bool> {
        match &self.shared {
            Some(shared) => shared.exists(&shared_name(hash)),
            None => Ok(self.path(hash).exists() || self.aside(hash).exists()),
        }
    }

    /// The shared store of files, if they are not in the folder.
    pub fn shared_files(&self) -> Option<&dyn BlobFiles> {
        self.shared.as_deref()
    }

    /// Puts a packed file of another folder into this one, unless it is there.
    pub fn adopt_file(&self, hash: &str, packed: &[u8]) -> io::Result<()> {
        self.write_file(hash, packed)
    }

    /// Puts a packed file of a backup into this folder, in the place of one that is damaged.
    pub fn replace_file(&self, hash: &str, packed: &[u8]) -> io::Result<()> {
        match self.read_file(hash) {
            Ok(here) if Blobs::packed_hash(&here).is_ok_and(|own| own == hash) => {}
            Ok(_) => self.remove_file(hash)?,
            Err(_) => {}
        }
        self.write_file(hash, packed)
    }

    /// Deletes the file of a blob that nothing names any more.
    pub fn remove_file(&self, hash: &str) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            return shared.remove(&shared_name(hash));
        }
        match fs::remove_file(self.path(hash)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// When the file of a blob was last taken in. Unknown for files of a shared store.
    pub fn touched_at(&self, hash: &str) -> Option<SystemTime> {
        match self.shared {
            Some(_) => None,
            None => fs::metadata(self.path(hash)).and_then(|file| file.modified()).ok(),
        }
    }

    /// True when these packed bytes are the blob of this hash and size.
    pub fn is_whole(hash: &str, size: i64, packed: &[u8]) -> bool {
        let mut read = HashedBytes::default();
        let is_read = zstd::stream::copy_decode(packed, &mut read).is_ok();
        is_read && u64::try_from(size) == Ok(read.count) && hex(&read.hash.finalize()) == hash
    }

    /// The hash of the blob that these bytes would be.
    pub fn hash_of(bytes: &[u8]) -> String {
        hex(&Sha256::digest(bytes))
    }

    /// The hash of the blob that these packed bytes are.
    pub fn packed_hash(packed: &[u8]) -> io::Result<String> {
        let mut hash = Sha256::new();
        zstd::stream::copy_decode(packed, &mut hash)?;
        Ok(hex(&hash.finalize()))
    }

    fn path(&self, hash: &str) -> PathBuf {
        place_in(&self.folder, hash)
    }

    /// Moves a blob's file away, so that it can still be put back. In a shared store it stays where it
    /// is and is marked.
    pub fn set_aside(&self, hash: &str) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            return shared.write(&shared_mark(hash), UNUSED.as_bytes().to_vec());
        }
        missing_is_fine(fs::rename(self.path(hash), self.aside(hash)))
    }

    /// Puts a file back that was set aside, unless it was written anew.
    pub fn put_back(&self, hash: &str) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            return shared.remove(&shared_mark(hash));
        }
        match self.path(hash).exists() {
            true => self.remove_aside(hash),
            false => missing_is_fine(fs::rename(self.aside(hash), self.path(hash))),
        }
    }

    /// Deletes a file that was set aside, unless it was written anew.
    pub fn remove_aside(&self, hash: &str) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            return remove_marked(shared.as_ref(), hash);
        }
        missing_is_fine(fs::remove_file(self.aside(hash)))
    }

    /// Calls `each` with the hash of every blob that has a file, and when it was last taken in, which is
    /// unknown for files of a shared store.
    pub fn each_file(
        &self,
        each: &mut dyn FnMut(String, Option<SystemTime>) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            let mut hashes = Vec::new();
            shared.names(&mut |name| {
                let hash = name.split_once('/').map_or("", |(_, hash)| hash);
                if is_hash(hash) && shared_name(hash) == name {
                    hashes.push(hash.to_owned());
                }
            })?;
            return hashes.into_iter().try_for_each(|hash| each(hash, None));
        }
        for part in fs::read_dir(&self.folder)? {
            let part = part?.path();
            if !part.is_dir() || part == self.folder.join(PARTIAL_UPLOADS) {
                continue;
            }
            for file in fs::read_dir(&part)? {
                let file = file?;
                let name = file.file_name().into_string().unwrap_or_default();
                if is_hash(&name) && file.path() == self.path(&name) {
                    let touched = file.metadata().and_then(|data| data.modified()).ok();
                    each(name, touched)?;
                }
            }
        }
        Ok(())
    }

    fn aside(&self, hash: &str) -> PathBuf {
        self.path(hash).with_extension(UNUSED)
    }

    /// The bytes of a blob that a row of this workspace names; `None` when there is none, or they are
    /// damaged: other bytes than came in are never given out.
    pub fn get(&self, tx: &mut Tx<'_>, ws: i64, hash: &str) -> Result<Option<Vec<u8>>> {
        let row: Option<(i64, Option<Vec<u8>>)> =
            tx.opt("SELECT size, packed FROM blobs WHERE ws = ?1 AND hash = ?2", &[&ws, &hash])?;
        let Some((size, packed)) = row else { return Ok(None) };
        let packed = match packed {
            Some(packed) => packed,
            None => match self.read_file(hash) {
                Ok(packed) => packed,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    tracing::error!(%error, hash, "a blob's file is gone");
                    return Ok(None);
                }
                // A store that does not answer now may do so later.
                Err(error) => {
                    tracing::error!(%error, hash, "a blob's file cannot be read");
                    return Err(error.into());
                }
            },
        };
        let bytes = unpack(hash, size, &packed);
        if bytes.is_none() {
            tracing::error!(hash, "a blob is damaged");
        }
        Ok(bytes)
    }
}

/// What packed bytes hold, if that is the blob of this hash and size.
fn unpack(hash: &str, size: i64, packed: &[u8]) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    // The room is taken at once: a size that is damaged must not ask for more than there is.
    if size > UNCHECKED_BYTES && !Blobs::is_whole(hash, size as i64, packed) {
        return None;
    }
    let bytes = zstd::bulk::decompress(packed, size).ok()?;
    (bytes.len() == size && Blobs::hash_of(&bytes) == hash).then_some(bytes)
}

/// Counts and hashes what is written to it.
#[derive(Default)]
struct HashedBytes {
    hash: Sha256,
    count: u64,
}

impl Write for HashedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hash.update(bytes);
        self.count += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// True for the name of a blob.
pub fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What a blob is called in a shared store.
fn shared_name(hash: &str) -> String {
    format!("{}/{hash}", &hash[..2])
}

/// True when a file is there. It is marked as used now, so that nobody removes it before the row that
/// refers to it is written.
fn is_there(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    // A file of another user cannot be marked, and is used all the same.
    let _ = file.set_modified(SystemTime::now());
    true
}

/// The name that says of a blob in a shared store that it is due for removal.
fn shared_mark(hash: &str) -> String {
    format!("{}.{UNUSED}", shared_name(hash))
}

/// Writes a blob unless it is there. One that is due for removal is written anew, without its mark.
fn write_shared(shared: &dyn BlobFiles, hash: &str, packed: &[u8]) -> io::Result<()> {
    let (name, mark) = (shared_name(hash), shared_mark(hash));
    if shared.exists(&name)? {
        if !shared.exists(&mark)? {
            return Ok(());
        }
        shared.remove(&mark)?;
    }
    shared.write(&name, packed.to_vec())
}

fn remove_marked(shared: &dyn BlobFiles, hash: &str) -> io::Result<()> {
    let mark = shared_mark(hash);
    if shared.exists(&mark)? {
        shared.remove(&shared_name(hash))?;
    }
    shared.remove(&mark)
}

/// What was moved or removed already need not be again.
fn missing_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Where a blob's file lies in the folder of blobs.
fn place_in(folder: &Path, hash: &str) -> PathBuf {
    folder.join(&hash[..2]).join(hash)
}

/// A blob that lives in the folder, if there is any.
pub fn first_file(tx: &mut Tx<'_>) -> Result<Option<String>> {
    let found: Option<(String,)> =
        tx.opt("SELECT hash FROM blobs WHERE packed IS NULL LIMIT 1", &[])?;
    Ok(found.map(|(hash,)| hash))
}

/// Names a blob in a workspace, in the transaction of the row that refers to it.
pub fn keep(tx: &mut Tx<'_>, ws: i64, blob: &Blob) -> Result<()> {
    // Where transactions overlap, one that deletes the row because it cannot see who refers to it must
    // fail and be tried again: only a change of the row tells it so.
    let sql = tx.pick(
        "INSERT INTO blobs (ws, hash, size, packed) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, hash) DO NOTHING RETURNING TRUE",
        "INSERT INTO blobs (ws, hash, size, packed) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, hash) DO UPDATE SET size = excluded.size
         RETURNING xmax = 0",
    );
    let added: Option<(bool,)> = tx.opt(sql, &[&ws, &blob.hash, &blob.size, &blob.packed])?;
    if added == Some((true,)) {
        usage::add_held(tx, ws, UsageKind::Bytes, &blob.hash, blob.size)?;
    }
    Ok(())
}

/// A file of its own beside the final one, so that two writers of one blob do not meet.
fn tempfile_in(blobs: &Path, hash: &str) -> io::Result<(File, PathBuf)> {
    for number in 0u32.. {
        let path = blobs.join(format!("{hash}.{}.{number}", std::process::id()));
        match private_files::file_options().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
