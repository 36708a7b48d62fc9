//! The port through which blobs are kept elsewhere than in a folder of this machine.

use std::io;

/// A store of named bytes that several nodes share, such as a bucket. Calls block, each for a limited
/// time, and fail for one blob at a time.
pub trait BlobFiles: Send + Sync {
    /// The bytes of this name; `NotFound` where there are none.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// Keeps bytes; when this returns, they are durable.
    fn write(&self, name: &str, bytes: Vec<u8>) -> io::Result<()>;
    fn exists(&self, name: &str) -> io::Result<bool>;
    /// Removes bytes; none of this name is no error.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Calls `each` with every name that there is.
    fn names(&self, each: &mut dyn FnMut(String)) -> io::Result<()>;
    /// How people call the store.
    fn label(&self) -> String;
}
