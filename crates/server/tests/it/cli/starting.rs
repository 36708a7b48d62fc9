//! What `mailroom serve` says where it cannot do its work, or begins on an empty folder.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_data_folder_that_cannot_be_written_is_said_and_nothing_is_served() {
    // Nobody can make files there, whoever they are.
    let output = serve(Path::new("/proc/mailroom")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("The data folder /proc/mailroom cannot be written: "), "{said}");
    assert!(said.contains("name another with --data"), "{said}");
}

#[test]
fn without_a_workspace_it_says_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut serving = serve(folder.path()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(serving.stderr.take().unwrap()).lines();
    let said = lines.map(Result::unwrap).take_while(|line| !line.contains(" serving "));
    let said: Vec<String> = said.collect();
    serving.kill().unwrap();
    serving.wait().unwrap();
    let expected = "there is no workspace yet";
    let line = said.iter().find(|line| line.contains(expected)).expect("it is said");
    assert!(line.contains("mailroom setup --workspace"), "{line}");
}

#[test]
fn without_a_workspace_it_prints_a_link_whose_secret_is_in_no_line_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = serve(&folder.path().join("data"));
    command.env("RUST_LOG", "trace").env_remove("MAILROOM_PUBLIC_URL");
    let command = command.stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
    let mut serving = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serving.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let link = line.trim().strip_prefix("Set Mailroom up in the browser: http://");
    let (host, path) = link.unwrap_or_else(|| panic!("{line}")).split_once('/').unwrap();
    let page = get(host, &format!("/{path}"));
    let other = get(host, "/inbox");
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Set up Mailroom"), "{page}");
    assert!(other.starts_with("HTTP/1.1 503") && other.contains("not set up yet"), "{other}");
    let (log, secret) = (fs::read_to_string(log).unwrap(), path.strip_prefix("setup/").unwrap());
    assert!(log.contains("/setup/{secret}") && !log.contains(secret), "{log}");
}

fn get(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn serve(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailroom"));
    command.arg("serve").env("MAILROOM_DATA", data).env("MAILROOM_LISTEN", "127.0.0.1:0");
    command.env("MAILROOM_SMTP_LISTEN", "off").env("RUST_LOG", "info");
    for other in ["MAILROOM_DATABASE_URL", "MAILROOM_BLOBS", "MAILROOM_LOG"] {
        command.env_remove(other);
    }
    command
}
