//! What every place of backups can do, whatever it is.

use std::fs::File;
use std::io;

use base::files::blobs::is_hash;
use base::ids::{Ids, UploadId};

/// The folder of blobs in a place.
pub(super) const BLOBS: &str = "blobs";

/// The files of a place. Calls block.
pub trait PlaceFiles: Send + Sync {
    /// How people name it.
    fn label(&self) -> String;
    /// Makes the place ready to be written to.
    fn prepare(&self) -> io::Result<()>;
    /// Keeps other processes from writing here for as long as it is held.
    fn lock(&self, ids: &Ids) -> Result<PlaceLock, String>;
    /// The names of the files in their order, without the blobs.
    fn list(&self) -> io::Result<Vec<String>>;
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// A file of this machine with the bytes of that one.
    fn open(&self, name: &str) -> io::Result<File>;
    /// Begins a file that has its name only once it is finished.
    fn create(&self, name: &str) -> io::Result<File>;
    fn finish(&self, name: &str, file: File) -> io::Result<()>;
    fn write(&self, name: &str, bytes: Vec<u8>) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
    /// The names of all blobs.
    fn blobs(&self) -> io::Result<Vec<String>>;
}

/// True for the name of a blob's file: a hash, sealed or not, or the id of an upload.
pub(super) fn is_blob_file(name: &str) -> bool {
    is_hash(name) || UploadId::parse(name).is_some()
}

/// Where a blob lies, as a name in a place. Folders of a few keep each of them small.
pub(super) fn blob_place(name: &str) -> String {
    format!("{BLOBS}/{}/{name}", &name[..2])
}

/// What is held while a backup is written; dropping it lets others write.
pub type PlaceLock = Box<dyn HeldLock>;

/// A lock that may be lost while it is held.
pub trait HeldLock: Send {
    /// An error once another may have it.
    fn check(&self) -> io::Result<()>;
}
