//! A PostgreSQL server that is stopped and started again under a running Mailroom.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use node::health::{self, Readiness};
use node::quiet::QuietMode;
use node::storage_check::StorageCheck;
use node::supervisor::Supervisor;
use tokio_util::sync::CancellationToken;
use transport::net::dns_health::DnsHealth;

use crate::support::*;

/// Far more than a request may take, and less than one took before it was given up.
const SOON: Duration = Duration::from_secs(12);

#[test]
fn requests_fail_soon_while_the_server_is_down_and_work_again_when_it_is_back() {
    let server = Postgres::new();
    server.start();
    run_at(&server.url(), async |app: TestApp| {
        let key = app.key("read").await;
        let browser = app.signed_in(&app.owner).await;
        let dns = DnsHealth::of(Some(([127, 0, 0, 1], 9).into()));
        let storage = StorageCheck::new(app.app.clone(), app.folder(), &app.blob_folder(), 1);
        let quiet = QuietMode::always(false);
        let router = health::router(Readiness {
            app: app.app.clone(),
            storage,
            dns,
            certificate: None,
            quiet,
            tasks: Supervisor::new(CancellationToken::new()),
        });
        let readiness = async || {
            let request = Request::get("/readyz").body(Body::empty()).unwrap();
            TestApp::send_to(&router, request).await.status
        };
        assert_eq!(readiness().await, 200);
        let working = app.keep_working();
        server.stop();
        let begun = Instant::now();
        for _ in 0..10 {
            let answer = app.get(&key, "/conversations").await.is(503);
            assert_eq!(answer.header("retry-after"), "5");
            assert_eq!(readiness().await, 503);
        }
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        let page = browser.get("/inbox").await.is(503);
        assert_eq!(page.answer.header("retry-after"), "5");
        assert!(page.text.contains("Something failed on our side"), "{}", page.text);
        server.start();
        eventually(async || readiness().await == 200).await;
        app.get(&key, "/conversations").await.is(200);
        working.stop();
    });
}

/// A server of the test's own, in a folder of its own.
struct Postgres {
    programs: PathBuf,
    folder: tempfile::TempDir,
}

impl Postgres {
    fn new() -> Postgres {
        let postgres = Postgres { programs: programs(), folder: tempfile::tempdir().unwrap() };
        if is_root() {
            // PostgreSQL refuses to be run by root.
            let mut command = Command::new("chown");
            let owned = command.arg(user_of_server()).arg(postgres.folder.path()).status();
            assert!(owned.unwrap().success());
        }
        let made = ["--pgdata=data", "--username=postgres", "--auth=trust", "--encoding=UTF8"];
        postgres.run("initdb", &[&made[..], &["--locale=C", "--no-sync"]].concat());
        let settings = format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\nfsync = off\n",
            postgres.folder.path().display()
        );
        let file = postgres.folder.path().join("data/postgresql.conf");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{before}\n{settings}")).unwrap();
        postgres
    }

    fn start(&self) {
        self.run("pg_ctl", &["--pgdata=data", "--log=log", "--wait", "--silent", "start"]);
    }

    fn stop(&self) {
        self.run("pg_ctl", &["--pgdata=data", "--mode=immediate", "--wait", "--silent", "stop"]);
    }

    fn url(&self) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}/postgres")
    }

    fn run(&self, program: &str, args: &[&str]) {
        let program = self.programs.join(program);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["--user", user_of_server(), "--"]).arg(&program);
                command
            }
            false => Command::new(&program),
        };
        let command = command.args(args).current_dir(self.folder.path());
        let done = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(done.status().unwrap().success(), "{}", program.display());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.folder.path().join("data/postmaster.pid").exists() {
            self.stop();
        }
    }
}

/// Where the programs of the newest server are that is installed.
fn programs() -> PathBuf {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let versions = installed.map(|version| version.path().join("bin"));
    let newest =
        versions.filter(|bin| bin.join("initdb").exists()).max_by_key(|bin| version_of(bin));
    let on_path = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).find(|bin| bin.join("initdb").exists())
    };
    newest.or_else(on_path).expect("PostgreSQL is installed")
}

fn version_of(bin: &Path) -> u32 {
    let version = bin.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    version.and_then(|version| version.parse().ok()).unwrap_or(0)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn user_of_server() -> &'static str {
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    match known.lines().any(|line| line.starts_with("postgres:")) {
        true => "postgres",
        false => "nobody",
    }
}
