//! What several commands of backups say in the same words.

use std::io::IsTerminal;

use backup::{DamagedFile, FileFault};

/// Every so many blobs of a backup are shown, to who watches.
const SHOWN_EVERY: u64 = 100;

pub fn show_progress(done: u64, all: u64) {
    if done.is_multiple_of(SHOWN_EVERY) && std::io::stderr().is_terminal() {
        eprint!("\r{done} of {all} blobs");
    }
}

/// Those of the damaged blobs that are gone altogether.
pub fn missing_blobs(damaged: &[DamagedFile]) -> Vec<&str> {
    let missing = damaged.iter().filter(|file| file.fault == FileFault::Missing);
    missing.map(|file| file.blob.as_str()).collect()
}

pub fn lines(said: &[String]) -> String {
    let said: Vec<&str> = said.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    said.join("\n")
}
