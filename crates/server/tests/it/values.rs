//! Rules of the code itself: a value is written once, and what is looked up cannot be missing.

use std::fs;
use std::path::{Path, PathBuf};

use inbox::base::limits::{MINUTE_MS, UNDO_LIVE_MS, UNDO_MINUTES};

/// The text files below a folder of the workspace.
fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.extend(fs::read_to_string(&path).ok().map(|text| (path, text))),
            }
        }
    }
    assert!(!found.is_empty(), "{folder}");
    found
}

/// What customers of the demo write is theirs.
fn is_sample(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "demo")
}

#[test]
fn the_undo_window_is_written_in_one_place() {
    assert_eq!(UNDO_LIVE_MS, UNDO_MINUTES * MINUTE_MS);
    let spelled = [format!("{UNDO_MINUTES} minutes"), "ten minutes".to_owned()];
    let seconds = UNDO_LIVE_MS / 1_000;
    let counted = [format!("max=\"{seconds}\""), format!("UNDO_SECONDS: i64 = {seconds}")];
    for folder in ["crates/inbox/src", "crates/server/src", "crates/server/templates"] {
        for (path, text) in files(folder) {
            let literal = spelled.iter().chain(&counted).find(|literal| text.contains(*literal));
            assert!(literal.is_none() || is_sample(&path), "{}: {literal:?}", path.display());
        }
    }
}

#[test]
fn pages_take_the_fields_of_an_operation_from_its_constant() {
    for (path, text) in files("crates/server/src/web") {
        assert!(!text.contains("operations::named("), "{}", path.display());
    }
}

#[test]
fn every_line_about_what_just_happened_is_set_somewhere() {
    let sources = files("crates/server/src/web");
    let (_, table) = sources.iter().find(|(path, _)| path.ends_with("flash.rs")).unwrap();
    let (_, table) = table.split_once("flashes! {\n    ").unwrap();
    let (table, _) = table.split_once("\n}").unwrap();
    let names: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split_once(": \"").map(|(name, _)| name.trim()))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let set = format!("Flash::{name}");
        let is_set = |(path, text): &(PathBuf, String)| {
            !path.ends_with("flash.rs")
                && text.match_indices(&set).any(|(at, _)| {
                    !text[at + set.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
                })
        };
        assert!(sources.iter().any(is_set), "nothing sets {name}");
    }
}
