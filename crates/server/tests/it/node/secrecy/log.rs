//! `RUST_LOG=trace` and all: no word of a mail is in the log.

use serde_json::{Value, json};

use super::program::DemoProgram;
use crate::support::{Backend, Database};

const CANARY: &str = "zanzibarkanarie";
const INBOX: &str = "support@lumen-holz.example";

#[test]
fn no_word_of_a_mail_is_in_the_log_on_sqlite() {
    no_word_is_told(Backend::Sqlite);
}

#[test]
fn no_word_of_a_mail_is_in_the_log_on_postgres() {
    no_word_is_told(Backend::Postgres);
}

fn no_word_is_told(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(backend, folder.path());
    let program = DemoProgram::start(folder.path(), &database.url, &[]);
    program.deliver("mara@customer.example", INBOX, &letter());
    let session = program.sign_in();
    let page = |path: &str| {
        let (head, body) = program.ask("GET", path, &format!("Cookie: {session}\r\n"), "");
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        body
    };

    let found = program.call("GET", &format!("/conversations?q={CANARY}"), &Value::Null);
    let id = found[0]["id"].as_str().unwrap_or_else(|| panic!("{found}"));
    let read = program.call("GET", &format!("/conversations/{id}"), &Value::Null);
    assert!(read.to_string().contains(CANARY), "{read}");
    let message = read["timeline"][0]["id"].as_str().unwrap_or_else(|| panic!("{read}"));
    for (what, body) in [
        ("notes", json!({ "body": format!("Note {CANARY}") })),
        ("tags", json!({ "add": [CANARY] })),
        ("reply", json!({ "body": format!("Reply {CANARY}"), "send": true })),
    ] {
        program.call("POST", &format!("/conversations/{id}/{what}"), &body);
    }
    assert!(page(&format!("/conversations/{id}")).contains(CANARY));
    assert!(page(&format!("/search?q={CANARY}")).contains(CANARY));
    for part in ["original", "html"] {
        page(&format!("/conversations/{id}/messages/{message}/{part}"));
    }

    let log = program.log();
    assert!(log.contains("page") && log.contains("/conversations/{id}"), "{log}");
    if let Some(line) = log.lines().find(|line| line.to_lowercase().contains(CANARY)) {
        panic!("the log tells words: {line}");
    }
}

/// Words in every place where a mail can have them.
fn letter() -> String {
    format!(
        "From: Mara {CANARY} <mara@customer.example>\r\nTo: {INBOX}\r\n\
         Subject: About {CANARY}\r\nMessage-ID: <{CANARY}@customer.example>\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
         <p>Hello {CANARY}<table><b>{CANARY}</table><img src=cid:{CANARY} alt='{CANARY}'>\r\n\
         --b\r\nContent-Type: text/plain; name=\"{CANARY}.txt\"\r\n\
         Content-Disposition: attachment; filename=\"{CANARY}.txt\"\r\n\r\nFile {CANARY}\r\n--b--\r\n"
    )
}
