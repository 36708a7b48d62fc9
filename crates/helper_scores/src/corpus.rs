//! Reads the files of a folder of corpora.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Files of one source that are read at the most.
const FILES: usize = 50_000;
/// How deep folders are looked into.
const DEPTH: usize = 6;

/// The files under a folder with an ending, by name; none when it is absent.
pub fn files_under(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, DEPTH, &mut files);
    files.retain(|path| ending.is_empty() || path.extension().is_some_and(|end| end == ending));
    files.truncate(FILES);
    files
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, files);
            }
        } else {
            files.push(path);
        }
    }
}

/// The files right in a folder.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, 0, &mut files);
    files
}

pub fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

pub fn json(path: &Path) -> Value {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null)
}

pub fn json_lines(path: &Path) -> Vec<Value> {
    text(path).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A field of a row; empty where it is missing.
pub fn field<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

pub fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The beginning of a text, on one line.
pub fn beginning(text: &str) -> String {
    const CHARS: usize = 160;
    text.chars().take(CHARS).map(|c| if c == '\n' { ' ' } else { c }).collect()
}
