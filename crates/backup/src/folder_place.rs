//! Backups in a folder of this machine.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use base::files::private_files::{file_options, make_folder};
use base::ids::Ids;

use super::place_files::{BLOBS, HeldLock, PlaceFiles, PlaceLock, is_blob_file};

/// How a file is called while it is being written.
pub(super) const PARTIAL_ENDING: &str = ".partial";
/// The file that is locked while a backup is written.
const LOCK_FILE: &str = ".lock";

/// A folder that holds backups.
#[derive(Debug)]
pub(super) struct FolderPlace {
    folder: PathBuf,
}

impl FolderPlace {
    pub fn new(folder: PathBuf) -> FolderPlace {
        FolderPlace { folder }
    }
}

/// The system holds it for as long as the file is open.
impl HeldLock for File {
    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

impl PlaceFiles for FolderPlace {
    fn label(&self) -> String {
        self.folder.display().to_string()
    }

    fn prepare(&self) -> io::Result<()> {
        make_folder(&self.folder.join(BLOBS))
    }

    fn lock(&self, _: &Ids) -> Result<PlaceLock, String> {
        let path = self.folder.join(LOCK_FILE);
        let file = file_options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => {
                Err(format!("Another backup to {} is being written.", self.label()))
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(_)) => Ok(Box::new(file)),
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.folder.join(name))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        File::open(self.folder.join(name))
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let path = self.folder.join(format!("{name}{PARTIAL_ENDING}"));
        if let Some(folder) = Path::new(&path).parent() {
            make_folder(folder)?;
        }
        file_options().write(true).create(true).truncate(true).open(path)
    }

    fn finish(&self, name: &str, file: File) -> io::Result<()> {
        file.sync_all()?;
        let partial = self.folder.join(format!("{name}{PARTIAL_ENDING}"));
        let path = self.folder.join(name);
        fs::rename(partial, &path)?;
        File::open(path.parent().unwrap_or(&self.folder))?.sync_all()
    }

    fn write(&self, name: &str, bytes: Vec<u8>) -> io::Result<()> {
        let mut file = self.create(name)?;
        file.write_all(&bytes)?;
        self.finish(name, file)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))
    }

    fn blobs(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let folders = match fs::read_dir(self.folder.join(BLOBS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(names),
            folders => folders?,
        };
        for folder in folders {
            let folder = folder?.path();
            // What others put there is none of ours.
            if !folder.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&folder)? {
                let name = entry?.file_name().into_string().unwrap_or_default();
                let is_ours = is_blob_file(name.strip_suffix(PARTIAL_ENDING).unwrap_or(&name));
                if is_ours && folder.ends_with(&name[..2]) {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }
}
