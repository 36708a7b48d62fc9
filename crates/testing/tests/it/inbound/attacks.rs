//! Hostile mail is filed quickly and harms nothing.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use testing::{MINUTE, TestApp, filed_mail, on_both, raw_with};

use super::sent;

on_both!(
    a_stranger_naming_a_message_id_gets_a_conversation_of_their_own,
    names_and_subjects_add_no_headers_to_what_we_answer,
    ten_thousand_parts_are_filed_in_bounded_time,
    parts_within_parts_are_filed_as_one_attached_mail,
    nested_styles_and_mails_of_any_spelling_are_filed,
    a_header_of_a_megabyte_is_filed,
    an_archive_that_would_grow_is_kept_packed,
    a_mail_that_is_no_mail_is_filed_all_the_same
);

/// The longest that one hostile mail may take on a slow machine, in a build that is not optimized.
const PATIENCE: Duration = Duration::from_secs(60);

async fn a_stranger_naming_a_message_id_gets_a_conversation_of_their_own(app: TestApp) {
    let key = app.key("read").await;
    let (message, conversation) = sent(&app).await;
    let header_id = app.header_id(&message).await;
    let before = app.read(&key, &conversation).await;
    let fields = format!(
        "Message-ID: <evil@evil.example>\r\nIn-Reply-To: <{header_id}>\r\n\
         References: <{header_id}>\r\n"
    );
    let mail = raw_with(&fields, "Ann <eve@evil.example>", "Re: Lamp", "Send it elsewhere");
    assert_ne!(app.arrives(&mail).await.conversation.as_str(), conversation);
    assert_eq!(app.read(&key, &conversation).await, before);
}

async fn names_and_subjects_add_no_headers_to_what_we_answer(app: TestApp) {
    let key = app.key("send").await;
    let evil = "=?utf-8?q?Ann=0D=0ABcc:_all@acme.example=0D=0A?= <ann@x.example>";
    let subject = "=?utf-8?q?Lamp=0D=0AX-Evil:_1=0D=0A=0D=0Abody?=";
    let mail = raw_with("Message-ID: <h@x.example>\r\n", evil, subject, "Hello");
    let received = app.arrives(&mail).await;
    app.schedule(&key, &received.conversation, "Hello back").await;
    app.pass(11 * MINUTE).await;
    let parcels = app.outside.relay.attempts();
    let sent = String::from_utf8(parcels.last().unwrap().bytes.to_vec()).unwrap();
    let head = sent.split("\r\n\r\n").next().unwrap();
    for line in head.split("\r\n") {
        assert!(!line.starts_with("Bcc:") && !line.starts_with("X-Evil"), "{head}");
    }
    assert_eq!(parcels.last().unwrap().recipients, ["ann@x.example"]);
}

async fn ten_thousand_parts_are_filed_in_bounded_time(app: TestApp) {
    let part = "--b\r\nContent-Type: text/plain; name=a.txt\r\n\
                Content-Disposition: attachment; filename=a.txt\r\n\r\nx\r\n";
    let body = format!("{}--b--", part.repeat(10_000));
    let files = hostile(&app, "multipart/mixed; boundary=b", &body).await;
    assert!((1..=250).contains(&files), "{files}");
}

async fn parts_within_parts_are_filed_as_one_attached_mail(app: TestApp) {
    let mut body = String::new();
    for depth in 0..2_000 {
        body.push_str(&format!(
            "--b{depth}\r\nContent-Type: message/rfc822\r\n\r\n\
            Content-Type: multipart/mixed; boundary=b{}\r\n\r\n",
            depth + 1
        ));
    }
    hostile(&app, "multipart/mixed; boundary=b0", &body).await;
    let key = app.key("read").await;
    let documents = app.get(&key, "/documents").await.json();
    assert_eq!(documents[0]["filename"], "message-1.eml", "{documents}");
}

