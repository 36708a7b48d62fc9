//! `/readyz`: whether a node can do its work.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use base::files::blob_files::BlobFiles;
use base::files::blobs::Blobs;
use node::health::{self, Readiness};
use node::quiet::QuietMode;
use node::storage_check::StorageCheck;
use node::supervisor::Supervisor;
use test_dns::{DnsAnswer, DnsServer};
use tokio_util::sync::CancellationToken;
use transport::net::dns_health::DnsHealth;

use crate::support::*;

/// A pause that no test waits for.
const NEVER: Duration = Duration::from_secs(86_400);

on_both!(
    a_node_that_can_write_is_ready,
    a_folder_that_cannot_be_written_or_is_nearly_full_makes_it_unready,
    a_database_that_cannot_be_written_makes_it_unready,
    a_dns_server_that_does_not_answer_is_told_and_mail_still_comes_in,
    a_task_that_ended_makes_it_unready_and_is_named,
    a_backup_that_is_late_or_failed_is_told,
    a_store_of_blobs_that_fails_or_hangs_is_told
);

async fn a_node_that_can_write_is_ready(app: TestApp) {
    let answer = ready(&app, 1, up().await).await.is(200);
    assert_eq!(answer.bytes, b"ready\n");
    // Nothing stays behind.
    let left = std::fs::read_dir(app.blob_folder()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["arriving"]);
}

async fn a_folder_that_cannot_be_written_or_is_nearly_full_makes_it_unready(app: TestApp) {
    let answer = ready(&app, u64::MAX, up().await).await.is(503);
    assert!(said(&answer).starts_with("the data folder has only "), "{}", said(&answer));
    std::fs::remove_dir_all(app.blob_folder()).unwrap();
    std::fs::write(app.blob_folder(), b"not a folder").unwrap();
    let answer = ready(&app, 1, up().await).await.is(503);
    let expected = "the folder of blobs cannot be written: Not a directory (os error 20)\n";
    assert_eq!(said(&answer), expected);
}

async fn a_database_that_cannot_be_written_makes_it_unready(app: TestApp) {
    app.exec("DROP TABLE node_files").await;
    let answer = ready(&app, 1, up().await).await.is(503);
    assert!(said(&answer).starts_with("the database cannot be written: "), "{}", said(&answer));
}

async fn a_dns_server_that_does_not_answer_is_told_and_mail_still_comes_in(app: TestApp) {
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let answer = ready(&app, 1, closed).await.is(200);
    let expected = "ready\nthe DNS server does not answer: SPF, DKIM and DMARC are not known\n";
    assert_eq!(said(&answer), expected);
}

#[test]
fn a_replica_that_is_away_is_told_and_the_database_answers() {
    run(Backend::Postgres, async |app: TestApp| {
        let key = app.key("read").await;
        let replica = db::ReplicaOptions::at("postgres://u@127.0.0.1:1/none");
        let (app, dns) = (app.with_replica(replica).await, up().await);
        let expected = "ready\nthe replica of the database is not used: it cannot be reached\n";
        eventually(async || said(&ready(&app, 1, dns).await.is(200)) == expected).await;
        app.get(&key, "/reports").await.is(200);
    });
}

async fn a_task_that_ended_makes_it_unready_and_is_named(app: TestApp) {
    let stopping = CancellationToken::new();
    let tasks = Supervisor::with_pause(stopping.clone(), NEVER);
    tasks.start("backups", CancellationToken::cancelled_owned);
    tasks.start("jobs", |_| async { panic!("a fault of a test") });
    let (dns, sentence) = (up().await, "the task jobs ended and is started again shortly");
    let asked = async |query: &str| ready_with(&app, 1, dns, tasks.clone(), query).await;
    eventually(async || asked("").await.status == 503).await;
    assert_eq!(said(&asked("").await), format!("{sentence}\n"));
    let verbose = said(&asked("?verbose").await.is(503));
    let expected = format!(
        "not ready\ndatabase: ok\nstorage: ok\nbackups: ok\njobs: {sentence}\nquiet mode: ok\n\
         DNS: ok\nTLS certificate: ok\nscheduled backups: ok\nobject store: ok\n"
    );
    assert_eq!(verbose, expected);
    stopping.cancel();
    let tasks = Supervisor::with_pause(CancellationToken::new(), NEVER);
    tasks.start("backups", |_| async { panic!("a fault of a test") });
    let asked = async || ready_with(&app, 1, dns, tasks.clone(), "").await;
    eventually(async || said(&asked().await).contains("the task backups ended")).await;
    asked().await.is(200);
}

