//! Backups: a filled installation is backed up while mail comes in, restored into the other database,
//! checked, compared table by table, and copied back.

mod bucket;
mod damaged;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::app::App;
use base::ids::UploadId;
use inbound::{InboundMail, MailSource, ingest};
use maintenance::dump::{DumpScope, dump};
use serde_json::{Value, json};
use server::demo;
use server::serve::open_app;
use server::settings::{Flags, Settings};
use testing::{Backend, Database, TestAuthenticator, raw};

use super::{Said, command};

/// An installation with a database and a data folder of its own.
pub(super) struct Installation {
    pub database: Database,
    pub folder: tempfile::TempDir,
}

impl Installation {
    pub fn new(backend: Backend) -> Installation {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        Installation { database: Database::new(backend, &folder.path().join("data")), folder }
    }

    pub fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    pub fn app(&self) -> App {
        let flags = Flags {
            data: Some(self.data()),
            database_url: Some(self.database.url.clone()),
            ..Flags::default()
        };
        // The sample workspace sends mail, which waits.
        App { has_relay: true, ..open_app(&Settings::load(&flags).unwrap(), "").unwrap() }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.data(), args);
        command.env("MAILROOM_DATABASE_URL", &self.database.url).arg("--json");
        command
    }

    /// The status and the one JSON object of a command.
    pub fn run(&self, args: &[&str]) -> (i32, Value) {
        let said = Said::of(self.command(args).output().unwrap());
        let value = serde_json::from_str(&said.out)
            .unwrap_or_else(|_| panic!("{args:?}: {} {}", said.out, said.err));
        (said.status.unwrap(), value)
    }

    pub fn done(&self, args: &[&str]) -> Value {
        let (status, value) = self.run(args);
        assert_eq!(status, 0, "{args:?}: {value}");
        value
    }

    /// Every table, as lines.
    pub async fn tables(&self) -> String {
        let store = testing::open(&self.database.url);
        let written = store.read(|tx| {
            let mut lines = Vec::new();
            dump(tx, &DumpScope::Installation, &mut lines, &mut |_, _| {})?;
            Ok::<_, base::error::Error>(lines)
        });
        String::from_utf8(written.await.unwrap()).unwrap()
    }

    pub async fn change(&self, sql: &'static str) {
        let store = testing::open(&self.database.url);
        let changed = store.write(move |tx| tx.exec(sql, &[])).await.unwrap();
        assert!(changed > 0, "{sql}");
    }
}

/// The inbox of the sample workspace.
pub(super) const INBOX: &str = "support@lumen-holz.example";
/// Bytes that do not pack well enough to be kept in the database.
const LARGE: usize = 400_000;

/// Text that does not pack well.
pub(super) fn noise(seed: u64) -> String {
    let mut state = seed | 1;
    (0..LARGE)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            char::from(b'0' + ((state >> 33) % 75) as u8)
        })
        .collect()
}

/// Mail with a large attachment, which is kept as a file.
pub(super) fn mail_with_file(word: &str) -> Vec<u8> {
    let bytes = noise(word.len() as u64);
    let text = format!(
        "From: Kim <kim@x.example>\r\nTo: {INBOX}\r\nSubject: {word}\r\n\
         Message-ID: <{word}@x.example>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n{word}\r\n--b\r\n\
         Content-Type: application/octet-stream; name=\"{word}.bin\"\r\n\
         Content-Disposition: attachment; filename=\"{word}.bin\"\r\n\r\n{bytes}\r\n--b--\r\n"
    );
    text.into_bytes()
}

pub(super) async fn receive(app: &App, raw: Vec<u8>) {
    let mail = InboundMail {
        sender: Some("kim@x.example".into()),
        recipients: vec![INBOX.into()],
        source: MailSource::OurServer,
        raw,
    };
    let taken = ingest(app, &TestAuthenticator::default(), mail).await;
    assert!(taken.iter().all(Result::is_ok), "{taken:?}");
}

/// The id of an upload.
pub(super) const UPLOAD: &str = "upl_01kag13z8m4s6y2t9r5w1q3n7x";

/// Asks for a document in the conversation of a contact, who uploaded it and did not submit it.
pub(super) async fn ask_for_document(app: &App, contact: &'static str, bytes: &[u8]) {
    app.blobs.partial_uploads().adopt(&UploadId::parse(UPLOAD).unwrap(), bytes).unwrap();
    let written = app.store.write(move |tx| {
        let (ws, conversation, message): (i64, String, String) = tx.one(
            "SELECT m.ws, m.conversation, m.id FROM conversations c
             JOIN messages m ON m.ws = c.ws AND m.conversation = c.id
             WHERE c.contact_email = ?1 LIMIT 1",
            &[&contact],
        )?;
        tx.exec(
            "INSERT INTO document_requests (ws, id, conversation, message, old_token, created_at)
             VALUES (?1, 'req_1', ?2, ?3, 'req_1', 0)",
            &[&ws, &conversation, &message],
        )?;
        tx.exec(
            "INSERT INTO requested_documents (ws, request, place, label, required)
             VALUES (?1, 'req_1', 0, 'A grumblewort', TRUE)",
            &[&ws],
        )?;
        tx.exec(
            "INSERT INTO uploads (ws, request, id, item, filename, mark, size, received, state,
                content_type, handed_over, attempts, created_at)
             VALUES (?1, 'req_1', ?2, 0, 'a.txt', 'm', 1, 1, 'kept', 'text/plain', FALSE, 0, 0)",
            &[&ws, &UPLOAD],
        )?;
        Ok::<_, base::error::Error>(())
    });
    written.await.unwrap();
}

