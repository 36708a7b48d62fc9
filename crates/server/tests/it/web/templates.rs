//! Rules for how the templates are written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::PAGE_CRATES;

const LINE_CHARS: usize = 140;

/// The code and the templates of each crate that has pages.
fn sources(ending: &str) -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = PAGE_CRATES.map(|name| crates.join(name).join("src")).to_vec();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|it| it == ending) => found.push(path),
                false => {}
            }
        }
    }
    found
}

fn templates() -> Vec<PathBuf> {
    sources("html")
}

/// Lines that break the rule, as `file:line: text`.
fn lines_that(breaks: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for path in templates() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if breaks(line) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    found
}

fn none(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_template_line_fits_a_review() {
    none(lines_that(|line| line.chars().count() > LINE_CHARS));
}

/// Those of the team are in languages that are written from left to right.
#[test]
fn a_page_of_customers_says_which_way_its_lines_run() {
    const OF_TEAM: [&str; 3] = ["base.html:", "outside.html:", "approve_base.html:"];
    let is_silent = |line: &str| line.contains("<html lang=\"{{") && !line.contains(" dir=\"");
    let silent = lines_that(is_silent).into_iter();
    none(silent.filter(|line| !OF_TEAM.iter().any(|name| line.starts_with(name))).collect());
}

#[test]
fn the_token_field_is_written_once() {
    let inputs = lines_that(|line| line.contains("name=\"csrf\""));
    assert_eq!(inputs.len(), 1, "{}", inputs.join("\n"));
    assert!(inputs[0].starts_with("macros.html:"), "{}", inputs[0]);
}

#[test]
fn the_length_of_an_input_comes_from_a_named_limit() {
    let is_literal = |line: &str| {
        ["maxlength=\"", "minlength=\""].iter().any(|name| {
            line.split(name).skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    none(lines_that(|line| is_literal(line)));
}

/// White space around tags becomes one character, so that indentation does not make pages larger.
#[test]
fn every_page_is_rendered_without_the_indentation_of_its_tags() {
    let mut count = 0;
    for path in sources("rs") {
        for line in fs::read_to_string(&path).unwrap().lines() {
            if line.starts_with("#[template(") {
                let is_minimized = line.ends_with(", whitespace = \"minimize\")]");
                assert!(is_minimized, "{}: {line}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 20, "the templates were not found");
}

#[test]
fn a_form_that_is_one_button_is_a_macro() {
    for path in templates() {
        let text = fs::read_to_string(&path).unwrap();
        if path.ends_with("macros.html") {
            continue;
        }
        let mut forms = text.split("<form method=\"post\" action=\"").skip(1);
        let is_button = |form: &str| {
            let (_, body) = form.split_once('>').unwrap_or_default();
            let body = body.trim_start().strip_prefix("{{ ui::csrf(frame.csrf) }}");
            body.is_some_and(|body| body.trim_start().starts_with("<button class=\"btn"))
        };
        assert!(!forms.any(is_button), "{}: use ui::button_form", path.display());
    }
}

/// A macro's arguments are bound one after the other: one that reads a variable named like an earlier parameter
/// would get that parameter.
#[test]
fn no_argument_of_a_macro_reads_an_earlier_parameter() {
    let mut macros: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let pages: Vec<(PathBuf, String)> = templates()
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    for (_, page) in &pages {
        for (_, rest) in
            page.match_indices("{% macro ").map(|(at, tag)| page.split_at(at + tag.len()))
        {
            let (name, rest) = rest.split_once('(').unwrap();
            let parameters = arguments(rest).into_iter();
            let parameters =
                parameters.map(|one| one.split('=').next().unwrap_or_default().to_owned());
            macros.entry(name.to_owned()).or_default().push(parameters.collect());
        }
    }
    let mut found = Vec::new();
    for (path, page) in &pages {
        for (name, shapes) in &macros {
            for (at, opened) in page.match_indices(&format!("::{name}(")) {
                let given = arguments(&page[at + opened.len()..]);
                let is_shadowed = |parameters: &Vec<String>| {
                    (1..given.len()).any(|later| {
                        parameters.iter().take(later).zip(&given).any(|(parameter, argument)| {
                            argument != parameter && variables(&given[later]).contains(parameter)
                        })
                    })
                };
                if shapes.iter().any(is_shadowed) {
                    found.push(format!("{}: {name}({})", path.display(), given.join(", ")));
                }
            }
        }
    }
    assert!(macros.len() > 40, "{}", macros.len());
    none(found);
}

/// The arguments up to the parenthesis that closes them.
fn arguments(rest: &str) -> Vec<String> {
    let (mut all, mut one, mut depth, mut is_string) = (Vec::new(), String::new(), 0, false);
    for c in rest.chars() {
        match c {
            '"' => is_string = !is_string,
            '(' | '[' if !is_string => depth += 1,
            ')' | ']' if !is_string && depth > 0 => depth -= 1,
            ')' if !is_string => break,
            ',' if !is_string && depth == 0 => {
                all.push(std::mem::take(&mut one).trim().to_owned());
                continue;
            }
            _ => {}
        }
        one.push(c);
    }
    all.push(one.trim().to_owned());
    all.retain(|one| !one.is_empty());
    all
}

/// The variables that an expression reads, without members, functions and filters.
fn variables(expression: &str) -> Vec<String> {
    let outside = expression.split('"').step_by(2).collect::<Vec<_>>().join(" \" ");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = outside.as_str();
    let mut is_member = false;
    while let Some(start) = rest.find(is_word) {
        is_member = is_member || rest[..start].trim_end().ends_with(['.', '|', ':']);
        let from = &rest[start..];
        let (word, after) = from.split_at(from.find(|c| !is_word(c)).unwrap_or(from.len()));
        if !is_member && !after.starts_with(['(', ':']) {
            found.push(word.to_owned());
        }
        (rest, is_member) = (after, false);
    }
    found
}
