//! Reads the files of a corpus.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The files right in a folder, by name; none when it is absent.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Every file under a folder, however deep.
pub fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = files_in(folder);
    let Ok(entries) = fs::read_dir(folder) else { return found };
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    for folder in folders {
        found.extend(files_under(&folder));
    }
    found
}

pub fn json(path: &Path) -> Value {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null)
}

pub fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Mail that people wanted, whatever rules think of it.
pub fn ham(corpora: &Path) -> Vec<PathBuf> {
    let data = corpora.join("spamassassin-public-corpus/data");
    ["easy-ham-1", "easy-ham-2", "hard-ham-1"]
        .iter()
        .flat_map(|folder| files_in(&data.join(folder)))
        .collect()
}

/// Mail that nobody wanted.
pub fn spam(corpora: &Path) -> Vec<PathBuf> {
    let data = corpora.join("spamassassin-public-corpus/data");
    ["spam-1", "spam-2"].iter().flat_map(|folder| files_in(&data.join(folder))).collect()
}

/// Honest mail of recent years.
pub fn modern_ham(corpora: &Path) -> Vec<PathBuf> {
    let mut files = files_in(&corpora.join("modern-ham"));
    files.retain(|path| path.extension().is_some_and(|ending| ending == "eml"));
    files
}

/// Mail that wants passwords and money.
pub fn phishing(corpora: &Path) -> Vec<PathBuf> {
    let mut files = files_under(&corpora.join("phishing"));
    files.retain(|path| path.extension().is_some_and(|ending| ending == "eml"));
    files
}
