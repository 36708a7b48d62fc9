//! Backups in a bucket of an object store.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use base::files::blob_files::BlobFiles;
use base::files::private_files::{file_options, make_folder};
use base::ids::Ids;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transport::net::bucket::{Bucket, BucketConfig};

use super::place_files::{BLOBS, HeldLock, PlaceFiles, PlaceLock, blob_place, is_blob_file};

/// The object that says that a backup is being written.
const LOCK_FILE: &str = "mailroom-lock.json";
/// How long it counts, and how often it is renewed meanwhile.
const LOCK_SECONDS: i64 = 5 * 60;
const LOCK_RENEWED: Duration = Duration::from_secs(60);
/// The characters that tell one writer from another.
const WRITER_CHARS: usize = 24;
/// Attempts of a call that the store does not answer, and the pause between them, which is longer than
/// a bucket rests after silence.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_secs(4);

/// A bucket that holds backups.
pub(super) struct BucketPlace {
    bucket: Arc<Bucket>,
    /// Where files pass through on their way.
    spool: PathBuf,
}

/// Who writes at present, and until when that counts.
#[derive(Serialize, Deserialize)]
struct LockFile {
    writer: String,
    until: Timestamp,
}

impl BucketPlace {
    pub fn open(config: &BucketConfig, spool: &Path) -> Result<BucketPlace, String> {
        Ok(BucketPlace { bucket: Arc::new(Bucket::open(config)?), spool: spool.to_owned() })
    }

    /// A file without a name: whatever happens, nothing is left of it.
    fn spool_file(&self, name: &str) -> io::Result<File> {
        make_folder(&self.spool)?;
        let path = self.spool.join(format!("{name}.spool"));
        let mut options = file_options();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path)?;
        fs::remove_file(path)?;
        Ok(file)
    }
}

impl PlaceFiles for BucketPlace {
    fn label(&self) -> String {
        self.bucket.label()
    }

    fn prepare(&self) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, ids: &Ids) -> Result<PlaceLock, String> {
        let told = |error: io::Error| format!("{}: {error}", self.label());
        match patiently(|| self.bucket.read(LOCK_FILE)) {
            Ok(held) => {
                // One that cannot be read may be held: whoever removed it could take the blobs of a backup that
                // is being written.
                let held: LockFile = serde_json::from_slice(&held).map_err(|_| {
                    format!(
                        "The lock of {} cannot be read, so another backup may be being written there. If \
                         none is, remove the object {LOCK_FILE}.",
                        self.label()
                    )
                })?;
                if held.until > Timestamp::now() {
                    return Err(format!(
                        "Another backup to {} is being written, or broke off: without a sign of it \
                         a new one may begin at {:.0}.",
                        self.label(),
                        held.until
                    ));
                }
                patiently(|| self.bucket.remove(LOCK_FILE)).map_err(told)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(told(error)),
        }
        let writer = ids.token(WRITER_CHARS);
        patiently(|| self.bucket.write_new(LOCK_FILE, &lock_file(&writer)?)).map_err(told)?;
        // What is there decides: a call that was not answered may have written it, and a store without
        // conditions lets two write.
        if !patiently(|| is_held_by(&self.bucket, &writer)).map_err(told)? {
            return Err(format!("Another backup to {} is being written.", self.label()));
        }
        BucketLock::hold(&self.bucket, writer).map(|lock| Box::new(lock) as PlaceLock).map_err(told)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        patiently(|| {
            let mut names = Vec::new();
            self.bucket.list("", true, &mut |name| names.push(name))?;
            names.sort();
            Ok(names)
        })
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        patiently(|| self.bucket.read(name))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        patiently(|| {
            let mut file = self.spool_file(name)?;
            self.bucket.read_into(name, &mut file)?;
            file.seek(SeekFrom::Start(0))?;
            Ok(file)
        })
    }

    fn create(&self, name: &str) -> io::Result<File> {
        self.spool_file(name)
    }

    fn finish(&self, name: &str, mut file: File) -> io::Result<()> {
        patiently(|| {
            file.seek(SeekFrom::Start(0))?;
            self.bucket.write_from(name, &file)
        })
    }

    fn write(&self, name: &str, bytes: Vec<u8>) -> io::Result<()> {
        patiently(|| self.bucket.write(name, bytes.clone()))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        patiently(|| self.bucket.remove(name))
    }

    fn blobs(&self) -> io::Result<Vec<String>> {
        patiently(|| {
            let mut names = Vec::new();
            self.bucket.list(&format!("{BLOBS}/"), false, &mut |name| {
                let blob = name.rsplit_once('/').map_or("", |(_, blob)| blob);
                // What others put there is none of ours.
                if is_blob_file(blob) && blob_place(blob) == name {
                    names.push(blob.to_owned());
                }
            })?;
            Ok(names)
        })
    }
}

