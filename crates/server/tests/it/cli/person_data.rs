//! One person's data: it can be had as files, and after forgetting none of it is left in any file of
//! the database, the search index or the blobs.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use base::actor::{Actor, Circle};
use base::app::App;
use base::email_address::EmailAddress;
use base::files::blobs::keep;
use base::ids::WorkspaceId;
use maintenance::forget_person::forget_person;
use testing::Backend;

use super::backups::{INBOX, Installation, UPLOAD, ask_for_document, files_in, noise, receive};

const PERSON: &str = "quentin.xylo@forgotten.example";
/// Words that only this person uses, as they stand in files and, folded, in the search index.
const WORDS: [&str; 6] = [
    "quentin.xylo",
    "xylographer",
    "zanzibarquux",
    "snollygoster",
    "flibbertigibbet",
    "grumblewort",
];

fn mail(id: &str, from: &str, cc: &str, subject: &str, answers: &str, text: &str) -> Vec<u8> {
    let mail = format!(
        "Message-ID: <{id}@x.example>\r\nIn-Reply-To: <{answers}@x.example>\r\nFrom: {from}\r\n\
         To: {INBOX}\r\nCc: {cc}\r\nSubject: {subject}\r\n\
         Date: Sun, 15 Nov 2026 09:00:00 +0000\r\n\r\n{text}\r\n"
    );
    mail.into_bytes()
}

fn mail_with_attachment(from: &str) -> Vec<u8> {
    let filler = noise(11);
    let mail = format!(
        "Message-ID: <first@x.example>\r\nFrom: {from}\r\nTo: {INBOX}\r\nSubject: zanzibarquux\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n\
         A snollygoster, as I said\r\n--b\r\nContent-Type: text/plain; name=\"grumblewort.txt\"\r\n\
         Content-Disposition: attachment; filename=\"grumblewort.txt\"\r\n\r\n{filler}\r\n--b--\r\n"
    );
    mail.into_bytes()
}

/// A file that was sent to the person, and an appointment outside of any conversation.
async fn attach_and_book(app: &App) {
    let blob = app.blobs.put(format!("flibbertigibbet {}", noise(12)).as_bytes()).unwrap();
    let written = app.store.write(move |tx| {
        let (ws, conversation, message): (i64, String, String) = tx.one(
            "SELECT m.ws, m.conversation, m.id FROM conversations c
             JOIN messages m ON m.ws = c.ws AND m.conversation = c.id
             WHERE c.contact_email = ?1 LIMIT 1",
            &[&PERSON],
        )?;
        keep(tx, ws, &blob)?;
        tx.exec(
            "INSERT INTO attachments (ws, id, conversation, person, message, filename, content_type,
                size, hash, created_at)
             VALUES (?1, 'enc_1', ?2, 'usr_1', ?3, 'sent.txt', 'text/plain', ?4, ?5, 0)",
            &[&ws, &conversation, &message, &blob.size, &blob.hash],
        )?;
        tx.exec(
            "INSERT INTO bookings (ws, id, circle, type, host, starts_at, ends_at, guest_name,
                guest_email, guest_zone, answers, place, status, uid, sequence, token_hash, made_by,
                cancelled_by, reason, created_at)
             VALUES (?1, 'bkg_1', 'team', 'bkt_1', 'usr_1', 1, 2, 'Xylographer', ?2, 'UTC', '[]', '',
                'booked', 'bkg_1', 0, ?3, '', '', '', 0)",
            &[&ws, &PERSON, &b"bkg_1".to_vec()],
        )?;
        tx.exec(
            "INSERT INTO host_bookings (ws, person, booking, type, starts_at, ends_at, pad_from,
                pad_to)
             VALUES (?1, 'usr_1', 'bkg_1', 'bkt_1', 1, 2, 1, 2)",
            &[&ws],
        )?;
        Ok::<_, base::error::Error>(())
    });
    written.await.unwrap();
}

/// Files that were used just now are left to the server, which waits for mail that may use them.
fn age_files(folder: &Path) {
    let before = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    for file in files_in(folder) {
        File::options().append(true).open(file).unwrap().set_modified(before).unwrap();
    }
}

/// A conversation of the person, and one of Kim's that the person takes part in.
async fn fill(app: &App) {
    server::demo::fill(app).await.unwrap();
    let person = format!("Xylographer Quentin <{PERSON}>");
    receive(app, mail_with_attachment(&person)).await;
    let kim = "Kim <kim@kim.example>";
    receive(app, mail("kim1", kim, &person, "Bench", "none", "It wobbles")).await;
    receive(app, mail("quentin", &person, kim, "Re: Bench", "kim1", "flibbertigibbet!")).await;
    let quoting = format!(
        "Not nice.\r\n\r\nOn Sun, 15 Nov 2026 at 09:00, Quentin <{PERSON}> wrote:\r\n> flibbertigibbet!"
    );
    receive(app, mail("kim2", kim, &person, "Re: Bench", "quentin", &quoting)).await;
    ask_for_document(app, PERSON, b"a snollygoster").await;
    attach_and_book(app).await;
}