async fn a_backup_that_is_late_or_failed_is_told(app: TestApp) {
    let dns = up().await;
    let set = |change: &str| format!("UPDATE scheduled_backups SET place = 'backups', {change}");
    let hours = |hours: i64| app.app.clock.now() - hours * 60 * 60 * 1_000;
    app.exec(&set(&format!("next_at = {}", hours(5)))).await;
    assert_eq!(said(&ready(&app, 1, dns).await.is(200)), "ready\n");
    app.exec(&set(&format!("next_at = {}", hours(9)))).await;
    let expected = "ready\nthe scheduled backup is 9 hours late\n";
    assert_eq!(said(&ready(&app, 1, dns).await.is(200)), expected);
    app.exec(&set("failures = 2")).await;
    let expected = "ready\nthe last scheduled backup failed\n";
    assert_eq!(said(&ready(&app, 1, dns).await.is(200)), expected);
}

async fn ready(app: &TestApp, free_least: u64, dns: SocketAddr) -> Answer {
    ready_with(app, free_least, dns, Supervisor::new(CancellationToken::new()), "").await
}

async fn ready_with(
    app: &TestApp,
    free_least: u64,
    dns: SocketAddr,
    tasks: Supervisor,
    query: &str,
) -> Answer {
    let storage = StorageCheck::new(app.app.clone(), app.folder(), &app.blob_folder(), free_least);
    let (dns, quiet) = (DnsHealth::of(Some(dns)), QuietMode::always(false));
    let (app, certificate) = (app.app.clone(), None);
    let readiness = Readiness { app, storage, dns, certificate, quiet, tasks };
    let request = Request::get(format!("/readyz{query}")).body(Body::empty()).unwrap();
    TestApp::send_to(&health::router(readiness), request).await
}

/// A server that answers any question.
async fn up() -> SocketAddr {
    let names = DnsServer::start(|_| DnsAnswer::Nothing);
    names.unwrap().address
}

fn said(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

/// A task that is spawned otherwise would end in silence.
#[test]
fn what_runs_as_long_as_the_server_is_started_by_the_supervisor_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let single = ["serve.rs", "mail_in/smtp/listener.rs"];
    let mut files = single.map(|file| crates.join("server/src").join(file)).to_vec();
    for folder in ["server/src/serve", "server/src/cli/run", "node/src", "backup/src"] {
        let entries = std::fs::read_dir(crates.join(folder)).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.retain(|file| !file.ends_with("node/src/supervisor.rs"));
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("tokio::spawn("), "{}", file.display());
    }
}

/// A store of blobs that says what it is told to.
struct TestStore(StoreAnswer);

type StoreAnswer = fn() -> std::io::Result<bool>;

impl BlobFiles for TestStore {
    fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn write(&self, _: &str, _: Vec<u8>) -> std::io::Result<()> {
        Ok(())
    }

    fn exists(&self, _: &str) -> std::io::Result<bool> {
        (self.0)()
    }

    fn remove(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }

    fn names(&self, _: &mut dyn FnMut(String)) -> std::io::Result<()> {
        Ok(())
    }

    fn label(&self) -> String {
        "a store of tests".into()
    }
}

async fn a_store_of_blobs_that_fails_or_hangs_is_told(mut app: TestApp) {
    let stores: [(StoreAnswer, &str); 3] = [
        (|| Ok(false), "ready\n"),
        (
            || Err(std::io::ErrorKind::TimedOut.into()),
            "ready\nthe object store of blobs does not answer",
        ),
        // Far longer than the test lasts.
        (
            || {
                std::thread::sleep(std::time::Duration::from_secs(6));
                Ok(true)
            },
            "ready\nthe object store of blobs does not answer",
        ),
    ];
    for (answer, expected) in stores {
        let store: std::sync::Arc<dyn BlobFiles> = std::sync::Arc::new(TestStore(answer));
        app.app.blobs = Blobs::open_with(&app.blob_folder(), Some(store)).unwrap();
        let answer = ready(&app, 1, up().await).await.is(200);
        assert!(said(&answer).starts_with(expected), "{}", said(&answer));
    }
}
