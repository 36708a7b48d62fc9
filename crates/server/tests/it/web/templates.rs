//! Rules for how the templates are written.

use std::fs;
use std::path::Path;

const LINE_CHARS: usize = 140;

/// Lines that break the rule, as `file:line: text`.
fn lines_that(breaks: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
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
