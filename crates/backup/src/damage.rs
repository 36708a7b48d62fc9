//! What is wrong with the files of a backup: which blobs are missing or damaged, and who uses them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};

use base::files::blobs::Blobs;
use base::ids::UploadId;
use maintenance::dump_scan::BlobUse;
use serde::Serialize;

/// What the system says of a single file that cannot be read, on a disk that works otherwise (Linux): an error of
/// the device, no permission, a folder in its place, a damaged file system.
const ONE_FILE_ERRORS: [i32; 4] = [5, 13, 21, 117];
/// Files that a sentence names; further ones are counted.
const NAMED: usize = 20;

/// What is wrong with one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFault {
    Missing,
    /// Its bytes are not those that came in.
    Damaged,
    /// The system cannot read it.
    Unreadable,
}

/// A blob or an upload that is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedFile {
    /// The hash of a blob, or the id of an upload.
    pub blob: String,
    pub fault: FileFault,
    /// Where it is used: ids alone, never words of a mail.
    pub uses: Vec<BlobUse>,
}

impl FileFault {
    /// What an error of reading a file means: a fault of this file alone, or `None` where more than this file
    /// may fail.
    pub(super) fn of(error: &io::Error) -> Option<FileFault> {
        match error.kind() {
            ErrorKind::NotFound => Some(FileFault::Missing),
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => Some(FileFault::Damaged),
            _ => {
                let is_of_file = error.raw_os_error().is_some_and(|n| ONE_FILE_ERRORS.contains(&n));
                is_of_file.then_some(FileFault::Unreadable)
            }
        }
    }

    /// The fault of a file that was read. An error is one of the whole place, which may pass.
    pub(super) fn in_blob(
        name: &str,
        read: io::Result<Vec<u8>>,
    ) -> io::Result<Result<Vec<u8>, FileFault>> {
        let packed = match read {
            Ok(packed) => packed,
            Err(error) => return FileFault::of(&error).map(Err).ok_or(error),
        };
        // The bytes of an upload that nobody filed yet are known to nobody else.
        let is_whole = UploadId::parse(name).is_some()
            || Blobs::packed_hash(&packed).is_ok_and(|hash| hash == name);
        Ok(if is_whole { Ok(packed) } else { Err(FileFault::Damaged) })
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileFault::Missing => "is missing",
            FileFault::Damaged => "is damaged",
            FileFault::Unreadable => "cannot be read",
        })
    }
}

impl fmt::Display for DamagedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.blob, self.fault)?;
        let uses = self.uses.iter().map(|found| {
            let ids = [found.conversation.as_deref(), found.message.as_deref()];
            let ids: Vec<&str> = ids.into_iter().flatten().collect();
            if ids.is_empty() { found.table.to_owned() } else { ids.join(" ") }
        });
        let uses: Vec<String> = uses.collect();
        if uses.is_empty() { Ok(()) } else { write!(f, " (used by {})", uses.join(", ")) }
    }
}

/// The faults as a list, with the uses that are known of each.
pub(super) fn damaged_files(
    faults: BTreeMap<String, FileFault>,
    mut uses: BTreeMap<String, Vec<BlobUse>>,
) -> Vec<DamagedFile> {
    let named = faults.into_iter().map(|(blob, fault)| {
        let uses = uses.remove(&blob).unwrap_or_default();
        DamagedFile { blob, fault, uses }
    });
    named.collect()
}

/// One line for each of the first files, and how many more there are; empty without any.
pub fn name_damaged(damaged: &[DamagedFile]) -> String {
    let mut lines: Vec<String> =
        damaged.iter().take(NAMED).map(|file| format!("  {file}")).collect();
    if damaged.len() > NAMED {
        lines.push(format!("  and {} more; --json names all", damaged.len() - NAMED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_fails_is_no_damage_of_a_file() {
        for error in [
            io::Error::new(ErrorKind::TimedOut, "silent"),
            io::Error::new(ErrorKind::ResourceBusy, "500"),
            io::Error::other("403"),
            io::Error::from_raw_os_error(24),
            io::Error::from_raw_os_error(12),
        ] {
            assert_eq!(FileFault::of(&error), None, "{error}");
        }
        let eio = io::Error::from_raw_os_error(5);
        assert_eq!(FileFault::of(&eio), Some(FileFault::Unreadable));
        let gone = io::Error::from(ErrorKind::NotFound);
        assert_eq!(FileFault::of(&gone), Some(FileFault::Missing));
    }
}
