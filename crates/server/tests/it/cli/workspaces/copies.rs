//! A copy of an installation starts quiet, and the original does not.

use std::fs;
use std::path::Path;

use serde_json::json;
use testing::becomes_true;

use super::super::{Operator, Serving};

/// A folder with everything in it, as an operator copies or restores it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

fn is_quiet(served: &Serving) -> bool {
    let (status, body) = served.get("/readyz");
    assert_eq!(status, 200, "{body}");
    body.contains("This server is quiet")
}

#[test]
fn a_copied_folder_starts_quiet_until_told_otherwise_and_a_moved_one_does_not() {
    let mut operator = Operator::set_up();
    assert!(!is_quiet(&operator.serve(&[])), "the original");
    assert!(!is_quiet(&operator.serve(&[])), "the original, started again");
    let (data, elsewhere) = (operator.data(), tempfile::tempdir().unwrap());
    let moved = operator.folder.path().join("moved");
    fs::rename(&data, &moved).unwrap();
    assert!(!is_quiet(&Serving::start(&moved, &[])), "a folder that moved is the original");
    if fs::metadata(moved.join("mailroom.db")).unwrap().created().is_err() {
        eprintln!("this file system does not say when a file was made: copies are not recognised");
        return;
    }
    copy(&moved, &elsewhere.path().join("data"));
    operator.folder = elsewhere;
    let served = operator.serve(&[]);
    assert!(is_quiet(&served), "a copy");
    let status = operator.json(&["quiet", "status"]);
    assert_eq!((&status["quiet"], &status["reason"]), (&json!(true), &json!("copied")));
    assert_eq!(operator.json(&["quiet", "off"])["quiet"], false);
    assert!(becomes_true(|| !is_quiet(&served)), "the running server goes on");
    drop(served);
    assert!(!is_quiet(&operator.serve(&[])), "it is an original of its own now");
}

#[test]
fn an_operator_makes_a_server_quiet_by_flag_or_by_command() {
    let operator = Operator::set_up();
    assert!(is_quiet(&operator.serve(&["--quiet"])));
    let served = operator.serve(&[]);
    assert!(!is_quiet(&served), "the flag is of one process");
    let status = operator.json(&["quiet", "on"]);
    assert_eq!((&status["quiet"], &status["reason"]), (&json!(true), &json!("asked")));
    assert!(becomes_true(|| is_quiet(&served)), "the running server follows");
    let said = operator.text(&["quiet", "status"]);
    assert!(said.contains("mailroom quiet off"), "{said}");
}
