//! The rules of `deny.toml` that can be held without cargo-deny: no crate that is linked, or runs
//! while building, may only be had under a copyleft licence; all come from crates.io, each in a
//! version that somebody chose.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What a crate may be used under. `deny.toml` at the root of the repository has the same list.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "OpenSSL",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

#[test]
fn every_crate_that_is_linked_may_be_used_under_a_permissive_licence() {
    let metadata = metadata();
    let refused: Vec<String> = linked(&metadata)
        .into_iter()
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or("none stated")))
        .map(|package| {
            format!("{} {}: {}", package["name"], package["version"], package["license"])
        })
        .collect();
    assert!(refused.is_empty(), "not under an allowed licence:\n{}", refused.join("\n"));
}

#[test]
fn deny_toml_allows_the_same_licences() {
    let settings = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, list) = settings.split_once("\nallow = [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    let listed: BTreeSet<&str> =
        list.split(',').map(|id| id.trim().trim_matches('"')).filter(|id| !id.is_empty()).collect();
    assert_eq!(listed, ALLOWED.iter().copied().collect());
}

/// Where every crate that is not ours comes from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn every_crate_of_others_comes_from_the_one_registry() {
    let metadata = metadata();
    let strange: Vec<String> = list(&metadata["packages"])
        .filter(|package| !package["source"].is_null() && package["source"] != REGISTRY)
        .map(|package| format!("{} from {}", package["name"], package["source"]))
        .collect();
    assert!(strange.is_empty(), "{}", strange.join("\n"));
}

#[test]
fn no_crate_of_ours_takes_whatever_version_there_is() {
    let metadata = metadata();
    let ours = list(&metadata["packages"]).filter(|package| package["source"].is_null());
    let wild: Vec<String> = ours
        .flat_map(|package| list(&package["dependencies"]).map(move |needed| (package, needed)))
        .filter(|(_, needed)| needed["req"] == "*" && needed["path"].is_null())
        .map(|(package, needed)| format!("{} takes any {}", package["name"], needed["name"]))
        .collect();
    assert!(wild.is_empty(), "{}", wild.join("\n"));
}

#[test]
fn an_expression_is_allowed_when_one_of_its_choices_is() {
    for (expression, allowed) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("MIT/Apache-2.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND (LGPL-2.1 OR MPL-2.0)", false),
        ("GPL-2.0 OR MIT AND AGPL-3.0", false),
        ("GPL-2.0 OR MIT AND ISC", true),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
        ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ("none stated", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression), allowed, "{expression:?}");
    }
}

/// What cargo knows about the crates of this platform, which are there once the tests were built.
fn metadata() -> Value {
    let cargo = env::var("CARGO").unwrap_or("cargo".into());
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let compiler = run("rustc", &["-vV"]);
    let platform = compiler.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let args = ["metadata", "--format-version=1", "--locked", "--filter-platform", platform];
    serde_json::from_str(&run(&cargo, &args)).unwrap()
}

fn root() -> PathBuf {
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    Path::new(&here).join("../..")
}

/// The packages reached from the workspace's own without its development dependencies.
fn linked(metadata: &Value) -> Vec<&Value> {
    let packages: HashMap<&str, &Value> = by_id(&metadata["packages"]);
    let nodes: HashMap<&str, &Value> = by_id(&metadata["resolve"]["nodes"]);
    let mut seen = HashSet::new();
    let mut queue: Vec<&str> =
        list(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
    while let Some(id) = queue.pop() {
        if seen.insert(id) {
            let needed = list(&nodes[id]["deps"]).filter(|dependency| {
                list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev")
            });
            queue.extend(needed.filter_map(|dependency| dependency["pkg"].as_str()));
        }
    }
    seen.into_iter().map(|id| packages[id]).collect()
}

fn by_id(values: &Value) -> HashMap<&str, &Value> {
    list(values).map(|value| (value["id"].as_str().unwrap(), value)).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("cargo writes a list").iter()
}

/// Reads an SPDX expression; `/` is how it was written before there was SPDX.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest) && rest.is_empty()
}

fn any_of(rest: &mut &[&str]) -> bool {
    let mut allowed = all_of(rest);
    while take(rest, "OR") {
        allowed |= all_of(rest);
    }
    allowed
}

fn all_of(rest: &mut &[&str]) -> bool {
    let mut allowed = one(rest);
    while take(rest, "AND") {
        allowed &= one(rest);
    }
    allowed
}

fn one(rest: &mut &[&str]) -> bool {
    if take(rest, "(") {
        return any_of(rest) & take(rest, ")");
    }
    let Some((licence, after)) = rest.split_first() else { return false };
    *rest = after;
    let licence = match take(rest, "WITH") {
        true => format!("{licence} WITH {}", rest.split_off_first().unwrap_or(&"")),
        false => licence.to_string(),
    };
    ALLOWED.contains(&licence.as_str())
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    let found = rest.first() == Some(&word);
    if found {
        *rest = &rest[1..];
    }
    found
}
