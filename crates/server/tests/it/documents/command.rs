//! `mailroom read-document`.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::files::{INVOICE, pdf};
use super::program;

#[test]
fn every_file_gets_a_line_and_a_bad_one_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("broken.pdf"), "%PDF-1.4").unwrap();
    fs::write(path("invoice.pdf"), pdf(INVOICE)).unwrap();
    let names = [path("broken.pdf"), path("missing.pdf"), path("invoice.pdf"), path("")];
    let run = Command::new(program())
        .arg("read-document")
        .args(&names)
        .arg("--json")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let lines: Vec<Value> = String::from_utf8(run.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    for (line, name) in lines.iter().zip(&names) {
        assert_eq!(line["file"], json!(name));
    }
    assert_eq!(lines[0]["error"], "The file is damaged and cannot be opened.");
    assert!(lines[1]["error"].is_string());
    assert_eq!(lines[2]["kind"], "invoice");
    assert_eq!(lines[2]["fields"]["reference"], "R-2026-118");
    assert_eq!(lines[2].get("error"), None);
    assert_eq!(lines[3]["error"], "This is a folder.");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "no data was touched: {left:?}");
}