/// Lets mail come in until it is told to stop; says how many did.
async fn keep_writing(app: App, stop: Arc<AtomicBool>) -> u64 {
    let mut count = 0;
    while !stop.load(Ordering::Acquire) {
        count += 1;
        let text = raw("kim@x.example", &format!("Number {count}"), "still writing");
        receive(&app, text.into_bytes()).await;
    }
    count
}

fn unpacked_tables(place: &Path, name: &str) -> String {
    let packed = fs::read(place.join(format!("{name}.tables.zst"))).unwrap();
    String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap()
}

fn walk(from: Backend, to: Backend) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (first, second, third) =
        (Installation::new(from), Installation::new(to), Installation::new(from));
    let place = first.folder.path().join("backups");
    let place_name = place.to_str().unwrap();

    // Filled, and backed up while mail comes in.
    let app = first.app();
    runtime.block_on(async {
        demo::fill(&app).await.unwrap();
        receive(&app, mail_with_file("walnut")).await;
    });
    let stop = Arc::new(AtomicBool::new(false));
    let writing = runtime.spawn(keep_writing(app.clone(), stop.clone()));
    let backup = first.done(&["backup", place_name]);
    stop.store(true, Ordering::Release);
    assert!(runtime.block_on(writing).unwrap() > 0);
    let count = |report: &Value, name: &str| report[name].as_u64().unwrap();
    assert!(count(&backup, "blobs") >= 2 && backup["sealed"] == false, "{backup}");
    assert_eq!(backup["newBlobs"], backup["blobs"]);
    assert!(backup["tables"]["messages"].as_u64().unwrap() > 20, "{backup}");
    runtime.block_on(receive(&app, mail_with_file("chestnut")));
    let again = first.done(&["backup", place_name, "--keep", "1"]);
    // The mail and its attachment.
    assert_eq!(count(&again, "newBlobs"), 2, "{again}");
    assert_eq!(count(&again, "blobs"), count(&backup, "blobs") + 2, "{again}");
    assert_eq!(again["removed"], json!([backup["name"]]));

    // Restored into the other database: everything is there, and it is quiet.
    let restored = second.done(&["restore", place_name]);
    assert_eq!(restored["tables"], again["tables"]);
    assert_eq!(restored["check"], json!({ "ok": true, "findings": [] }), "{restored}");
    let name = again["name"].as_str().unwrap();
    let tables = runtime.block_on(second.tables());
    assert_eq!(first_difference(&tables, &unpacked_tables(&place, name)), None);
    assert_eq!(second.done(&["quiet", "status"])["reason"], "restored");
    let (status, refused) = second.run(&["restore", place_name]);
    assert_eq!(status, 1, "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("a workspace"), "{refused}");

    // Copied back to the first kind of database, with another data folder.
    let data = third.data();
    let url = third.database.url.clone();
    let copied = second.done(&["copy", "--to", &url, "--to-data", data.to_str().unwrap()]);
    assert_eq!(copied["check"]["ok"], true, "{copied}");
    assert_eq!(first_difference(&runtime.block_on(third.tables()), &tables), None);
    assert_eq!(third.done(&["check"])["ok"], true);
    // New conversations are numbered behind those that came along.
    runtime.block_on(receive(&third.app(), mail_with_file("hazelnut")));
    assert_eq!(third.done(&["check"])["ok"], true);

    // What does not fit together is found.
    runtime.block_on(async {
        third.change("UPDATE counters SET n = n + 1 WHERE what LIKE 'open:%'").await;
        third.change("DELETE FROM participants WHERE email = 'kim@x.example'").await;
        third.change("DELETE FROM mailboxes WHERE circle = 'team'").await;
        third.change("UPDATE blobs SET size = size + 1 WHERE packed IS NOT NULL").await;
        let gone = "DELETE FROM blobs WHERE hash IN (SELECT hash FROM documents WHERE filename = 'walnut.bin')";
        third.change(gone).await;
    });
    let (status, report) = third.run(&["check"]);
    let kinds: std::collections::BTreeSet<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["kind"].as_str().unwrap())
        .collect();
    assert_eq!(status, 1);
    assert_eq!(Vec::from_iter(kinds), ["counter", "damaged-blob", "missing-blob", "missing-row"]);
}

