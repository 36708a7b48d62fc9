//! A backup where it lies: its manifest, its tables and its blobs, read and verified.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use base::files::blobs::is_hash;
use base::ids::UploadId;
use maintenance::dump::DumpContents;
use maintenance::dump_scan::{BlobUse, blob_uses, scan};
use sha2::{Digest, Sha256};

use super::damage::FileFault;
use super::manifest::{BackupManifest, PLACE_FILE, manifest_file, manifest_name};
use super::place::BackupPlace;
use super::seal::PlaceKey;
use super::stored_key::{is_key, read_key_check};
use super::{hex, open_place};

/// One backup of a place, and the key of a sealed one.
#[derive(Clone)]
pub(super) struct StoredBackup {
    pub place: BackupPlace,
    pub key: Option<PlaceKey>,
    pub manifest: BackupManifest,
}

/// The tables of a backup as a file of this machine, and what is in them.
pub(super) struct ScannedTables {
    pub file: File,
    pub contents: DumpContents,
    /// What the right `secret.key` opens; `None` where the tables have no check of it.
    pub key_check: Option<String>,
}

impl ScannedTables {
    /// The blobs that are files, and the uploads by their ids.
    pub fn blobs(&self) -> Vec<String> {
        let uploads = self.contents.uploads.iter().map(|upload| upload.as_str().to_owned());
        self.contents.files.iter().cloned().chain(uploads).collect()
    }
}

/// Why a backup cannot be read.
pub(super) enum StoredFault {
    /// The place does not answer as it should: nothing is known of the backup.
    Place(io::Error),
    /// The backup is lost; the sentence says which piece of it.
    Lost(String),
}

impl StoredFault {
    /// What an error of reading one of its pieces means.
    fn of(error: io::Error, sentence: impl FnOnce(FileFault) -> String) -> StoredFault {
        match FileFault::of(&error) {
            Some(fault) => StoredFault::Lost(sentence(fault)),
            None => StoredFault::Place(error),
        }
    }
}

impl fmt::Display for StoredFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoredFault::Place(error) => error.fmt(f),
            StoredFault::Lost(sentence) => f.write_str(sentence),
        }
    }
}

/// The names of the whole backups of a place, oldest first, and its key. The manifests are not read yet.
pub(super) fn list_backups(
    place: &BackupPlace,
    passphrase: Option<&str>,
) -> Result<(Vec<String>, Option<PlaceKey>), String> {
    let said = place
        .read(PLACE_FILE)
        .map_err(|error| format!("{} holds no backups of Mailroom: {error}", place.label()))?;
    let key = open_place(&said, passphrase)?;
    let files = place.list().map_err(|error| format!("{}: {error}", place.label()))?;
    let names: Vec<String> =
        files.iter().filter_map(|file| manifest_name(file)).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(format!("There is no complete backup in {}.", place.label()));
    }
    Ok((names, key))
}

impl StoredBackup {
    /// The backup of this name, or the newest.
    pub fn find(
        place: &BackupPlace,
        at: Option<&str>,
        passphrase: Option<&str>,
    ) -> Result<StoredBackup, String> {
        let (names, key) = list_backups(place, passphrase)?;
        let found = match at {
            Some(at) => names.iter().find(|name| *name == at),
            None => names.last(),
        };
        let Some(name) = found else {
            let at = at.unwrap_or_default();
            return Err(format!("There is no backup {at}; there are {}.", names.join(", ")));
        };
        StoredBackup::open(place, name, key).map_err(|fault| match fault {
            StoredFault::Place(error) => format!("{}: {error}", place.label()),
            StoredFault::Lost(sentence) => with_others(&sentence, name, &names),
        })
    }

