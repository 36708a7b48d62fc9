//! Rules of the code base that a reader relies on: one name for one type, files of one idea.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::PAGE_CRATES;

/// Lines of a file that are neither empty nor comments.
const CODE_LINES: usize = 500;

/// Files and folders of one folder.
const FOLDER_ENTRIES: usize = 25;

/// Folders of data, which nobody reads from one end to the other.
const DATA_FOLDERS: [&str; 6] = ["feeds", "fixtures", "languages", "schema", "assets", "target"];

const VERBS_IN_ED: [&str; 7] = ["embed", "exceed", "feed", "need", "proceed", "seed", "succeed"];

/// What a trait of another crate calls its function, and what is an adjective by now.
const ADJECTIVES: [&str; 4] = ["elapsed", "enabled", "required", "shared"];

const IRREGULAR_PARTICIPLES: [&str; 35] = [
    "begun",
    "bought",
    "broken",
    "brought",
    "built",
    "caught",
    "chosen",
    "done",
    "drawn",
    "found",
    "given",
    "gone",
    "grown",
    "heard",
    "held",
    "hidden",
    "kept",
    "known",
    "left",
    "lost",
    "made",
    "meant",
    "met",
    "paid",
    "proven",
    "said",
    "seen",
    "sent",
    "shown",
    "spoken",
    "taken",
    "told",
    "understood",
    "woken",
    "written",
];

#[test]
fn the_name_of_a_public_type_occurs_once_in_the_workspace() {
    let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in rust_files(&["src"]) {
        for name in public_types(&text_of(&file)) {
            places.entry(name).or_default().push(file.clone());
        }
    }
    assert!(places.len() > 300, "the types were not found");
    places.retain(|_, files| files.len() > 1);
    assert!(places.is_empty(), "defined more than once: {places:#?}");
}

#[test]
fn no_file_is_too_long_to_hold_one_idea() {
    let long: Vec<(PathBuf, usize)> = rust_files(&["src", "tests", "examples", "benches"])
        .into_iter()
        .map(|file| (file.clone(), code_lines(&text_of(&file))))
        .filter(|(_, lines)| *lines > CODE_LINES)
        .collect();
    assert!(long.is_empty(), "over {CODE_LINES} lines of code: {long:#?}");
}

#[test]
fn every_file_begins_with_a_line_that_says_what_it_is_for() {
    let silent: Vec<PathBuf> = rust_files(&["src", "tests", "examples", "benches"])
        .into_iter()
        .filter(|file| !text_of(file).starts_with("//! "))
        .collect();
    assert!(silent.is_empty(), "without a first line of `//!`: {silent:#?}");
}

#[test]
fn a_boolean_is_decided_by_if() {
    let is_arm = |line: &str| {
        ["true => ", "false => ", "match () {"].iter().any(|arm| line.trim_start().starts_with(arm))
    };
    for file in rust_files(&["src"]).iter().filter(|file| is_page(file)) {
        for (number, line) in text_of(file).lines().enumerate() {
            assert!(!is_arm(line), "{}:{}: {line}", file.display(), number + 1);
        }
    }
}

/// `actions` checks what was seen; a page that wrote to a customer by itself could forget it.
#[test]
fn a_page_reaches_the_customer_only_through_an_action_that_checks_what_was_seen() {
    let unchecked =
        ["SeenConversation::now", "drafts::send(", "drafts::keep_as_draft", "schedule_at"];
    let operations = ["reply", "request_documents"];
    let pages: Vec<PathBuf> = rust_files(&["src"]).into_iter().filter(|it| is_page(it)).collect();
    assert!(pages.len() > 100, "the pages were not found");
    for file in pages {
        let text = text_of(&file);
        let uses = text.split("api::operations").skip(1);
        let mut used = uses.flat_map(|rest| rest.split(';').next().unwrap().split(not_in_name));
        let operation = used.find(|name| operations.contains(name));
        let call = unchecked.into_iter().find(|name| text.contains(name));
        assert_eq!(operation.or(call), None, "{}", file.display());
    }
}

/// A function is a verb, a question or the thing that it returns.
#[test]
fn no_function_is_named_by_a_bare_participle() {
    let mut participles = Vec::new();
    for file in rust_files(&["src", "examples"]) {
        let text = text_of(&file);
        let functions =
            text.lines().filter_map(|line| line.split_once("fn ")).map(|(_, rest)| rest);
        for name in functions.filter_map(|rest| rest.split(['(', '<']).next()) {
            if is_participle(name) && !ADJECTIVES.contains(&name) {
                participles.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(participles.is_empty(), "{participles:#?}");
}

#[test]
fn a_folder_is_small_enough_to_be_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut large = Vec::new();
    let mut folders = ["crates", "bench", "e2e", "docs"].map(|name| root.join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        if name.is_some_and(|name| DATA_FOLDERS.contains(&name.as_str())) {
            continue;
        }
        let entries: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        // Cargo.toml lists the crates by layer, README.md the pages of the manual.
        let is_list = folder.ends_with("crates") || folder.ends_with("docs");
        if entries.len() > FOLDER_ENTRIES && !is_list {
            large.push((folder, entries.len()));
        }
        folders.extend(entries.into_iter().filter(|path| path.is_dir()));
    }
    assert!(large.is_empty(), "over {FOLDER_ENTRIES} entries: {large:#?}");
}

fn not_in_name(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

fn is_participle(name: &str) -> bool {
    let is_regular = name.ends_with("ed") && !VERBS_IN_ED.contains(&name) && !name.contains('_');
    is_regular || IRREGULAR_PARTICIPLES.contains(&name)
}

fn is_page(file: &Path) -> bool {
    file.components().any(|part| PAGE_CRATES.iter().any(|name| part.as_os_str() == *name))
}

/// The names after `struct`, `enum`, `trait` and `type` of items that other modules can see.
fn public_types(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            // A row's struct stands in its macro.
            let row = line.strip_prefix("    ").filter(|item| item.contains(" from \""));
            let line = row.unwrap_or(line);
            let item = line.strip_prefix("pub ").or_else(|| {
                let (_, item) = line.strip_prefix("pub(")?.split_once(") ")?;
                Some(item)
            })?;
            let name = ["struct ", "enum ", "trait ", "type "]
                .iter()
                .find_map(|keyword| item.strip_prefix(keyword))?;
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
            Some(name[..end.unwrap_or(name.len())].to_owned())
        })
        .collect()
}

fn code_lines(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// The Rust files of every crate of the workspace, in these folders of it.
fn rust_files(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .chain([root.join("bench"), root.join("e2e")]);
    let mut files = Vec::new();
    for folder in crates.flat_map(|one| folders.iter().map(move |folder| one.join(folder))) {
        collect(&folder, &mut files);
    }
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

fn text_of(file: &Path) -> String {
    fs::read_to_string(file).unwrap()
}
