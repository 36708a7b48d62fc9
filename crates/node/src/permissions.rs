//! File permissions: only the server's user may read the data. Wider permissions of existing files
//! are tightened at start.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base::files::private_files::{FILE_MODE, FOLDER_MODE};

/// The bits by which others than the owner may do anything.
const OTHERS: u32 = 0o077;
/// The bit of folders that many users share, such as `/tmp`.
const SHARED_FOLDER: u32 = 0o1000;

/// Everything that this process makes from now on is its user's alone.
pub fn make_private_files() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(OTHERS));
}

/// Tightens folders and files with wide permissions, and logs it. The content of a closed folder is
/// not reachable, so it is not checked file by file.
pub fn tighten(folders: &[PathBuf], files: &[PathBuf]) {
    for folder in folders {
        close(folder, FOLDER_MODE);
    }
    for file in files {
        close(file, FILE_MODE);
    }
}

/// The files of an SQLite database; none of a PostgreSQL one.
pub fn database_files(url: &str) -> Vec<PathBuf> {
    let Ok(db::DatabaseUrl::Sqlite(path)) = db::DatabaseUrl::parse(url) else { return Vec::new() };
    let with_ending = |ending: &str| {
        let mut name = path.clone().into_os_string();
        name.push(ending);
        name.into()
    };
    ["", "-wal", "-shm"].into_iter().map(with_ending).collect()
}

fn close(path: &Path, mode: u32) {
    let Ok(found) = fs::metadata(path) else { return };
    let had = found.mode() & 0o7777;
    if had & OTHERS == 0 {
        return;
    }
    let shown = path.display();
    match set_mode(path, &found, mode) {
        Ok(()) => tracing::warn!(
            path = %shown,
            was = format!("{had:o}"),
            now = format!("{mode:o}"),
            "other users of this machine could read this; they cannot any more"
        ),
        Err(error) => tracing::warn!(
            path = %shown,
            mode = format!("{had:o}"),
            %error,
            "other users of this machine can read this, and it cannot be closed"
        ),
    }
}

fn set_mode(path: &Path, found: &Metadata, mode: u32) -> io::Result<()> {
    if found.mode() & SHARED_FOLDER != 0 || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to others too; use a folder of its own"));
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}