    pub fn open(
        place: &BackupPlace,
        name: &str,
        key: Option<PlaceKey>,
    ) -> Result<StoredBackup, StoredFault> {
        let said = |what: &str| format!("The manifest of the backup {name} {what}.");
        let lost = |what: &str| StoredFault::Lost(said(what));
        let text = place.read(&manifest_file(name));
        let text =
            text.map_err(|error| StoredFault::of(error, |fault| said(&fault.to_string())))?;
        let manifest: BackupManifest =
            serde_json::from_slice(&text).map_err(|error| lost(&format!("is damaged: {error}")))?;
        if manifest.name != name {
            return Err(lost("is damaged: it is of another"));
        }
        if manifest.sealed != key.is_some() {
            return Err(lost("is damaged: its place is sealed otherwise"));
        }
        let known = model::schema::MIGRATIONS.last().map_or(0, |last| last.version);
        if manifest.schema > known {
            return Err(StoredFault::Lost(format!(
                "This backup was made by Mailroom {}, which is newer than this one. Use that version \
                 or a later one.",
                manifest.version
            )));
        }
        Ok(StoredBackup { place: place.clone(), key, manifest })
    }

    /// Reads all tables.
    pub fn scan_tables(&self) -> Result<ScannedTables, StoredFault> {
        let name = self.manifest.tables_file();
        let lost =
            |what: String| format!("The backup {} cannot be restored: {what}.", self.manifest.name);
        let opened = self.place.open(&name);
        let file = opened.map_err(|error| {
            StoredFault::of(error, |fault| lost(format!("the file of its tables, {name}, {fault}")))
        })?;
        let scanned = self.scan_file(file).map_err(|error| {
            let why = if let base::error::Error::Files(error) = error {
                format!(" ({error})")
            } else {
                String::new()
            };
            StoredFault::Lost(lost(format!("the file of its tables, {name}, is damaged{why}")))
        })?;
        let contents = &scanned.contents;
        if contents.tables != self.manifest.tables || contents.schema != self.manifest.schema {
            let what = "its tables are not those of its manifest".to_owned();
            return Err(StoredFault::Lost(lost(what)));
        }
        Ok(scanned)
    }

