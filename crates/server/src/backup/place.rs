//! Where backups lie: a folder of this machine.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use inbox::base::private_files::{file_options, make_folder};

/// How a file is called while it is being written.
pub(super) const PARTIAL_ENDING: &str = ".partial";
/// The file that is locked while a backup is written.
const LOCK_FILE: &str = ".lock";
/// The folder of blobs in a place.
const BLOBS: &str = "blobs";

/// A place that holds backups.
#[derive(Clone, Debug)]
pub struct BackupPlace {
    folder: PathBuf,
}

impl BackupPlace {
    /// The place that an operator names.
    pub fn parse(name: &str) -> Result<BackupPlace, String> {
        if name.contains("://") {
            return Err(format!(
                "{name}: backups go to a folder; mount or synchronise it elsewhere"
            ));
        }
        Ok(BackupPlace { folder: name.into() })
    }

    /// How people name it.
    pub fn shown(&self) -> String {
        self.folder.display().to_string()
    }

    pub(super) fn prepare(&self) -> io::Result<()> {
        make_folder(&self.folder.join(BLOBS))
    }

    /// Keeps other processes from writing here for as long as it is held.
    pub(super) fn lock(&self) -> Result<File, String> {
        let path = self.folder.join(LOCK_FILE);
        let file = file_options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                Err(format!("Another backup to {} is being written.", self.shown()))
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(_)) => Ok(file),
        }
    }

    /// The names of the files, without the blobs.
    pub(super) fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    pub(super) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.folder.join(name))
    }

    pub(super) fn open(&self, name: &str) -> io::Result<File> {
        File::open(self.folder.join(name))
    }

    /// Begins a file that has its name only once it is [`BackupPlace::finish`]ed.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let path = self.folder.join(format!("{name}{PARTIAL_ENDING}"));
        file_options().write(true).create(true).truncate(true).open(path)
    }

    pub(super) fn finish(&self, name: &str, file: &File) -> io::Result<()> {
        file.sync_all()?;
        let partial = self.folder.join(format!("{name}{PARTIAL_ENDING}"));
        fs::rename(partial, self.folder.join(name))?;
        File::open(&self.folder)?.sync_all()
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create(name)?;
        file.write_all(bytes)?;
        self.finish(name, &file)
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))
    }

    /// Where a blob lies, as a name in this place. Folders of a few keep each of them small.
    pub(super) fn blob_name(name: &str) -> String {
        format!("{BLOBS}/{}/{name}", &name[..2])
    }

    pub(super) fn has_blob(&self, name: &str) -> bool {
        self.folder.join(Self::blob_name(name)).exists()
    }

    pub(super) fn write_blob(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = Self::blob_name(name);
        if let Some(folder) = Path::new(&path).parent() {
            make_folder(&self.folder.join(folder))?;
        }
        self.write(&path, bytes)
    }

    /// The names of all blobs.
    pub(super) fn blobs(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for folder in fs::read_dir(self.folder.join(BLOBS))? {
            for entry in fs::read_dir(folder?.path())? {
                names.extend(entry?.file_name().into_string().ok());
            }
        }
        Ok(names)
    }
}
