//! What is left of somebody in the bytes of the database, its write-ahead log and the blobs after they were
//! forgotten, or what holds their mail was deleted: nothing but what is said to be kept.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::process::Command;

use actions::conversations::triage::{self, TriageAct};
use actions::workspace::deletion;
use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::saved_replies::{self, SavedReplyInput};
use api::calls::ApiCall;
use api::idempotency::IdempotencyKey;
use api::operations::OPERATIONS;
use base::email_address::EmailAddress;
use base::error::Error;
use base::ids::UploadId;
use base::security::api_key::KeyHash;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use inbound::find_inbox;
use inbound::history::{self, ImportTarget, ImportedMail};
use maintenance::forget_person::forget_person;
use maintenance::purge::purge;
use model::mailboxes::Mailbox;
use serde_json::{Value, json};
use testing::{DAY, HOUR, MINUTE, TestApp, TestKey, filed_mail, letter, on_both};

use super::deletion::{delete, faults};
use super::sweep::{age_files, files_in, noise};

on_both!(
    nothing_is_left_of_a_person_who_was_forgotten,
    nothing_is_left_of_a_conversation_that_was_erased,
    nothing_is_left_of_an_inbox_that_was_deleted,
    nothing_is_left_of_a_workspace_that_was_deleted
);

/// A word that the team wrote itself, which stays unless the workspace goes.
const TEAMS: &str = "flibbertigibbet";

/// A word that nobody else uses.
fn canary() -> String {
    let mut random = RandomState::new().build_hasher().finish();
    let letters = (0..12).map(|_| {
        let letter = b'a' + (random % 26) as u8;
        random /= 26;
        char::from(letter)
    });
    format!("zqx{}", letters.collect::<String>())
}

/// The bytes by which a word is found: as it is without its beginning, which the index may share with
/// another word, and inside of sealed text, in each of the three ways that it may lie there.
struct Needles(Vec<Vec<u8>>);

impl Needles {
    fn of(word: &str) -> Needles {
        let mut needles = vec![word.as_bytes()[3..].to_vec()];
        for shift in 0..3 {
            let shifted = format!("{}{word}", "-".repeat(shift));
            let encoded = STANDARD_NO_PAD.encode(shifted).into_bytes();
            needles.push(encoded[4..encoded.len() - 4].to_vec());
        }
        Needles(needles)
    }

    /// Those of the needles that bytes hold.
    fn in_bytes(&self, bytes: &[u8]) -> usize {
        let lower = bytes.to_ascii_lowercase();
        let has = |text: &[u8], needle: &[u8]| memchr::memmem::find(text, needle).is_some();
        let found = |(place, needle): (usize, &Vec<u8>)| match place {
            0 => has(&lower, needle),
            _ => has(bytes, needle),
        };
        self.0.iter().enumerate().filter(|entry| found(*entry)).count()
    }
}

/// Where the word is left: files of the database and of blobs, and a dump of PostgreSQL.
fn places(app: &TestApp, needles: &Needles) -> Vec<String> {
    let mut places = Vec::new();
    for path in files_in(app.folder()) {
        let bytes = fs::read(&path).unwrap_or_default();
        let whole = zstd::decode_all(bytes.as_slice()).unwrap_or_default();
        if needles.in_bytes(&bytes) + needles.in_bytes(&whole) > 0 {
            places.push(path.display().to_string());
        }
    }
    if app.app.store.is_shared() {
        let dumped = Command::new("pg_dump").arg(app.database_url()).output().unwrap();
        assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
        let mut table = String::new();
        for line in dumped.stdout.split(|byte| *byte == b'\n') {
            if let Some(name) = line.strip_prefix(b"COPY ") {
                table = String::from_utf8_lossy(name).chars().take(40).collect();
            }
            if needles.in_bytes(line) > 0 {
                places.push(format!("{table}: {}", String::from_utf8_lossy(line)));
            }
        }
    }
    places
}

/// The rows that hold the word: for SQLite, whose file does not say it.
async fn rows_with(app: &TestApp, word: &str) -> Vec<String> {
    if app.app.store.is_shared() {
        return places(app, &Needles(vec![word.as_bytes().to_vec()]));
    }
    let word = word.to_owned();
    let read = app.app.store.read(move |tx| {
        let mut rows = Vec::new();
        for table in tx.tables()? {
            tx.each_row(&table, |cells| {
                let said = format!("{cells:?}").to_lowercase();
                if said.contains(&word) {
                    rows.push(format!("{}: {said}", table.name));
                }
                Ok(())
            })?;
        }
        Ok::<_, Error>(rows)
    });
    read.await.unwrap()
}

