//! The folder of an export, which has its name once it is complete.

use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use base::files::private_files::{FOLDER_MODE, file_options, make_folder};

/// The folder beside it that an export is written to. One that is there is of another export.
pub(crate) fn partial_folder(folder: &Path) -> Result<PathBuf, String> {
    let mut name = folder.as_os_str().to_owned();
    name.push(".partial");
    let partial = PathBuf::from(name);
    let told = |error: std::io::Error| format!("{}: {error}", partial.display());
    if let Some(above) = partial.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_folder(above).map_err(told)?;
    }
    let made = std::fs::DirBuilder::new().mode(FOLDER_MODE).create(&partial);
    made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => format!(
            "{} is there already: another export is being written, or broke off. Remove it first.",
            partial.display()
        ),
        _ => told(error),
    })?;
    Ok(partial)
}

pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let mut file = file_options().write(true).create(true).truncate(true).open(path)?;
    std::io::Write::write_all(&mut file, bytes)
}