/// The words of the person that a file holds.
fn words_in(bytes: &[u8]) -> Vec<&'static str> {
    let text = bytes.to_ascii_lowercase();
    let has = |word: &&str| text.windows(word.len()).any(|window| window == word.as_bytes());
    WORDS.into_iter().filter(has).collect()
}

fn left_in_files(folder: &Path) -> Vec<(String, Vec<&'static str>)> {
    let read = |path: &std::path::PathBuf| {
        // The log of a database goes when its last connection is closed.
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.unwrap(),
        };
        let whole = zstd::decode_all(bytes.as_slice()).unwrap_or_default();
        (path.display().to_string(), [words_in(&bytes), words_in(&whole)].concat())
    };
    files_in(folder).iter().map(read).filter(|(_, words)| !words.is_empty()).collect()
}

/// The words of the person that are left anywhere.
fn left(backend: Backend, installation: &Installation) -> Vec<(String, Vec<&'static str>)> {
    match backend {
        Backend::Sqlite => left_in_files(&installation.data()),
        Backend::Postgres => {
            let dumped = Command::new("pg_dump").arg(&installation.database.url).output().unwrap();
            assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
            let words = words_in(&dumped.stdout);
            let tables = (!words.is_empty()).then(|| ("pg_dump".to_owned(), words));
            tables.into_iter().chain(left_in_files(&installation.data())).collect()
        }
    }
}

fn walk(backend: Backend) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let installation = Installation::new(backend);
    runtime.block_on(async { fill(&installation.app()).await });
    age_files(&installation.data().join("blobs"));
    let everything = || left(backend, &installation);
    assert!(!everything().is_empty(), "the scan can find something");

    let exported = installation.folder.path().join("person");
    let export = ["export", "--contact", PERSON, "--to", exported.to_str().unwrap()];
    let report = installation.done(&export);
    assert_eq!((report["conversations"].as_u64(), report["messages"].as_u64()), (Some(2), Some(4)));
    let files = files_in(&exported);
    let ends =
        |end: &str| files.iter().filter(|file| file.to_string_lossy().ends_with(end)).count();
    assert_eq!((ends(".eml"), ends("grumblewort.txt"), ends("person.json")), (4, 1, 1));
    assert_eq!(ends("conversation.json"), 2);
    assert_eq!((ends("enc_1-sent.txt"), ends(&format!("{UPLOAD}-a.txt"))), (1, 1));
    let person = fs::read_to_string(exported.join("person.json")).unwrap();
    assert!(person.contains("bkg_1"), "{person}");
    let (status, refused) = installation.run(&export);
    assert_eq!(status, 1, "a folder that is there stays as it is: {refused}");

    let forgotten = installation.done(&["forget", "--contact", PERSON]);
    let count = |name: &str| forgotten[name].as_u64().unwrap();
    assert_eq!((count("conversations"), count("messages"), count("documents")), (1, 2, 1));
    assert_eq!((count("redactedConversations"), count("bookings")), (1, 1));
    assert_eq!(count("filesRemovedLater"), 0);
    assert!(forgotten["kept"][0].as_str().unwrap().contains("audit log"));
    assert_eq!(everything(), []);
    assert_eq!(installation.done(&["check"])["findings"], serde_json::json!([]));
    let tables = runtime.block_on(installation.tables());
    assert!(tables.contains("It wobbles") && tables.contains("Not nice."), "Kim's words stay");

    let (status, again) = installation.run(&["forget", "--contact", PERSON]);
    assert_eq!((status, again["error"].as_str().unwrap().contains("no such person")), (1, true));
    let (status, member) = installation.run(&["forget", "--contact", "ines@lumen-holz.example"]);
    assert_eq!((status, member["error"].as_str().unwrap().contains("the team")), (1, true));
}

/// The tables are done and the files are not, as when the command is killed between the two.
fn break_off(backend: Backend) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let installation = Installation::new(backend);
    runtime.block_on(async {
        let app = installation.app();
        fill(&app).await;
        let workspace = app.store.read(|tx| {
            Ok::<_, base::error::Error>(
                tx.one::<(i64, WorkspaceId)>("SELECT ws, id FROM workspaces", &[])?,
            )
        });
        let (ws, id) = workspace.await.unwrap();
        let operator = Actor::system(ws, id, Circle::team());
        let email = EmailAddress::new(PERSON);
        app.act(&operator, move |tx, cx| forget_person(tx, cx, &email)).await.unwrap();
    });
    age_files(&installation.data().join("blobs"));
    assert!(!left_in_files(&installation.data()).is_empty(), "the files are still there");
    let (status, again) = installation.run(&["forget", "--contact", PERSON]);
    assert_eq!((status, again["error"].as_str().unwrap().contains("no such person")), (1, true));
    assert_eq!(left(backend, &installation), []);
}

#[test]
fn a_forgetting_that_broke_off_is_finished_in_sqlite() {
    break_off(Backend::Sqlite);
}

#[test]
fn a_forgetting_that_broke_off_is_finished_in_postgres() {
    break_off(Backend::Postgres);
}

#[test]
fn nothing_of_a_forgotten_person_is_left_in_sqlite() {
    walk(Backend::Sqlite);
}

#[test]
fn nothing_of_a_forgotten_person_is_left_in_postgres() {
    walk(Backend::Postgres);
}