/// Adds the packed bytes of every blob in which the word is, which do not show it.
async fn add_packed(app: &TestApp, word: &str, needles: &mut Needles) {
    let read = app.app.store.read(|tx| {
        Ok::<_, Error>(
            tx.all::<(Vec<u8>,)>("SELECT packed FROM blobs WHERE packed IS NOT NULL", &[])?,
        )
    });
    let own = Needles(vec![word.as_bytes().to_vec()]);
    let mut packed = 0;
    for (bytes,) in read.await.unwrap() {
        let whole = zstd::decode_all(bytes.as_slice()).unwrap();
        if own.in_bytes(&whole) > 0 && bytes.len() > 60 {
            // Behind the header of the frame, which others share.
            needles.0.push(bytes[20..52].to_vec());
            packed += 1;
        }
    }
    assert!(packed > 1, "blobs in the database hold the word");
}

/// What was written about somebody.
struct Written {
    word: String,
    email: String,
    conversation: String,
}

fn mail(id: &str, word: &str, fields: &str) -> String {
    let large = String::from_utf8(noise(7)).unwrap();
    format!(
        "Message-ID: <{id}.{word}@x.example>\r\nFrom: {word} Person <{word}@x.example>\r\n\
         {fields}Subject: About {word}\r\nDate: Sun, 15 Nov 2026 09:00:00 +0000\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n\
         --c\r\nContent-Type: text/plain\r\n\r\nI am {word} {id}\r\n\
         --c\r\nContent-Type: text/html\r\n\r\n<p>I am <b>{word}</b></p>\r\n--c--\r\n\
         --b\r\nContent-Type: text/plain; name=\"{word}.txt\"\r\n\
         Content-Disposition: attachment; filename=\"{word}.txt\"\r\n\r\n{word} {id}, and enough \
         that it is kept packed beside the rows of the database: ajzwq mbxk fuhp olcyt\r\n\
         --b\r\nContent-Type: text/plain; name=\"large.txt\"\r\n\
         Content-Disposition: attachment; filename=\"large.txt\"\r\n\r\n{word}{large}\r\n--b--\r\n"
    )
}

/// A call with an `Idempotency-Key`, whose answer is kept.
async fn call_once(app: &TestApp, key: &TestKey, path: &str, body: Value) {
    let found = OPERATIONS.iter().find_map(|one| {
        let id = one.match_path(path).filter(|_| one.method.name() == "POST")?;
        Some((one, id))
    });
    let (operation, id) = found.unwrap();
    let call = ApiCall {
        operation,
        key: KeyHash::of(&key.key).unwrap(),
        id,
        input: api::fields::check_body(operation.fields, &body),
        raw: body,
        idempotency_key: IdempotencyKey::parse("once"),
    };
    api::calls::call(&app.app, call).await.0.unwrap();
}

/// Writes the word wherever something of a customer can be written.
async fn write_everywhere(app: &TestApp, inbox: &Mailbox) -> Written {
    let word = canary();
    let email = format!("{word}@x.example");
    let key = app.key("read write draft send record").await;
    app.hook("shop").await;
    // Three conversations of the person, of which two are merged, and a message that is split off.
    let to = format!("To: {}\r\n", inbox.address);
    let address = inbox.address.to_string();
    let first = filed_mail(&app.ingest(&[&address], &mail("one", &word, &to)).await[0]);
    let conversation = first.conversation.to_string();
    let answers = format!("{to}In-Reply-To: <one.{word}@x.example>\r\n");
    let second = filed_mail(&app.ingest(&[&address], &mail("two", &word, &answers)).await[0]);
    assert_eq!(second.conversation, first.conversation);
    let mut other = letter(&format!("{email} {word}"), &format!("Also {word}"), "Once more");
    other.message_id = Some(format!("three.{word}@x.example"));
    let other = app.deliver(inbox, other).await;
    let into = json!({ "into": conversation });
    app.on(&key, &other.conversation, "merge", into).await.is(200);
    let split = json!({ "messageId": second.message.to_string() });
    app.on(&key, &conversation, "split", split).await.is(200);
    import(app, inbox, &word).await;
    // What the team writes into the conversation.
    let note = json!({ "body": format!("{word} called") });
    app.on(&key, &conversation, "notes", note).await.is(201);
    app.send_reply(&key, &conversation, &format!("Dear {word}")).await;
    app.draft(&key, &conversation, &format!("A draft for {word}")).await;
    let secret = json!({ "body": format!("The secret of {word}"), "secure": true, "send": true });
    app.on(&key, &conversation, "replies", secret).await.is(201);
    let again = json!({ "body": format!("Once for {word}"), "summary": format!("of {word}") });
    call_once(app, &key, &format!("/conversations/{conversation}/replies"), again).await;
    app.on(&key, &conversation, "tags", json!({ "add": [TEAMS] })).await.is(200);
    app.pass(HOUR).await;
    let (id, text) = (conversation.clone(), format!("Unsent to {word}"));
    app.act(&app.owner, move |tx, cx| {
        let place = AutosaveKey::find(tx, cx, Some(&id))?;
        autosaves::autosave(tx, cx, &place, &Autosave::new(AutosaveKind::Reply, text.clone()))
    })
    .await;
    let id = conversation.clone();
    app.act(&app.owner, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &TriageAct::Close)?;
        triage::triage(tx, cx, &undo, &TriageAct::Close, std::slice::from_ref(&id))
    })
    .await;
    by_rows(app, &conversation, &word).await;
    let kept = SavedReplyInput {
        name: format!("Hello {TEAMS}"),
        folder: String::new(),
        body: TEAMS.into(),
    };
    app.act(&app.owner, move |tx, cx| saved_replies::save_reply(tx, cx, &kept, &[])).await;
    age_files(&app.blob_folder());
    Written { word, email, conversation }
}

