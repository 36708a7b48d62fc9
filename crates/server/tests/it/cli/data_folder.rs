//! One server works on a data folder at a time, commands work beside it, and what it leaves is one whole file.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testing::Backend;

use super::backups::Installation;
use super::{Operator, Said, Serving, command};

/// Asks a server to stop, and waits until it has.
fn stop(mut serving: Serving) {
    // It listens for signals once it answers.
    assert_eq!(serving.get("/readyz").0, 200);
    let process = Pid::from_raw(serving.child.id().try_into().unwrap()).unwrap();
    kill_process(process, Signal::TERM).unwrap();
    assert!(serving.child.wait().unwrap().success());
}

/// A second server on the same folder: its status and what it says.
fn second_server(data: &Path, database_url: Option<&str>) -> (Option<i32>, String) {
    let mut second = command(data, &["serve", "--listen=127.0.0.1:0", "--smtp-listen=off"]);
    second.envs(database_url.map(|url| ("MAILROOM_DATABASE_URL", url)));
    let said = Said::of(second.output().unwrap());
    (said.status, said.err)
}

#[test]
fn a_second_server_on_one_folder_is_refused_and_commands_work_beside_the_first() {
    let operator = Operator::set_up();
    let serving = operator.serve(&[]);
    let (status, said) = second_server(&operator.data(), None);
    assert_eq!(status, Some(1), "{said}");
    let process = format!("number {}", serving.child.id());
    assert!(said.contains(&process) && said.contains("the data folder"), "{said}");
    assert!(said.contains("--data"), "{said}");
    assert_eq!(serving.get("/readyz").0, 200, "the first goes on");
    // Commands work beside it as before.
    operator.json(&["key", "create", "--name=Robo", "--scopes=read", "--by=olive@acme.example"]);
    assert_eq!(operator.json(&["check"])["ok"], true);
    // A process that was killed leaves no lock behind.
    drop(serving);
    stop(operator.serve(&[]));
}

#[test]
fn a_second_server_on_the_database_of_another_folder_is_refused() {
    let (operator, other) = (Operator::set_up(), Operator::new());
    let serving = operator.serve(&[]);
    let url = format!("sqlite:{}", operator.data().join("mailroom.db").display());
    let (status, said) = second_server(&other.data(), Some(&url));
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("the database") && said.contains("mailroom.db"), "{said}");
    drop(serving);
}

#[test]
fn nodes_of_one_postgres_have_a_data_folder_each() {
    let installation = Installation::new(Backend::Postgres);
    let url = installation.database.url.clone();
    let args = ["--public-url=https://mail.acme.example", "--database-url", &url];
    let serving = Serving::start(&installation.data(), &args);
    let (status, said) = second_server(&installation.data(), Some(&url));
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("the data folder"), "{said}");
    drop(serving);
}

/// What is known from the database's one file, copied without anything beside it.
fn known_alone(data: &Path) -> Value {
    let log = data.join("mailroom.db-wal");
    assert!(fs::metadata(log).map_or(0, |log| log.len()) == 0, "everything is in the file");
    let alone = tempfile::tempdir().unwrap();
    for name in ["mailroom.db", "secret.key"] {
        fs::copy(data.join(name), alone.path().join(name)).unwrap();
    }
    fs::create_dir(alone.path().join("blobs")).unwrap();
    fs::copy(data.join("blobs/mailroom-id"), alone.path().join("blobs/mailroom-id")).unwrap();
    let said = Said::of(command(alone.path(), &["check", "--json"]).output().unwrap());
    assert_eq!(said.status, Some(0), "{} {}", said.out, said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn after_a_clean_stop_the_file_of_the_database_is_whole_by_itself() {
    let operator = Operator::set_up();
    let make = |name: &str| {
        let name = format!("--name={name}");
        operator.json(&["key", "create", &name, "--scopes=read", "--by=olive@acme.example"]);
    };
    let agents = || known_alone(&operator.data())["tables"]["agents"].as_u64().unwrap();
    let before = agents();
    let serving = operator.serve(&[]);
    make("one");
    make("two");
    stop(serving);
    assert_eq!(agents(), before + 2, "after a server");
    make("three");
    assert_eq!(agents(), before + 3, "after a command");
}
