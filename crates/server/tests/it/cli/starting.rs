//! What `mailroom serve` says where it cannot do its work.

use std::io::{BufRead, BufReader};
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

fn serve(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailroom"));
    command.arg("serve").env("MAILROOM_DATA", data).env("MAILROOM_LISTEN", "127.0.0.1:0");
    command.env("MAILROOM_SMTP_LISTEN", "off").env("RUST_LOG", "info");
    for other in ["MAILROOM_DATABASE_URL", "MAILROOM_BLOBS", "MAILROOM_LOG"] {
        command.env_remove(other);
    }
    command
}