/// The first line that differs, cut short.
fn first_difference(one: &str, other: &str) -> Option<(String, String)> {
    let cut = |line: &str| line.chars().take(300).collect::<String>();
    let differs = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    let differs = differs.map(|(one, other)| (cut(one), cut(other)));
    let (lines, others) = (one.lines().count(), other.lines().count());
    differs.or_else(|| (lines != others).then(|| (lines.to_string(), others.to_string())))
}

#[test]
fn an_installation_moves_from_sqlite_to_postgres_and_back() {
    walk(Backend::Sqlite, Backend::Postgres);
}

#[test]
fn an_installation_moves_from_postgres_to_sqlite_and_back() {
    walk(Backend::Postgres, Backend::Sqlite);
}

#[test]
fn a_sealed_backup_tells_nothing_and_opens_with_its_passphrase_alone() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (first, second) = (Installation::new(Backend::Sqlite), Installation::new(Backend::Sqlite));
    runtime.block_on(async {
        let app = first.app();
        demo::fill(&app).await.unwrap();
        receive(&app, mail_with_file("walnut")).await;
        ask_for_document(&app, "kim@x.example", b"a walnut that was uploaded").await;
    });
    let (right, wrong) = (first.folder.path().join("right"), first.folder.path().join("wrong"));
    fs::write(&right, "correct horse battery staple\n").unwrap();
    fs::write(&wrong, "correct horse battery stapler\n").unwrap();
    let (right, wrong) = (right.to_str().unwrap(), wrong.to_str().unwrap());
    let place = first.folder.path().join("sealed");
    let place_name = place.to_str().unwrap();
    let backup = first.done(&["backup", place_name, "--passphrase-file", right]);
    assert_eq!((&backup["sealed"], &backup["hasKey"]), (&json!(true), &json!(true)));
    let secret = fs::read(first.data().join("secret.key")).unwrap();
    for file in files_in(&place) {
        let bytes = fs::read(&file).unwrap();
        let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        assert!(!has(&secret) && !has(b"walnut") && !has(b"lumen-holz"), "{}", file.display());
        let is_packed = !bytes.is_empty() && zstd::decode_all(bytes.as_slice()).is_ok();
        assert!(!is_packed, "{}", file.display());
    }
    for (args, sentence) in [
        (&["restore", place_name][..], "are sealed"),
        (&["restore", place_name, "--passphrase-file", wrong], "not the passphrase"),
    ] {
        let (status, refused) = second.run(args);
        assert_eq!(status, 1, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(sentence), "{refused}");
    }
    let restored = second.done(&["restore", place_name, "--passphrase-file", right]);
    assert_eq!(restored["check"]["ok"], true, "{restored}");
    assert_eq!(fs::read(second.data().join("secret.key")).unwrap(), secret);
    let uploaded = fs::read(second.data().join("blobs/arriving").join(UPLOAD)).unwrap();
    assert_eq!(uploaded, b"a walnut that was uploaded");
    let tables = runtime.block_on(async { (first.tables().await, second.tables().await) });
    assert_eq!(first_difference(&tables.0, &tables.1), None);
}

#[test]
fn a_copy_onto_itself_or_another_installation_is_refused_and_leaves_the_keys_alone() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (first, second) = (Installation::new(Backend::Sqlite), Installation::new(Backend::Sqlite));
    runtime.block_on(async {
        let app = first.app();
        demo::fill(&app).await.unwrap();
        receive(&app, mail_with_file("walnut")).await;
    });
    let secret = fs::read(first.data().join("secret.key")).unwrap();
    let path = Path::new(first.database.url.strip_prefix("sqlite:").unwrap()).to_owned();
    let spelled = first.data().join("../data").join(path.file_name().unwrap());
    let refused = |args: &[&str], sentence: &str| {
        let (status, refused) = first.run(args);
        assert_eq!(status, 1, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(sentence), "{refused}");
    };
    refused(&["copy", "--to", &format!("sqlite:{}", spelled.display())], "is to be copied");
    let beside = first.data().join("../data/beside.db");
    first.done(&["copy", "--to", &format!("sqlite:{}", beside.display())]);
    assert_eq!(fs::read(first.data().join("secret.key")).unwrap(), secret, "the same folder");

    let (data, key) = (second.data(), second.data().join("secret.key"));
    let url = second.database.url.clone();
    let copy = ["copy", "--to", &url, "--to-data", data.to_str().unwrap()];
    fs::write(&key, b"of another installation").unwrap();
    refused(&copy, "another installation");
    assert_eq!(fs::read(&key).unwrap(), b"of another installation");
    fs::remove_file(&key).unwrap();
    let copied = first.done(&copy);
    assert_eq!(copied["check"]["ok"], true, "a copy that broke off is repeated: {copied}");
    assert_eq!(fs::read(&key).unwrap(), secret);
}

pub(super) fn files_in(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_in(&path));
        } else {
            files.push(path);
        }
    }
    files
}
