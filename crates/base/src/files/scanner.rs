//! The port of the virus scanner.

use std::fs::File;
use std::future::Future;
use std::pin::Pin;

/// Looks for viruses in a file.
pub trait Scanner: Send + Sync {
    fn scan(&self, file: File) -> Scanning<'_>;
}

pub type Scanning<'a> = Pin<Box<dyn Future<Output = ScanResult> + Send + 'a>>;

/// The verdict of a virus scanner. The reason is for the log and names no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanResult {
    Clean,
    Infected,
    /// It cannot say now: the file waits and is scanned later.
    Later(String),
}