    fn scan_file(&self, mut file: File) -> base::error::Result<ScannedTables> {
        file.seek(SeekFrom::Start(0))?;
        let mut hashed = HashingReader { input: &mut file, hash: Sha256::new() };
        let contents = scan(&mut *self.lines(&mut hashed)?)?;
        io::copy(&mut hashed, &mut io::sink())?;
        if hex(&hashed.hash.finalize()) != self.manifest.tables_sha256 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its hash is another").into());
        }
        let again = RereadFile { file: file.try_clone()?, at: 0 };
        let key_check = read_key_check(&mut *self.lines(again)?)?;
        Ok(ScannedTables { file, contents, key_check })
    }

    /// The lines of the tables, opened and unpacked.
    pub fn lines<'a>(&self, file: impl Read + 'a) -> base::error::Result<Box<dyn BufRead + 'a>> {
        let name = self.manifest.tables_file();
        Ok(match &self.key {
            Some(key) => {
                let opened = key.unseal(&name, BufReader::new(file))?;
                Box::new(BufReader::new(zstd::Decoder::new(opened)?))
            }
            None => Box::new(BufReader::new(zstd::Decoder::new(file)?)),
        })
    }

    /// Where blobs are used.
    pub fn uses(
        &self,
        file: &File,
        wanted: BTreeSet<String>,
    ) -> base::error::Result<BTreeMap<String, Vec<BlobUse>>> {
        let again = || Ok::<_, io::Error>(RereadFile { file: file.try_clone()?, at: 0 });
        let (mut first, mut second) = (self.lines(again()?)?, self.lines(again()?)?);
        blob_uses([&mut *first, &mut *second], &wanted)
    }

    /// One blob as it is packed, or what is wrong with it. An error is one of the whole place.
    pub fn read_blob(
        &self,
        there: &BTreeSet<String>,
        blob: &str,
    ) -> io::Result<Result<Vec<u8>, FileFault>> {
        let name = self.blob_name(blob);
        if !there.contains(&name) {
            return Ok(Err(FileFault::Missing));
        }
        let read = self.place.read(&BackupPlace::blob_name(&name));
        FileFault::in_blob(blob, read.and_then(|bytes| self.unseal(&name, bytes)))
    }

    /// What a blob is called in the place.
    pub fn blob_name(&self, blob: &str) -> String {
        self.key.as_ref().map_or_else(|| blob.to_owned(), |key| key.blob_name(blob))
    }

    /// The list of blobs beside the tables. They name the same; it says which blobs to keep without reading them.
    pub fn read_blob_list(&self) -> io::Result<Vec<String>> {
        let name = self.manifest.blobs_file();
        let list = self.unseal(&name, self.place.read(&name)?)?;
        let list = String::from_utf8(list).map_err(|_| damaged_piece(&name))?;
        let list: Vec<String> = list.lines().map(str::to_owned).collect();
        let is_named = |blob: &String| is_hash(blob) || UploadId::parse(blob).is_some();
        if list.len() as u64 != self.manifest.blobs || !list.iter().all(is_named) {
            return Err(damaged_piece(&name));
        }
        Ok(list)
    }

    /// `secret.key`, where the backup has it. One that is not the key of the tables is damaged.
    pub fn read_key(&self, check: Option<&str>) -> io::Result<Option<Vec<u8>>> {
        if !self.manifest.has_key {
            return Ok(None);
        }
        let name = self.manifest.key_file();
        let secret = self.unseal(&name, self.place.read(&name)?)?;
        if is_key(&secret, check) { Ok(Some(secret)) } else { Err(damaged_piece(&name)) }
    }

    /// What is wrong with the small files of the backup, as sentences; they are compared with its tables where
    /// these can be read. An error is one of the whole place.
    pub fn small_faults(&self, tables: Option<&ScannedTables>) -> io::Result<Vec<String>> {
        let check = tables.and_then(|tables| tables.key_check.as_deref());
        let (list, key) = (self.compare_blob_list(tables), self.read_key(check).map(drop));
        let read = [(self.manifest.blobs_file(), list), (self.manifest.key_file(), key)];
        let mut faults = Vec::new();
        for (name, read) in read {
            if let Err(error) = read {
                let fault = FileFault::of(&error).ok_or(error)?;
                faults.push(format!("{name} {fault}"));
            }
        }
        Ok(faults)
    }

    /// An error where the list of blobs is not that of the tables.
    fn compare_blob_list(&self, tables: Option<&ScannedTables>) -> io::Result<()> {
        let listed: BTreeSet<String> = self.read_blob_list()?.into_iter().collect();
        match tables {
            Some(tables) if BTreeSet::from_iter(tables.blobs()) != listed => {
                Err(damaged_piece(&self.manifest.blobs_file()))
            }
            _ => Ok(()),
        }
    }

    /// Takes the blobs out of the faults that were erased while the backup was written: it never held them.
    pub fn take_erased(&self, faults: &mut BTreeMap<String, FileFault>) -> Vec<String> {
        let mut erased = Vec::new();
        faults.retain(|blob, _| {
            let is_erased = self.manifest.erased_blobs.contains(&self.blob_name(blob));
            erased.extend(is_erased.then(|| blob.clone()));
            !is_erased
        });
        erased
    }

    fn unseal(&self, name: &str, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        match &self.key {
            Some(key) => key.unseal_bytes(name, &bytes),
            None => Ok(bytes),
        }
    }
}

/// The fault of one backup, and the others of the place.
pub(super) fn with_others(fault: &str, name: &str, all: &[String]) -> String {
    let others: Vec<&str> = all.iter().map(String::as_str).filter(|other| *other != name).collect();
    if others.is_empty() {
        return format!("{fault} There is no other backup in this place.");
    }
    format!("{fault} --at takes another: {}.", others.join(", "))
}

fn damaged_piece(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{name} is damaged"))
}

/// A file that is read from its beginning, whatever else reads it.
struct RereadFile {
    file: File,
    at: u64,
}

impl Read for RereadFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = std::os::unix::fs::FileExt::read_at(&self.file, out, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// A file whose bytes are hashed as they are read.
pub(super) struct HashingReader<'a> {
    pub input: &'a mut File,
    pub hash: Sha256,
}

impl Read for HashingReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.hash.update(&out[..read]);
        Ok(read)
    }
}
