//! The keys of the table `previews`. All of a file begin with its hash, so that they go with it.

/// The key of the scaled copy of a picture: of a file that is one, or of one at a place in a stored mail.
pub fn scaled_key(file: &str, place: &str) -> String {
    format!("{file}/{place}")
}

/// The hash of the file that a key is of.
pub fn file_of(key: &str) -> &str {
    key.split_once('/').map_or(key, |(file, _)| file)
}

/// What follows every key of a file in their order: `0` comes after the slash, and hashes have one length.
pub fn after_keys(file: &str) -> String {
    format!("{file}0")
}
