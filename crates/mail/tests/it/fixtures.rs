//! Each mail of the folder beside what it must be understood as, with every kind of line end.

use std::fs;
use std::path::{Path, PathBuf};

use mail::inspect;
use serde_json::Value;

/// Set to write what comes out as the expected value; then read what changed.
const WRITE: &str = "MAIL_WRITE_FIXTURES";

#[test]
fn every_mail_is_understood_as_expected_whatever_its_line_ends() {
    let mut tried = 0;
    for path in mails() {
        let raw = fs::read(&path).unwrap();
        let expected = path.with_extension("json");
        if std::env::var_os(WRITE).is_some() {
            let text = serde_json::to_string_pretty(&understood(&raw)).unwrap();
            fs::write(&expected, text + "\n").unwrap();
        }
        let expected: Value = serde_json::from_slice(&fs::read(&expected).unwrap()).unwrap();
        for (ends, raw) in [("LF", raw.clone()), ("CRLF", with_line_ends(&raw, b"\r\n"))] {
            assert_eq!(understood(&raw), expected, "{} with {ends}", path.display());
        }
        tried += 1;
    }
    assert!(tried >= 17, "only {tried} mails were found");
}

#[test]
fn a_mail_of_carriage_returns_alone_says_the_same() {
    for name in ["plain", "bounce_report", "gmail_reply_german"] {
        let raw = fs::read(folder().join(name).with_extension("eml")).unwrap();
        assert_eq!(understood(&with_line_ends(&raw, b"\r")), understood(&raw), "{name}");
    }
}

/// What `mailroom inspect` prints of it, sizes of texts aside: parts that are kept as they came
/// have the line ends they came with.
fn understood(raw: &[u8]) -> Value {
    let mut value = serde_json::to_value(inspect("", raw)).unwrap();
    value.as_object_mut().unwrap().remove("file");
    for file in value["attachments"].as_array_mut().unwrap() {
        let kind = file["contentType"].as_str().unwrap();
        if kind.starts_with("text/") || kind.starts_with("message/") {
            file.as_object_mut().unwrap().remove("size");
        }
    }
    value
}

fn with_line_ends(raw: &[u8], end: &[u8]) -> Vec<u8> {
    raw.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(end)
}

fn mails() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut mails: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "eml")).collect();
    mails.sort();
    mails
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures")
}
