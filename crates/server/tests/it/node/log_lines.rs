//! A line of the log says what it belongs to: a request with its client and actor, a mail connection,
//! or a job with its workspace and the row that it works on.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::secrecy::program::DemoProgram;
use crate::support::{Backend, Database};

const INBOX: &str = "support@lumen-holz.example";
/// A job may have to wait for its turn on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn lines_name_request_client_actor_and_job_on_sqlite() {
    lines_are_named(Backend::Sqlite);
}

#[test]
fn lines_name_request_client_actor_and_job_on_postgres() {
    lines_are_named(Backend::Postgres);
}

fn lines_are_named(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(backend, folder.path());
    let url = ["--public-url", "http://localhost:8080"];
    let program = DemoProgram::start(folder.path(), &database.url, &url);

    // An agent behind a proxy of ours: the address that the proxy adds counts, not what stands before.
    let key = program.ready["liveKey"].as_str().unwrap();
    let headers =
        format!("Authorization: Bearer {key}\r\nX-Forwarded-For: 198.51.100.7, 203.0.113.9\r\n");
    let (head, body) = program.ask("GET", "/api/v1/me", &headers, "");
    let me: Value = serde_json::from_str(&body).unwrap();
    let agent = me["agent"]["id"].as_str().unwrap();
    let line = only_line(&program, &head, "route=\"/me\"");
    assert!(line.contains(" client=203.0.113.9 workspace=1 "), "{line}");
    assert!(line.contains(&format!(" actor={agent}}}")), "{line}");

    // A person; the page reads who they are in more than one transaction, and says it once.
    let session = program.sign_in();
    let (head, _) = program.ask("GET", "/inbox", &format!("Cookie: {session}\r\n"), "");
    let line = only_line(&program, &head, "route=\"/inbox\"");
    assert!(line.contains(" client=127.0.0.1 workspace=1 actor=usr_"), "{line}");
    assert_eq!(line.matches("actor=").count(), 1, "{line}");

    // What the handler itself logs.
    let form =
        "Content-Type: application/x-www-form-urlencoded\r\nX-Forwarded-For: 203.0.113.9\r\n";
    let fields = "csrf=&id=a&client_data=a&authenticator_data=a&signature=a&user_handle=a&next=%2F";
    let (head, _) = program.ask("POST", "/sign-in/passkey", form, fields);
    let line = only_line(&program, &head, "a passkey was refused");
    assert!(line.contains(" client=203.0.113.9}"), "nobody is known: {line}");

    // A mail connection, and the job that reads the attachment.
    program.deliver("mara@customer.example", INBOX, &mail_with_a_file());
    let log = program.log();
    let line = log.lines().find(|line| line.contains("a mail came in")).unwrap();
    assert!(
        line.contains("mail{id=") && line.contains(" client=127.0.0.1 protocol=smtp}"),
        "{line}"
    );
    let read = |line: &str| line.contains("jobs::extract_documents: ");
    let line = wait_for(&program, read);
    assert!(line.contains("job{queue=\"documents\" workspace=1 id=\"doc_"), "{line}");

    let log = program.log();
    let token = session.split_once('=').unwrap().1;
    for secret in [key, token, "@customer.example", "@lumen-holz.example"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

/// The line of the request that was answered so, with these words.
fn only_line(program: &DemoProgram, head: &str, words: &str) -> String {
    let id = head.lines().find_map(|line| line.strip_prefix("x-request-id: "));
    let id = id.unwrap_or_else(|| panic!("no id in {head}"));
    let log = program.log();
    let of_request = format!("request{{id={id} ");
    let mut lines = log.lines().filter(|line| line.contains(&of_request) && line.contains(words));
    let line = lines.next().unwrap_or_else(|| panic!("no line of {id} with {words}: {log}"));
    assert!(lines.next().is_none(), "{words} is said twice");
    line.to_owned()
}

fn wait_for(program: &DemoProgram, is_it: impl Fn(&str) -> bool) -> String {
    let began = Instant::now();
    loop {
        let log = program.log();
        if let Some(line) = log.lines().find(|line| is_it(line)) {
            return line.to_owned();
        }
        assert!(began.elapsed() < PATIENCE, "the line did not come: {log}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn mail_with_a_file() -> String {
    format!(
        "From: Mara <mara@customer.example>\r\nTo: {INBOX}\r\nSubject: A file\r\n\
         Message-ID: <file@customer.example>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n\
         --b\r\nContent-Type: text/plain; name=\"list.txt\"\r\n\
         Content-Disposition: attachment; filename=\"list.txt\"\r\n\r\nA list\r\n--b--\r\n"
    )
}
