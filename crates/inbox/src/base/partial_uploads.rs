//! The folder of files that are being uploaded.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::ids::UploadId;
use crate::base::private_files;

/// The folder of unfinished and unsubmitted uploads. A file is named by its upload's id, never by
/// the customer's file name.
#[derive(Clone, Debug)]
pub struct PartialUploads {
    folder: Arc<Path>,
}

impl PartialUploads {
    pub(crate) fn open(folder: &Path) -> io::Result<PartialUploads> {
        private_files::make_folder(folder)?;
        Ok(PartialUploads { folder: folder.into() })
    }

    /// The file, truncated to this offset and ready for appending. Bytes behind the offset were
    /// never acknowledged.
    pub fn go_on(&self, id: &UploadId, received: i64) -> io::Result<File> {
        let received = received.unsigned_abs();
        let mut options = private_files::file_options();
        options.write(true).create(received == 0).truncate(false);
        let mut file = options.open(self.path(id))?;
        if file.metadata()?.len() < received {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.set_len(received)?;
        file.seek(SeekFrom::Start(received))?;
        Ok(file)
    }

    pub fn read(&self, id: &UploadId) -> io::Result<File> {
        File::open(self.path(id))
    }

    pub fn bytes(&self, id: &UploadId) -> io::Result<Vec<u8>> {
        fs::read(self.path(id))
    }

    /// The uploads that have a file.
    pub fn list(&self) -> io::Result<Vec<UploadId>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            found.extend(entry?.file_name().to_str().and_then(UploadId::parse));
        }
        Ok(found)
    }

    /// Puts a file of another folder into this one.
    pub fn adopt(&self, id: &UploadId, bytes: &[u8]) -> io::Result<()> {
        let mut options = private_files::file_options();
        let mut file = options.write(true).create(true).truncate(true).open(self.path(id))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Removes a file; one that is gone is no harm.
    pub fn remove(&self, id: &UploadId) -> io::Result<()> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn path(&self, id: &UploadId) -> PathBuf {
        self.folder.join(id.as_str())
    }
}