/// Calls again for a while where the store does not answer: a backup of hours survives its restart.
fn patiently<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut attempt = 1;
    loop {
        match call() {
            Err(error) if is_passing(&error) && attempt < ATTEMPTS => {
                attempt += 1;
                thread::sleep(PAUSE);
            }
            said => return said,
        }
    }
}

/// True for the silence of a store, and for a failure that it calls its own.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::ResourceBusy)
}

fn lock_file(writer: &str) -> io::Result<Vec<u8>> {
    let until = Timestamp::from_second(Timestamp::now().as_second() + LOCK_SECONDS);
    let until = until.unwrap_or(Timestamp::MAX);
    let file = LockFile { writer: writer.to_owned(), until };
    serde_json::to_vec(&file).map_err(io::Error::other)
}

/// True while the lock of a bucket is this writer's.
fn is_held_by(bucket: &Bucket, writer: &str) -> io::Result<bool> {
    match bucket.read(LOCK_FILE) {
        Ok(held) => {
            Ok(serde_json::from_slice::<LockFile>(&held).is_ok_and(|held| held.writer == writer))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The lock of a bucket, renewed by a thread of its own until it is dropped.
struct BucketLock {
    bucket: Arc<Bucket>,
    writer: String,
    /// Closed when the lock ends.
    held: Option<Sender<()>>,
    renewing: Option<thread::JoinHandle<()>>,
}

impl BucketLock {
    fn hold(bucket: &Arc<Bucket>, writer: String) -> io::Result<BucketLock> {
        let (held, ended) = channel();
        let (renewed, own) = (Arc::clone(bucket), writer.clone());
        let renewing = thread::Builder::new().name("backup-lock".into()).spawn(move || {
            while ended.recv_timeout(LOCK_RENEWED) == Err(RecvTimeoutError::Timeout) {
                match is_held_by(&renewed, &own) {
                    Ok(true) => {}
                    Ok(false) => return tracing::error!("the lock of a backup was lost"),
                    Err(error) => {
                        tracing::warn!(%error, "the lock of a backup could not be read");
                        continue;
                    }
                }
                let written = lock_file(&own).and_then(|lock| renewed.write(LOCK_FILE, lock));
                if let Err(error) = written {
                    tracing::warn!(%error, "the lock of a backup could not be renewed");
                }
            }
        })?;
        let bucket = Arc::clone(bucket);
        Ok(BucketLock { bucket, writer, held: Some(held), renewing: Some(renewing) })
    }
}

impl HeldLock for BucketLock {
    fn check(&self) -> io::Result<()> {
        if patiently(|| is_held_by(&self.bucket, &self.writer))? {
            return Ok(());
        }
        Err(io::Error::other("another backup to the same bucket took the lock"))
    }
}

impl Drop for BucketLock {
    fn drop(&mut self) {
        self.held.take();
        if let Some(renewing) = self.renewing.take() {
            let _ = renewing.join();
        }
        let removed = match is_held_by(&self.bucket, &self.writer) {
            Ok(true) => self.bucket.remove(LOCK_FILE),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, "the lock of a backup could not be removed; it ends by itself");
        }
    }
}