/// Mail that was taken over from elsewhere.
async fn import(app: &TestApp, inbox: &Mailbox, word: &str) {
    let address = inbox.address.to_string();
    let found = app.app.store.read(move |tx| find_inbox(tx, &address)).await.unwrap();
    let target = ImportTarget { inbox: found.unwrap(), own: Default::default() };
    let raw = format!(
        "Message-ID: <past.{word}@x.example>\r\nFrom: {word}@x.example\r\nTo: {}\r\n\
         Subject: Past {word}\r\nDate: Sun, 1 Nov 2020 09:00:00 +0000\r\n\r\nOld {word}\r\n",
        inbox.address
    );
    let past = ImportedMail { raw: raw.into_bytes(), taken_at: None };
    history::import(&app.app, &target, vec![past]).await.unwrap();
}

/// What customers do on pages of their own: a booking, and an upload that they did not submit.
async fn by_rows(app: &TestApp, conversation: &str, word: &str) {
    let upload = "upl_01kag13z8m4s6y2t9r5w1q3n7x";
    let id = UploadId::parse(upload).unwrap();
    app.app.blobs.partial_uploads().adopt(&id, format!("up {word}").as_bytes()).unwrap();
    let ws = app.owner.ws;
    let bytes = |app: &TestApp, text: &str| match app.app.store.is_shared() {
        true => format!("CAST('{text}' AS BYTEA)"),
        false => format!("CAST('{text}' AS BLOB)"),
    };
    let token = bytes(app, "bkg_1");
    app.exec(&format!(
        "INSERT INTO bookings (ws, id, circle, type, host, conversation, starts_at, ends_at,
            guest_name, guest_email, guest_zone, answers, place, status, uid, sequence,
            token_hash, made_by, cancelled_by, reason, created_at)
         VALUES ({ws}, 'bkg_1', 'team', 'bkt_1', 'usr_1', '{conversation}', 1, 2, '{word}',
            '{word}@x.example', 'UTC', '[\"{word}\"]', '', 'booked', 'bkg_1', 0, {token}, '', '',
            '{word}', 0)"
    ))
    .await;
    app.exec(&format!(
        "INSERT INTO document_requests (ws, id, conversation, message, old_token, note,
            created_at)
         VALUES ({ws}, 'req_1', '{conversation}', 'msg_1', 'req_1', 'Dear {word}', 0)"
    ))
    .await;
    app.exec(&format!(
        "INSERT INTO uploads (ws, request, id, item, filename, mark, size, received, state,
            content_type, handed_over, attempts, created_at)
         VALUES ({ws}, 'req_1', '{upload}', 0, '{word}.txt', 'm', 1, 1, 'kept', 'text/plain', FALSE,
            0, 0)"
    ))
    .await;
}

/// Lets the old bytes leave the files, as every command does that removes something.
async fn purge_files(app: &TestApp) {
    age_files(&app.blob_folder());
    purge(&app.app).await.unwrap();
    let url = app.database_url().to_owned();
    tokio::task::spawn_blocking(move || db::Store::compact(&url, true)).await.unwrap().unwrap();
}

async fn needles(app: &TestApp, written: &Written) -> Needles {
    let mut needles = Needles::of(&written.word);
    add_packed(app, &written.word, &mut needles).await;
    assert!(!places(app, &needles).is_empty(), "the scan can find something");
    needles
}

