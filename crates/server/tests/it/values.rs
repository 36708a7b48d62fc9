//! Rules of the code itself: a value is written once, and what is looked up cannot be missing.

use std::fs;
use std::path::{Path, PathBuf};

use base::limits::{MINUTE_MS, UNDO_LIVE_MS, UNDO_MINUTES};

use crate::support::PAGE_CRATES;

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

/// The code of the web app.
fn pages() -> Vec<(PathBuf, String)> {
    PAGE_CRATES.iter().flat_map(|name| files(&format!("crates/{name}/src"))).collect()
}

fn is_shipped(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "src")
}

/// What customers of the demo write is theirs.
fn is_sample(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "demo")
}

#[test]
fn the_undo_window_is_written_in_one_place() {
    assert_eq!(UNDO_LIVE_MS, UNDO_MINUTES * MINUTE_MS);
    let seconds = UNDO_LIVE_MS / 1_000;
    let counted = [format!("max=\"{seconds}\""), format!("UNDO_SECONDS: i64 = {seconds}")];
    for (path, text) in files("crates").into_iter().filter(|(path, _)| is_shipped(path)) {
        let literal = counted.iter().find(|literal| text.contains(*literal));
        let repeated = literal.map(String::as_str).or_else(|| undo_window_in(&text));
        assert!(repeated.is_none() || is_sample(&path), "{}: {repeated:?}", path.display());
    }
}

#[test]
fn the_manual_does_not_repeat_the_undo_window() {
    let pages =
        files("docs").into_iter().filter(|(page, _)| page.extension() == Some("md".as_ref()));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let others = ["README.md", "bench/README.md"].map(|name| root.join(name));
    let others = others.map(|page| (page.clone(), fs::read_to_string(&page).unwrap()));
    for (page, text) in pages.chain(others) {
        assert_eq!(undo_window_in(&text), None, "{}", page.display());
    }
}

/// The first line that spells the undo window out, in a text about sending. Other times may be as
/// long.
fn undo_window_in(text: &str) -> Option<&str> {
    let spelled = [format!("{UNDO_MINUTES} minutes"), "ten minutes".to_owned()];
    let lines: Vec<&str> = text.lines().collect();
    let is_about_sending = |at: usize| {
        let near = lines[at.saturating_sub(1)..lines.len().min(at + 2)].join(" ").to_lowercase();
        ["undo", "leave", "send", "sent"].iter().any(|word| near.contains(word))
    };
    let found = lines.iter().enumerate().find(|(at, line)| {
        spelled.iter().any(|time| has_words(line, time)) && is_about_sending(*at)
    });
    found.map(|(_, line)| *line)
}

/// True if a text has the words, not as a part of others.
fn has_words(text: &str, words: &str) -> bool {
    let is_apart = |near: Option<char>| !near.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        is_apart(before.chars().next_back()) && is_apart(after.chars().next())
    })
}

#[test]
fn only_a_text_about_sending_spells_the_undo_window() {
    let window = format!("{UNDO_MINUTES} minutes");
    assert!(undo_window_in(&format!("It leaves\nafter {window}.")).is_some());
    assert!(undo_window_in("You can undo it for ten minutes").is_some());
    assert!(undo_window_in(&format!("It leaves after 1{window}.")).is_none());
    assert!(undo_window_in(&format!("A client may be silent for {window}.")).is_none());
}

#[test]
fn pages_take_the_fields_of_an_operation_from_its_constant() {
    for (path, text) in pages() {
        assert!(!text.contains("operations::named("), "{}", path.display());
    }
}

#[test]
fn every_line_about_what_just_happened_is_set_somewhere() {
    let sources = pages();
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
