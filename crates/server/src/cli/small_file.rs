//! Files that a command is given: settings and passwords.

use std::fs;
use std::path::Path;

/// Bytes of a file of hours or of an app password.
const SMALL_FILE_BYTES: u64 = 64 * 1024;

/// The password in a file: its first line.
pub fn first_line(file: &Path) -> Result<String, String> {
    Ok(small_file(file)?.lines().next().unwrap_or_default().trim().to_owned())
}

pub fn small_file(file: &Path) -> Result<String, String> {
    let told = |error: std::io::Error| format!("{}: {error}", file.display());
    if fs::metadata(file).map_err(told)?.len() > SMALL_FILE_BYTES {
        return Err(format!("{}: is too large", file.display()));
    }
    fs::read_to_string(file).map_err(told)
}
