//! Raw mail, attachments and uploads, named by their SHA-256.
//!
//! Small ones live in a table, so that the commit that names them also makes them durable and no
//! file is made per mail; larger ones are files that are synced before anything names them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use db::Tx;
use sha2::{Digest, Sha256};

use crate::error::Result;

/// Up to this many bytes, after compression, a blob lives in the database.
const INLINE_BYTES: usize = 100 * 1024;
const ZSTD_LEVEL: i32 = 3;

#[derive(Clone)]
pub struct Blobs {
    folder: Arc<Path>,
}

/// A blob that is durable, or will be with the transaction that keeps it.
#[derive(Clone, Debug)]
pub struct Blob {
    pub hash: String,
    pub size: i64,
    packed: Option<Vec<u8>>,
}

impl Blobs {
    pub fn open(folder: &Path) -> io::Result<Blobs> {
        fs::create_dir_all(folder)?;
        Ok(Blobs { folder: folder.into() })
    }

    /// Takes bytes in. Call it outside of a transaction: it may write and sync a file.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Blob> {
        let hash = hex(&Sha256::digest(bytes));
        let size = bytes.len() as i64;
        let packed = zstd::bulk::compress(bytes, ZSTD_LEVEL)?;
        if packed.len() <= INLINE_BYTES {
            return Ok(Blob { hash, size, packed: Some(packed) });
        }
        self.write_file(&hash, &packed)?;
        Ok(Blob { hash, size, packed: None })
    }

    fn write_file(&self, hash: &str, packed: &[u8]) -> io::Result<()> {
        let path = self.path(hash);
        if path.exists() {
            return Ok(());
        }
        let shelf = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(shelf)?;
        let mut file = tempfile_in(shelf, hash)?;
        file.0.write_all(packed)?;
        file.0.sync_all()?;
        fs::rename(&file.1, &path)?;
        File::open(shelf)?.sync_all()?;
        File::open(&self.folder)?.sync_all()
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder.join(&hash[..2]).join(hash)
    }

    /// The bytes of a blob that a row of this workspace names; `None` when there is none.
    pub fn get(&self, tx: &mut Tx<'_>, ws: i64, hash: &str) -> Result<Option<Vec<u8>>> {
        let row: Option<(i64, Option<Vec<u8>>)> =
            tx.opt("SELECT size, packed FROM blobs WHERE ws = ?1 AND hash = ?2", &[&ws, &hash])?;
        let Some((size, packed)) = row else { return Ok(None) };
        let packed = match packed {
            Some(packed) => packed,
            None => match fs::read(self.path(hash)) {
                Ok(packed) => packed,
                Err(error) => {
                    tracing::error!(%error, hash, "a blob's file cannot be read");
                    return Ok(None);
                }
            },
        };
        Ok(zstd::bulk::decompress(&packed, size as usize).ok())
    }
}

/// Names a blob in a workspace, in the transaction of whatever refers to it.
pub fn keep(tx: &mut Tx<'_>, ws: i64, blob: &Blob) -> Result<()> {
    tx.exec(
        "INSERT INTO blobs (ws, hash, size, packed) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, hash) DO NOTHING",
        &[&ws, &blob.hash, &blob.size, &blob.packed],
    )?;
    Ok(())
}

/// A file of its own beside the final one, so that two writers of one blob do not meet.
fn tempfile_in(shelf: &Path, hash: &str) -> io::Result<(File, PathBuf)> {
    for number in 0u32.. {
        let path = shelf.join(format!("{hash}.{}.{number}", std::process::id()));
        match File::create_new(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