async fn nested_styles_and_mails_of_any_spelling_are_filed(app: TestApp) {
    let styles = format!("<style>{}</style><p>seen</p>", "@media all{\r\n".repeat(8_200));
    assert_eq!(hostile(&app, "text/html", &styles).await, 0);
    for kind in ["message/rfc822", "message/ rfc822", "message /rfc822", "message(x)/rfc822"] {
        let nested = format!("Content-Type: {kind}\r\n\r\n").repeat(20_000);
        assert_eq!(hostile(&app, kind, &nested).await, 1, "{kind}");
        let encoded = format!("{kind}\r\nContent-Transfer-Encoding: base64");
        assert_eq!(hostile(&app, &encoded, &base64(nested.as_bytes())).await, 1, "{kind}");
    }
}

async fn a_header_of_a_megabyte_is_filed(app: TestApp) {
    let key = app.key("read").await;
    let long = format!("X-Junk: {}\r\n", "a".repeat(1_000_000));
    let many = "X-Junk: yes\r\n".repeat(80_000);
    for (place, junk) in [long, many].into_iter().enumerate() {
        let mail = raw_with("", "ann@x.example", &format!("Big {place}"), "text");
        let mail = mail.replace("\r\n\r\n", &format!("\r\n{junk}\r\n"));
        let began = Instant::now();
        let received = app.arrives(&mail).await;
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        let read = app.read(&key, &received.conversation).await;
        assert_eq!(read["subject"], format!("Big {place}"));
    }
}

async fn an_archive_that_would_grow_is_kept_packed(app: TestApp) {
    let key = app.key("read").await;
    let mut archive = Vec::from(*b"PK\x03\x04");
    archive.extend(zstd_of_zeros());
    let coded = base64(&archive);
    let body = format!(
        "--b\r\nContent-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\
         Content-Disposition: attachment; filename=bomb.zip\r\n\r\n{coded}\r\n--b--"
    );
    hostile(&app, "multipart/mixed; boundary=b", &body).await;
    let documents = app.get(&key, "/documents").await.json();
    assert_eq!(documents[0]["filename"], "bomb.zip");
}

async fn a_mail_that_is_no_mail_is_filed_all_the_same(app: TestApp) {
    for (place, bytes) in [
        &b""[..],
        b"\r\n",
        b"\0\0\0\0",
        b"\xff\xfe\xfd",
        b"From",
        b"From: \r\nSubject",
        b"Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n----\r\n",
        b"Content-Transfer-Encoding: base64\r\n\r\n!!!!",
    ]
    .into_iter()
    .enumerate()
    {
        let taken = app.ingest_from("", &["support@acme.example"], bytes).await;
        filed_mail(&taken[0]);
        assert_eq!(app.list(&app.key("read").await, "").await.len(), place + 1);
    }
}

/// Takes a hostile mail in, in bounded time; answers how many files it left.
async fn hostile(app: &TestApp, kind: &str, body: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    (kind, body).hash(&mut hasher);
    let id = hasher.finish();
    let fields = format!("Message-ID: <hostile.{id}@x.example>\r\nContent-Type: {kind}\r\n");
    let mail = raw_with(&fields, "ann@x.example", "Hostile", body);
    let began = Instant::now();
    let received = app.arrives(&mail).await;
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    let key = app.key("read").await;
    let read = app.read(&key, &received.conversation).await;
    let items = read["timeline"].as_array().unwrap();
    let filed = items.iter().find(|item| item["id"] == received.message.as_str()).unwrap();
    filed["attachments"].as_array().unwrap().len()
}

/// Packed bytes of twenty million.
fn zstd_of_zeros() -> Vec<u8> {
    zstd::bulk::compress(&vec![0; 20_000_000], 1).unwrap()
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine;
    let coded = ::base64::engine::general_purpose::STANDARD.encode(bytes);
    let lines: Vec<&str> =
        coded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    lines.join("\r\n")
}
