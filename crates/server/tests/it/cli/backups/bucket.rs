//! Backups in a bucket that is not whole, refuses calls half way, or has a lock that nobody can read.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use server::demo;
use testing::Backend;

use super::super::Said;
use super::{Installation, mail_with_file, receive};

const PLACE: &str = "s3://copies/one";
/// The largest object that a test writes, in bytes.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// An object store that keeps everything in memory.
#[derive(Clone, Default)]
struct ObjectStore {
    objects: Arc<Mutex<BTreeMap<String, Bytes>>>,
    /// Reading names with this in them is refused.
    refused: Arc<Mutex<Option<&'static str>>>,
}

impl ObjectStore {
    /// Starts it; its address.
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Bytes>) -> T) -> T {
        work(&mut self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn refuse(&self, part: Option<&'static str>) {
        *self.refused.lock().unwrap() = part;
    }

    /// The first name with this in it.
    fn name_with(&self, part: &str) -> String {
        self.with(|objects| objects.keys().find(|name| name.contains(part)).unwrap().clone())
    }
}

async fn answer(State(store): State<ObjectStore>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(Body::new(body), MOST_BYTES).await.unwrap();
    let name = head.uri.path().trim_start_matches("/copies/").to_owned();
    let is_refused = store.refused.lock().unwrap().is_some_and(|part| name.contains(part));
    match head.method {
        Method::GET if name.is_empty() => list(&store, head.uri.query().unwrap_or_default()),
        Method::GET | Method::HEAD if is_refused => StatusCode::FORBIDDEN.into_response(),
        Method::GET | Method::HEAD => match store.with(|objects| objects.get(&name).cloned()) {
            Some(bytes) => bytes.into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        },
        Method::PUT => {
            let is_new = head.headers.contains_key("if-none-match");
            if is_new && store.with(|objects| objects.contains_key(&name)) {
                return StatusCode::PRECONDITION_FAILED.into_response();
            }
            store.with(|objects| objects.insert(name, body));
            StatusCode::OK.into_response()
        }
        Method::DELETE => {
            store.with(|objects| objects.remove(&name));
            StatusCode::NO_CONTENT.into_response()
        }
        _ => StatusCode::NOT_IMPLEMENTED.into_response(),
    }
}

fn list(store: &ObjectStore, query: &str) -> Response {
    let fields: BTreeMap<String, String> =
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let prefix = &fields["prefix"];
    let is_flat = fields.contains_key("delimiter");
    let names = store.with(|objects| objects.keys().cloned().collect::<Vec<_>>());
    let listed = names.iter().filter(|name| {
        name.strip_prefix(prefix.as_str()).is_some_and(|rest| !is_flat || !rest.contains('/'))
    });
    let listed: String =
        listed.map(|name| format!("<Contents><Key>{name}</Key></Contents>")).collect();
    format!("<R><IsTruncated>false</IsTruncated>{listed}</R>").into_response()
}

struct Site {
    runtime: tokio::runtime::Runtime,
    store: ObjectStore,
    address: String,
    first: Installation,
}

impl Site {
    fn start() -> Site {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (store, first) = (ObjectStore::default(), Installation::new(Backend::Sqlite));
        let address = runtime.block_on(async {
            let app = first.app();
            demo::fill(&app).await.unwrap();
            receive(&app, mail_with_file("walnut")).await;
            store.start().await
        });
        Site { runtime, store, address, first }
    }

    fn run(&self, on: &Installation, args: &[&str]) -> (i32, Value) {
        let mut command: Command = on.command(args);
        command
            .env("BACKUP_AWS_ACCESS_KEY_ID", "key")
            .env("BACKUP_AWS_SECRET_ACCESS_KEY", "secret")
            .env("BACKUP_AWS_ENDPOINT_URL", &self.address);
        let said = Said::of(command.output().unwrap());
        let value = serde_json::from_str(&said.out)
            .unwrap_or_else(|_| panic!("{args:?}: {} {}", said.out, said.err));
        (said.status.unwrap(), value)
    }
}

#[test]
fn a_backup_is_verified_and_restored_from_a_bucket_that_lacks_something() {
    let site = Site::start();
    let (status, backup) = site.run(&site.first, &["backup", PLACE]);
    assert_eq!(status, 0, "{backup}");
    assert_eq!(site.run(&site.first, &["backup", "verify", PLACE]).0, 0);
    let blob = site.store.name_with("/blobs/");
    let (_, hash) = blob.rsplit_once('/').unwrap();
    site.store.with(|objects| objects.insert(blob.clone(), Bytes::from_static(b"other bytes")));
    let before = site.store.with(|objects| objects.clone());
    let (status, verified) = site.run(&site.first, &["backup", "verify", PLACE]);
    assert_eq!(status, 3, "{verified}");
    assert_eq!(verified["backups"][0]["damagedBlobs"][0]["blob"], hash);
    assert_eq!(site.store.with(|objects| objects.clone()), before, "nothing is changed");
    let second = Installation::new(Backend::Sqlite);
    assert_eq!(site.run(&second, &["restore", PLACE]).0, 3);
    let (status, restored) = site.run(&second, &["restore", PLACE, "--skip-damaged"]);
    assert_eq!((status, &restored["damagedBlobs"][0]["blob"]), (0, &json!(hash)), "{restored}");
    drop(site.runtime);
}

#[test]
fn a_bucket_that_refuses_half_way_is_no_damage_and_the_restore_is_repeated() {
    let site = Site::start();
    assert_eq!(site.run(&site.first, &["backup", PLACE]).0, 0);
    let second = Installation::new(Backend::Sqlite);
    for part in ["/blobs/", ".tables.zst", ".secret.key"] {
        site.store.refuse(Some(part));
        let (status, refused) = site.run(&second, &["restore", PLACE, "--skip-damaged"]);
        assert_eq!(status, 1, "{part}: {refused}");
        assert!(refused["error"].as_str().unwrap().contains("403"), "{part}: {refused}");
        assert!(!second.data().join("secret.key").exists());
    }
    site.store.refuse(Some("/blobs/"));
    let (status, refused) = site.run(&site.first, &["backup", "verify", PLACE]);
    assert_eq!(status, 1, "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("403"), "{refused}");
    site.store.refuse(None);
    let (status, restored) = site.run(&second, &["restore", PLACE]);
    assert_eq!((status, &restored["check"]["ok"]), (0, &json!(true)), "{restored}");
}

#[test]
fn a_lock_that_cannot_be_read_is_left_alone() {
    let site = Site::start();
    assert_eq!(site.run(&site.first, &["backup", PLACE]).0, 0);
    let lock = "one/mailroom-lock.json".to_owned();
    for unreadable in ["", "{", "{\"writer\":\"another\"}"] {
        site.store.with(|objects| objects.insert(lock.clone(), Bytes::from(unreadable)));
        let (status, refused) = site.run(&site.first, &["backup", PLACE]);
        assert_eq!(status, 1, "{refused}");
        let sentence = refused["error"].as_str().unwrap();
        assert!(sentence.contains("mailroom-lock.json"), "{sentence}");
        let left = site.store.with(|objects| objects.get(&lock).cloned());
        assert_eq!(left, Some(Bytes::from(unreadable)));
    }
    site.store.with(|objects| objects.remove(&lock));
    assert_eq!(site.run(&site.first, &["backup", PLACE]).0, 0);
}
