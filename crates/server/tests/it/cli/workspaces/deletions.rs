//! Deleting an inbox and a workspace at the command line, also when the command is killed, and sweeping up.

use base::app::App;
use inbound::{InboundMail, MailSource, ingest};
use testing::{Backend, TestAuthenticator, becomes_true, raw};

use super::super::backups::Installation;

const ARCHIVE: &str = "archive@lumen-holz.example";
const OWNER: &str = "ines@lumen-holz.example";

async fn receive(app: &App, number: usize) {
    let text = raw("kim@x.example", &format!("Number {number}"), &format!("Mail {number}"));
    let mail = InboundMail {
        sender: Some("kim@x.example".into()),
        recipients: vec![ARCHIVE.into()],
        source: MailSource::OurServer,
        raw: text.replace("support@acme.example", ARCHIVE).into_bytes(),
    };
    let taken = ingest(app, &TestAuthenticator::default(), mail).await;
    assert!(taken.iter().all(Result::is_ok), "{taken:?}");
}

/// An installation with some conversations in an inbox of their own.
fn filled(backend: Backend, runtime: &tokio::runtime::Runtime, count: usize) -> Installation {
    let installation = Installation::new(backend);
    runtime.block_on(async { server::demo::fill(&installation.app()).await.unwrap() });
    installation.done(&["inbox", "add", ARCHIVE, "--name", "Archive"]);
    runtime.block_on(async {
        let app = installation.app();
        for number in 0..count {
            receive(&app, number).await;
        }
    });
    installation
}

fn left(runtime: &tokio::runtime::Runtime, installation: &Installation, sql: &'static str) -> i64 {
    let store = testing::open(&installation.database.url);
    let read = store.read(move |tx| tx.one::<(i64,)>(sql, &[]));
    runtime.block_on(read).unwrap_or_else(|error: db::StoreError| panic!("{error}")).0
}

const IN_ARCHIVE: &str = "SELECT CAST(count(*) AS BIGINT) FROM conversations c
    JOIN mailboxes m ON m.ws = c.ws AND m.id = c.mailbox WHERE m.name = 'Archive'";
const BEGUN: &str = "SELECT CAST(count(*) AS BIGINT) FROM deletions";

fn walk(backend: Backend) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let installation = filled(backend, &runtime, 3);
    let delete = ["inbox", "delete", ARCHIVE, "--by", OWNER];
    let asked = installation.done(&delete);
    assert_eq!((&asked["deleted"], &asked["conversations"]), (&false.into(), &3.into()), "{asked}");
    let (status, refused) = installation.run(&[
        "inbox",
        "delete",
        ARCHIVE,
        "--by",
        "jonas@lumen-holz.example",
        "--yes",
    ]);
    assert_eq!(status, 1, "{refused}");
    assert_eq!(left(&runtime, &installation, IN_ARCHIVE), 3);
    let kept = installation.done(&["inbox", "retention", ARCHIVE, "--by", OWNER, "--days", "30"]);
    assert_eq!((&kept["set"], &kept["untouched"]), (&false.into(), &0.into()), "{kept}");
    let yes: Vec<&str> = delete.iter().copied().chain(["--yes"]).collect();
    let deleted = installation.done(&yes);
    assert_eq!(
        (&deleted["deleted"], &deleted["erased"]),
        (&true.into(), &true.into()),
        "{deleted}"
    );
    assert!(deleted["kept"][0].as_str().unwrap().contains("audit log"), "{deleted}");
    assert_eq!(left(&runtime, &installation, IN_ARCHIVE), 0);
    assert_eq!(installation.run(&delete).0, 1, "it is not there any more");
    let swept = installation.done(&["check", "--sweep"]);
    assert_eq!((&swept["findings"], &swept["sweep"]["rows"]), (&serde_json::json!([]), &0.into()));

    let asked = installation.done(&["workspace", "delete", "--by", OWNER]);
    assert_eq!(asked["deleted"], false, "{asked}");
    let deleted = installation.done(&["workspace", "delete", "--by", OWNER, "--yes"]);
    assert_eq!(
        (&deleted["deleted"], &deleted["erased"]),
        (&true.into(), &true.into()),
        "{deleted}"
    );
    assert_eq!(installation.done(&["workspace", "list"])["workspaces"], serde_json::json!([]));
    assert_eq!(installation.done(&["check"])["findings"], serde_json::json!([]));
}

/// The command is killed while it erases; sweeping up finishes what it began.
fn kill(backend: Backend) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let installation = filled(backend, &runtime, 100);
    let mut command = installation.command(&["inbox", "delete", ARCHIVE, "--by", OWNER, "--yes"]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let is_under_way = || {
        let is_over = child.try_wait().unwrap().is_some();
        is_over || left(&runtime, &installation, BEGUN) > 0
    };
    assert!(becomes_true(is_under_way));
    child.kill().unwrap();
    child.wait().unwrap();
    // The lease of the process that is gone would end after a minute.
    let store = testing::open(&installation.database.url);
    let ended = store.write(|tx| tx.exec("UPDATE deletions SET due_at = 0", &[]));
    runtime.block_on(ended).unwrap_or_else(|error: db::StoreError| panic!("{error}"));
    drop(store);
    installation.done(&["check", "--sweep"]);
    assert_eq!(left(&runtime, &installation, BEGUN), 0);
    assert_eq!(left(&runtime, &installation, IN_ARCHIVE), 0);
    assert_eq!(installation.done(&["check"])["findings"], serde_json::json!([]));
}

#[test]
fn an_inbox_and_a_workspace_are_deleted_in_sqlite() {
    walk(Backend::Sqlite);
}

#[test]
fn an_inbox_and_a_workspace_are_deleted_in_postgres() {
    walk(Backend::Postgres);
}

#[test]
fn a_deletion_that_was_killed_is_finished_in_sqlite() {
    kill(Backend::Sqlite);
}

#[test]
fn a_deletion_that_was_killed_is_finished_in_postgres() {
    kill(Backend::Postgres);
}