async fn is_gone(app: &TestApp, written: &Written, needles: &Needles) {
    purge_files(app).await;
    assert_eq!(rows_with(app, &written.word).await, Vec::<String>::new());
    assert_eq!(places(app, needles), Vec::<String>::new());
    assert_eq!(faults(app).await, Vec::<String>::new());
}

async fn nothing_is_left_of_a_person_who_was_forgotten(app: TestApp) {
    let support = app.support.clone();
    let written = write_everywhere(&app, &support).await;
    // They also take part in a conversation of somebody else's, were blocked, and got mail of an app.
    let key = app.key("record").await;
    let app_mail = json!({
        "messageId": format!("<app.{}@shop.example>", written.word),
        "reference": "order-1",
        "to": [written.email],
        "subject": format!("Order of {}", written.word),
        "text": format!("Dear {}", written.word),
    });
    app.post(&key, "/app-mail", app_mail).await.is(201);
    let kim = format!(
        "Message-ID: <kim@x.example>\r\nFrom: Kim <kim@x.example>\r\nTo: support@acme.example\r\n\
         Cc: {0}\r\nSubject: Bench\r\nDate: Sun, 15 Nov 2026 09:00:00 +0000\r\n\r\nIt wobbles\r\n",
        written.email
    );
    app.arrives(&kim).await;
    let theirs = format!(
        "Message-ID: <r.{0}@x.example>\r\nIn-Reply-To: <kim@x.example>\r\nFrom: {0}@x.example\r\n\
         To: support@acme.example\r\nSubject: Re: Bench\r\n\
         Date: Sun, 15 Nov 2026 10:00:00 +0000\r\n\r\nSays {0}\r\n",
        written.word
    );
    app.arrives(&theirs).await;
    let id = written.conversation.clone();
    app.act(&app.owner, move |tx, cx| {
        let act = TriageAct::SpamAndBlock;
        let undo = triage::begin_triage(tx, cx, &act)?;
        triage::triage(tx, cx, &undo, &act, std::slice::from_ref(&id))
    })
    .await;
    app.pass(MINUTE).await;
    let needles = needles(&app, &written).await;
    let email = EmailAddress::new(&written.email);
    app.act(&app.owner, move |tx, cx| forget_person(tx, cx, &email)).await;
    is_gone(&app, &written, &needles).await;
    assert!(!rows_with(&app, TEAMS).await.is_empty(), "what the team wrote itself stays");
    assert!(!rows_with(&app, "it wobbles").await.is_empty(), "what others wrote stays");
}

async fn nothing_is_left_of_a_conversation_that_was_erased(app: TestApp) {
    let support = app.support.clone();
    let written = write_everywhere(&app, &support).await;
    let needles = needles(&app, &written).await;
    let found: Vec<(String,)> =
        app.act(&app.owner, |tx, _| Ok(tx.all("SELECT id FROM conversations", &[])?)).await;
    app.act(&app.owner, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &TriageAct::Delete)?;
        let ids: Vec<String> = found.iter().map(|(id,)| id.clone()).collect();
        triage::triage(tx, cx, &undo, &TriageAct::Delete, &ids)
    })
    .await;
    app.pass(31 * DAY).await;
    is_gone(&app, &written, &needles).await;
}

async fn nothing_is_left_of_an_inbox_that_was_deleted(app: TestApp) {
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let written = write_everywhere(&app, &billing).await;
    app.mail("kim@x.example Kim", "Bench", "It wobbles").await;
    let needles = needles(&app, &written).await;
    delete(&app, &app.owner, &billing).await;
    app.pass(HOUR).await;
    is_gone(&app, &written, &needles).await;
    assert!(!rows_with(&app, "it wobbles").await.is_empty(), "other inboxes stay");
}

async fn nothing_is_left_of_a_workspace_that_was_deleted(app: TestApp) {
    let support = app.support.clone();
    let written = write_everywhere(&app, &support).await;
    let other = app.other_workspace("Other").await;
    let needles = needles(&app, &written).await;
    app.act(&app.owner, |tx, cx| deletion::delete_workspace(tx, cx, "Acme")).await;
    app.pass(HOUR).await;
    is_gone(&app, &written, &needles).await;
    for word in [TEAMS, "acme.example", "olive owner"] {
        assert_eq!(rows_with(&app, word).await, Vec::<String>::new());
    }
    assert_eq!(app.count(&format!("users WHERE ws = {}", other.ws)).await, 1);
}
