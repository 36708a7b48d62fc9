//! The alert rules of the package: they fire when they should, and every series that they name is there from the
//! start of a server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use testing::PATIENCE;

/// Series that only some servers have: those with a standby, those with a bucket.
const ONLY_SOME: [&str; 2] = ["mailroom_replica_up", "mailroom_blob_store_up"];
/// Series that Prometheus makes itself.
const OF_PROMETHEUS: [&str; 1] = ["up"];

/// Lines that a server without mail and backups has.
const LINES: [&str; 8] = [
    "mailroom_jobs_given_up_total{queue=\"messages\"} 0",
    "mailroom_task_up{task=\"jobs\"} 1",
    "mailroom_task_up{task=\"mail fetching\"} 1",
    "mailroom_task_up{task=\"SMTP listener\"} 1",
    "mailroom_task_up{task=\"backups\"} 1",
    "mailroom_task_up{task=\"certificate\"} 1",
    "mailroom_task_restarts_total{task=\"jobs\"} 0",
    "mailroom_backup_scheduled 0",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn each_rule_fires_when_it_should_and_not_before() {
    let tests = repository().join("scripts/conformance/package");
    let ran = Command::new("promtool")
        .args(["test", "rules"])
        .arg(tests.join("alerts_test.yml"))
        .arg(tests.join("alerts_slow_test.yml"))
        .output()
        .expect("promtool is installed: Debian has it in the package prometheus");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn every_series_of_the_rules_is_there_from_the_start() {
    let rules = std::fs::read_to_string(repository().join("packaging/monitoring/alerts.yml"));
    let wanted = series(&rules.unwrap());
    assert!(wanted.len() > 25, "{wanted:?}");
    let server = MeasuredServer::start();
    let begun = Instant::now();
    let missing = loop {
        let metrics = server.metrics();
        let is_there = |series: &&NamedSeries| metrics.lines().any(|line| series.is(line));
        let missing = wanted.iter().filter(|one| !is_there(one)).map(|one| format!("{one:?}"));
        let has_line = |line: &&str| metrics.lines().any(|found| found == *line);
        let lines = LINES.iter().filter(|line| !has_line(line)).map(|line| (*line).to_owned());
        let missing: Vec<String> = missing.chain(lines).collect();
        // The first look at the database and the first round of each queue take a moment.
        if missing.is_empty() || begun.elapsed() > PATIENCE {
            break missing;
        }
        thread::sleep(Duration::from_millis(50));
    };
    assert!(missing.is_empty(), "{missing:?}");
    let (status, verbose) = server.ask(&server.http, "/readyz?verbose");
    assert!(
        status == 200 && verbose.starts_with("ready\ndatabase: ok\nstorage: ok\n"),
        "{verbose}"
    );
    for line in ["jobs: ok", "mail fetching: ok", "SMTP listener: ok", "backups: ok"] {
        assert!(verbose.lines().any(|found| found == line), "{line} in {verbose}");
    }
    let (status, short) = server.ask(&server.http, "/readyz");
    assert!(status == 200 && short.starts_with("ready\n"), "{short}");
}

/// A series as a rule names it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NamedSeries {
    name: String,
    /// The labels that must be there with one of these values.
    labels: Vec<(String, Vec<String>)>,
}

impl NamedSeries {
    fn is(&self, line: &str) -> bool {
        let Some(rest) = line.strip_prefix(&self.name) else { return false };
        let has = |(label, values): &(String, Vec<String>)| {
            values.iter().any(|value| rest.contains(&format!("{label}=\"{value}\"")))
        };
        rest.starts_with([' ', '{']) && self.labels.iter().all(has)
    }
}

/// The series in the expressions of a rule file.
fn series(rules: &str) -> Vec<NamedSeries> {
    let part = |c: char| c.is_ascii_lowercase() || c == '_';
    let mut found = Vec::new();
    for prefix in ["mailroom_", "process_"] {
        for (place, _) in rules.match_indices(prefix) {
            let rest = &rules[place..];
            let name = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
            let labels = rest[name.len()..].strip_prefix('{').and_then(|it| it.split_once('}'));
            let labels = labels.map_or(Vec::new(), |(labels, _)| {
                let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
                let values = |text: &str| {
                    let text = text.trim_start_matches('~').trim_matches('"');
                    text.split('|').map(str::to_owned).collect()
                };
                pairs.map(|(label, text)| (label.trim().to_owned(), values(text))).collect()
            });
            found.push(NamedSeries { name: name.to_owned(), labels });
        }
    }
    found.retain(|series| !ONLY_SOME.contains(&&*series.name));
    found.retain(|series| !OF_PROMETHEUS.contains(&&*series.name));
    found.sort();
    found.dedup();
    found
}

/// The program, with metrics.
struct MeasuredServer {
    child: Child,
    http: String,
    metrics: String,
    _folder: tempfile::TempDir,
}

impl MeasuredServer {
    fn start() -> MeasuredServer {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mailroom"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MAILROOM_") {
                command.env_remove(name);
            }
        }
        let places = ["--listen=127.0.0.1:0", "--smtp-listen=127.0.0.1:0"];
        let mut child = command
            .arg("serve")
            .args(places)
            .arg("--metrics-listen=127.0.0.1:0")
            .env("MAILROOM_DATA", folder.path())
            .env("MAILROOM_LOG", "json")
            .env_remove("RUST_LOG")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut address = |message: &str| loop {
            let line = log.next().expect("it serves").unwrap();
            let line: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if line["fields"]["message"] == message {
                let address = line["fields"]["address"].as_str().unwrap();
                break address.trim_start_matches("http://").to_owned();
            }
        };
        let (http, metrics) = (address("serving"), address("serving metrics"));
        // The pipe must not fill up.
        thread::spawn(move || log.for_each(drop));
        MeasuredServer { child, http, metrics, _folder: folder }
    }

    fn metrics(&self) -> String {
        let (status, body) = self.ask(&self.metrics, "/metrics");
        assert_eq!(status, 200);
        body
    }

    fn ask(&self, address: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
