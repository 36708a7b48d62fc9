//! How much memory and disk a public demo uses.

use std::fs;
use std::path::{Path, PathBuf};

const KIB: u64 = 1_024;
/// Files that are looked at in one round; a folder with more counts as full.
const FILES: usize = 200_000;

/// Where a demo keeps what its visitors type and upload.
#[derive(Clone, Debug)]
pub struct DemoRoom {
    folders: Vec<PathBuf>,
}

/// What is used now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedRoom {
    pub memory_bytes: u64,
    pub disk_bytes: u64,
}

impl DemoRoom {
    /// The room of a server that writes below these folders; one within another counts once.
    pub fn new(mut folders: Vec<PathBuf>) -> DemoRoom {
        folders.sort();
        folders.dedup_by(|inner, outer| inner.starts_with(&*outer));
        DemoRoom { folders }
    }

    pub fn usage(&self) -> UsedRoom {
        let mut left = FILES;
        let disk = self.folders.iter().map(|folder| bytes_below(folder, &mut left)).sum();
        let disk_bytes = if left == 0 { u64::MAX } else { disk };
        UsedRoom { memory_bytes: resident_bytes(), disk_bytes }
    }
}

fn bytes_below(folder: &Path, left: &mut usize) -> u64 {
    let mut bytes = 0_u64;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return bytes;
            }
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                folders.push(entry.path());
            } else {
                bytes = bytes.saturating_add(found.len());
            }
        }
    }
    bytes
}

/// Memory of this process that is in RAM; 0 where it cannot be read.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * KIB
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_within_another_counts_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("blobs");
        fs::create_dir(&inner).expect("a folder");
        fs::write(inner.join("a"), [0; 1_000]).expect("a file");
        fs::write(folder.path().join("b"), [0; 500]).expect("a file");
        let room = DemoRoom::new(vec![inner, folder.path().to_path_buf()]);
        let used = room.usage();
        assert_eq!(used.disk_bytes, 1_500);
        assert!(used.memory_bytes > 0);
    }
}
