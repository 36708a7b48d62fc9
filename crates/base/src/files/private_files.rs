//! Folders and files that only the user who runs us may enter and read, whatever the umask.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// The mode of a folder, and of a file.
pub const FOLDER_MODE: u32 = 0o700;
pub const FILE_MODE: u32 = 0o600;

/// Makes a folder and those above it that are missing; one that is there stays as it is.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Options with which a file is made; one that is there keeps its mode.
pub fn file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn nobody_else_enters_a_new_folder_or_reads_a_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        make_folder(&deep).unwrap();
        let file = deep.join("file");
        file_options().write(true).create_new(true).open(&file).unwrap();
        assert_eq!(
            [mode(&folder.path().join("a")), mode(&deep), mode(&file)],
            [0o700, 0o700, 0o600]
        );
    }
}
