//! The command line, as an operator types it: the program itself on a data folder of its own.

mod agents;
mod answers;
mod backups;
mod contact_forms;
mod data_folder;
mod evals;
mod help_desks;
mod imports;
mod known_answers;
mod lists;
mod manual;
mod people;
mod person_data;
mod queues;
mod sandbox;
mod sorting;
mod starting;
mod webhooks;
mod workspaces;
mod wrong_settings;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use serde_json::Value;

/// A data folder, and the program that works on it.
struct Operator {
    folder: tempfile::TempDir,
}

/// What a command printed, and how it ended.
struct Said {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Operator {
    fn new() -> Operator {
        Operator { folder: tempfile::tempdir().unwrap() }
    }

    /// One with a workspace, an owner and an inbox.
    fn set_up() -> Operator {
        let operator = Operator::new();
        operator.json(&SETUP);
        operator
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, args: &[&str]) -> Command {
        command(&self.data(), args)
    }

    fn run(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).output().unwrap())
    }

    /// The words of a command that must succeed.
    fn text(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.status, Some(0), "{args:?}: {} {}", said.out, said.err);
        said.out
    }

    /// The one JSON object of a command that must succeed.
    fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.text(&args)).unwrap()
    }

    fn serve(&self, args: &[&str]) -> Serving {
        Serving::start(&self.data(), args)
    }
}

/// The arguments of a first `setup`.
const SETUP: [&str; 6] = [
    "setup",
    "--workspace=Acme",
    "--owner-email=olive@acme.example",
    "--owner-name=Olive",
    "--inbox=support@acme.example",
    "--inbox-name=Support",
];

/// The program on a data folder, with none of the settings of whoever runs the tests.
fn command(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailroom"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MAILROOM_") {
            command.env_remove(name);
        }
    }
    command.args(args).env("MAILROOM_DATA", data).env_remove("RUST_LOG");
    command
}

impl Said {
    fn of(output: Output) -> Said {
        Said {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A server at work; it ends with the test.
struct Serving {
    child: Child,
    /// Such as `127.0.0.1:40123`.
    address: String,
}

impl Serving {
    fn start(data: &Path, args: &[&str]) -> Serving {
        let usual = ["serve", "--listen=127.0.0.1:0", "--smtp-listen=off"];
        let args: Vec<&str> = usual.iter().chain(args).copied().collect();
        let mut child = command(data, &args)
            .env("MAILROOM_LOG", "json")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = log.by_ref().map(Result::unwrap).find_map(|line| address_in(&line));
        // The pipe must not fill up.
        thread::spawn(move || log.for_each(drop));
        Serving { child, address: address.expect("it serves") }
    }

    /// The status and body of an answer.
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }
}

fn address_in(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    let fields = &line["fields"];
    let is_serving = fields["message"] == "serving";
    is_serving.then(|| fields["address"].as_str().unwrap().trim_start_matches("http://").to_owned())
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
