//! Imports of the server run one way: a layer knows those below it, and no two files know each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The layers, highest first. A module imports those of lower rows only, never one of its own row.
const LAYERS: &[&[&str]] = &[
    &["cli"],
    &["demo"],
    &["serve"],
    &["settings", "http::router"],
    &["web", "api", "mail_in"],
    &["mailbox_setup"],
    &["mail_out", "webhooks", "documents", "drafting", "calendars", "imap_client"],
    &["mail_oauth", "oidc", "backup"],
    &["node"],
    &["http"],
    &["net"],
];

#[test]
fn a_layer_imports_only_those_below_it() {
    let mut breaches = Vec::new();
    for (file, imported) in imports() {
        for target in imported {
            let (Some(from), Some(to)) = (layer(&file), layer(&target)) else {
                breaches.push(format!("{file} or {target} has no layer: add it to LAYERS"));
                continue;
            };
            if from != to && rank(from) >= rank(to) {
                breaches.push(format!("{file} imports {target}: {from} is not above {to}"));
            }
        }
    }
    assert!(breaches.is_empty(), "imports that run upwards:\n  {}", breaches.join("\n  "));
}

#[test]
fn no_files_import_one_another_in_a_circle() {
    let mut graph = imports();
    // What imports nothing that is left, or is imported by nothing that is left, is in no circle.
    loop {
        let all: BTreeSet<String> = graph.values().flatten().cloned().collect();
        let is_end = |(file, imported): &(&String, &BTreeSet<String>)| {
            !all.contains(*file) || !imported.iter().any(|target| graph.contains_key(target))
        };
        let ends: Vec<String> = graph.iter().filter(is_end).map(|(file, _)| file.clone()).collect();
        if ends.is_empty() {
            break;
        }
        graph.retain(|file, _| !ends.contains(file));
    }
    let shown = |(file, imported): (&String, &BTreeSet<String>)| {
        let inside = imported.iter().filter(|target| graph.contains_key(*target));
        format!("{file} -> {}", inside.cloned().collect::<Vec<_>>().join(", "))
    };
    let circles: Vec<String> = graph.iter().map(shown).collect();
    assert!(circles.is_empty(), "files that import one another:\n  {}", circles.join("\n  "));
}

/// The entry of [`LAYERS`] that a module belongs to: the longest that it begins with.
fn layer(module: &str) -> Option<&'static str> {
    let entries = LAYERS.iter().flat_map(|row| row.iter().copied());
    entries.filter(|entry| is_within(module, entry)).max_by_key(|entry| entry.len())
}

fn rank(entry: &str) -> usize {
    LAYERS.iter().position(|row| row.contains(&entry)).expect("it is an entry")
}

fn is_within(module: &str, other: &str) -> bool {
    module.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Each module's file with the files that it imports. The file of a folder declares its parts, and
/// they may use what it defines, so an import of an ancestor is not counted.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = BTreeMap::new();
    read(&root, "", &mut sources);
    assert!(sources.len() > 100, "the sources are found");
    let of = |(module, text): (&String, &String)| {
        let paths = paths(text);
        let targets = paths.iter().filter_map(|path| resolve(module, path, &sources));
        (module.clone(), targets.filter(|target| !is_within(module, target)).collect())
    };
    sources.iter().map(of).collect()
}

fn read(folder: &Path, module: &str, sources: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let inside = if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") };
        if path.is_dir() {
            read(&path, &inside, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let own = if name == "mod" { module.to_owned() } else { inside };
            if own != "lib" && own != "main" {
                sources.insert(own, fs::read_to_string(&path).expect("a source"));
            }
        }
    }
}

/// Every path of a source: those of `use` declarations, and those written in the code. Comments and
/// the unit tests at the end of a file are left out.
fn paths(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: Vec<&str> =
        source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let mut paths = Vec::new();
    for part in code.split("use ").skip(1) {
        let Some((tree, _)) = part.split_once(';') else { continue };
        expand("", &tree.split_whitespace().collect::<Vec<_>>().join(" "), &mut paths);
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let inline = code.split(|c| !is_path(c)).filter(|word| word.contains("::"));
    paths.extend(inline.map(|word| word.trim_matches(':').to_owned()));
    paths
}

/// Writes `a::{b, c::d}` out as `a::b` and `a::c::d`.
fn expand(before: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((start, rest)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap_or_default();
        return paths.push(format!("{before}{name}"));
    };
    let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
    let (mut depth, mut from) = (0, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&format!("{before}{start}"), &inside[from..at], paths);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !inside[from..].trim().is_empty() {
        expand(&format!("{before}{start}"), &inside[from..], paths);
    }
}

/// The file that a path leads into, if it is one of this crate.
fn resolve(module: &str, path: &str, sources: &BTreeMap<String, String>) -> Option<String> {
    let mut parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    let mut base: Vec<&str> = module.split("::").collect();
    match parts.first().copied()? {
        "crate" => base.clear(),
        "super" | "self" => {}
        first if sources.contains_key(&format!("{module}::{first}")) => {}
        _ => return None,
    }
    while let Some(step @ ("crate" | "super" | "self")) = parts.first().copied() {
        if step == "super" {
            base.pop();
        }
        parts.remove(0);
    }
    base.extend(parts);
    while !base.is_empty() {
        let file = base.join("::");
        if sources.contains_key(&file) {
            return Some(file);
        }
        base.pop();
    }
    None
}
