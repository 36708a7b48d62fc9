//! Evidence of the mails that are being read: a mail that ends the process ends it once.
//!
//! The hash of a mail is written to a journal before anything looks into the mail, and erased
//! afterwards. It is not synced: the system keeps what a process wrote, however the process ended. Each
//! process has a journal of its own, which it locks as long as it lives; what stands in the journal of
//! a process that is gone is a suspect. A suspect is read in a process apart first, and by nobody if
//! that one does not survive it either.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mail::{Envelope, ParsedMail};

use crate::files::private_files;

/// Processes that may end while a mail is read, beyond which nobody reads it.
const MOST_DEATHS: usize = 2;
/// Journals of processes that are gone, of which the oldest are forgotten.
const DEAD_JOURNALS: usize = 64;
/// Mails that are read at once and stand in the journal.
const MARKS: usize = 4_096;
/// Bytes of a hash.
const HASH_BYTES: usize = 32;
/// Names that are tried for a journal: those of processes that had this number before.
const NAMES: u32 = 1_000;

type MailHash = [u8; HASH_BYTES];

/// Reads mails.
pub trait MailParser: Send + Sync {
    fn parse(&self, raw: &[u8], envelope: Envelope<'_>) -> ParsedMail {
        mail::parse(raw, envelope)
    }

    /// Reads a mail in a process apart. False when that process did not survive it or took too long.
    fn survives(&self, raw: &[u8]) -> bool;
}

/// Who reads mails, and what was seen of those that did so before. Cheap to clone.
#[derive(Clone)]
pub struct MailReading {
    folder: Arc<Path>,
    parser: Arc<dyn MailParser>,
    /// `None` where it cannot be written: mail is read all the same.
    journal: Arc<OnceLock<Option<ReadingJournal>>>,
}

struct ReadingJournal {
    file: File,
    slots: Mutex<JournalSlots>,
    /// Where a mail stands in the journals of processes that are gone.
    suspects: Mutex<HashMap<MailHash, Vec<(PathBuf, u64)>>>,
}

#[derive(Default)]
struct JournalSlots {
    free: Vec<usize>,
    used: usize,
}

/// A mail that is being read, until this is dropped.
pub struct ReadingMark {
    reading: MailReading,
    hash: MailHash,
    slot: Option<usize>,
}

impl MailReading {
    /// The journals lie in a folder of their own, which is made when the first mail is read.
    pub fn new(folder: &Path, parser: Arc<dyn MailParser>) -> MailReading {
        MailReading { folder: folder.into(), parser, journal: Arc::default() }
    }

    pub fn parser(&self) -> &dyn MailParser {
        &*self.parser
    }

    /// Whether a mail may be read in this process, given with the hash of its bytes.
    pub fn is_safe(&self, hash: &str, raw: &[u8]) -> bool {
        match self.deaths(hash) {
            0 => true,
            deaths if deaths < MOST_DEATHS => self.parser.survives(raw),
            _ => false,
        }
    }

    /// Writes down that a mail is being read from now on.
    pub fn begin(&self, hash: &str) -> ReadingMark {
        let hash = bytes_of(hash);
        let slot = self.journal().and_then(|journal| journal.mark(&hash));
        ReadingMark { reading: self.clone(), hash, slot }
    }

    /// How many processes ended while they read a mail.
    fn deaths(&self, hash: &str) -> usize {
        let Some(journal) = self.journal() else { return 0 };
        journal.suspects().get(&bytes_of(hash)).map_or(0, Vec::len)
    }

    fn journal(&self) -> Option<&ReadingJournal> {
        let opened = self.journal.get_or_init(|| {
            let opened = ReadingJournal::open(&self.folder);
            if let Err(error) = &opened {
                tracing::warn!(%error, "the journal of mails that are being read cannot be written");
            }
            opened.ok()
        });
        opened.as_ref()
    }
}

impl ReadingJournal {
    fn open(folder: &Path) -> io::Result<ReadingJournal> {
        private_files::make_folder(folder)?;
        let suspects = read_dead(folder)?;
        let file = own_journal(folder)?;
        Ok(ReadingJournal { file, slots: Mutex::default(), suspects: Mutex::new(suspects) })
    }

    fn mark(&self, hash: &MailHash) -> Option<usize> {
        let mut slots = self.slots();
        let slot = match slots.free.pop() {
            Some(slot) => slot,
            None if slots.used < MARKS => {
                slots.used += 1;
                slots.used - 1
            }
            None => return None,
        };
        drop(slots);
        // Without the evidence the mail is read all the same.
        let _ = self.file.write_all_at(hash, place_of(slot));
        Some(slot)
    }

    fn unmark(&self, slot: usize, hash: &MailHash) {
        let _ = self.file.write_all_at(&[0; HASH_BYTES], place_of(slot));
        self.slots().free.push(slot);
        let cleared = self.suspects().remove(hash);
        for (path, at) in cleared.into_iter().flatten() {
            let erased = fs::OpenOptions::new().write(true).open(path);
            let _ = erased.and_then(|file| file.write_all_at(&[0; HASH_BYTES], at));
        }
    }

    fn slots(&self) -> MutexGuard<'_, JournalSlots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn suspects(&self) -> MutexGuard<'_, HashMap<MailHash, Vec<(PathBuf, u64)>>> {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReadingMark {
    fn drop(&mut self) {
        if let (Some(slot), Some(journal)) = (self.slot, self.reading.journal()) {
            journal.unmark(slot, &self.hash);
        }
    }
}

/// A journal that is this process's alone.
fn own_journal(folder: &Path) -> io::Result<File> {
    for number in 0..NAMES {
        let path = folder.join(format!("{}.{number}", std::process::id()));
        let file = match private_files::file_options().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        file.lock()?;
        // Another process may have found it empty and unlocked, and removed it.
        if file.metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// What stands in the journals of processes that are gone. Those in which nothing stands are removed.
fn read_dead(folder: &Path) -> io::Result<HashMap<MailHash, Vec<(PathBuf, u64)>>> {
    let mut dead = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(file) = File::open(&path) else { continue };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let bytes = fs::read(&path).unwrap_or_default();
        let marks: Vec<(MailHash, u64)> = marks_in(&bytes).collect();
        if marks.is_empty() {
            let _ = fs::remove_file(&path);
            continue;
        }
        let ended_at = file.metadata().and_then(|data| data.modified()).ok();
        dead.push((ended_at, path, marks));
    }
    dead.sort_by_key(|(ended_at, _, _)| std::cmp::Reverse(*ended_at));
    for (_, path, _) in dead.drain(dead.len().min(DEAD_JOURNALS)..) {
        let _ = fs::remove_file(path);
    }
    let mut suspects: HashMap<MailHash, Vec<(PathBuf, u64)>> = HashMap::new();
    for (_, path, marks) in dead {
        for (hash, at) in marks {
            suspects.entry(hash).or_default().push((path.clone(), at));
        }
    }
    Ok(suspects)
}

fn marks_in(bytes: &[u8]) -> impl Iterator<Item = (MailHash, u64)> {
    let (records, _) = bytes.as_chunks::<HASH_BYTES>();
    let placed = records.iter().take(MARKS).enumerate();
    placed.filter(|(_, hash)| **hash != [0; HASH_BYTES]).map(|(slot, hash)| (*hash, place_of(slot)))
}

fn place_of(slot: usize) -> u64 {
    (slot * HASH_BYTES) as u64
}

/// The bytes that a hash is written in.
fn bytes_of(hash: &str) -> MailHash {
    let mut bytes = [0; HASH_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(hash.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(pair).unwrap_or_default();
        *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
    }
    bytes
}
