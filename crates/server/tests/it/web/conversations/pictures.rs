//! Pictures in conversations: scaled copies of large ones, originals of all others.

use actions::conversations::triage::{TriageAct, begin_triage, triage};
use base::actor::Role;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use document_reader::{PREVIEW_BYTES, SCALED_BYTES};
use inbound::incoming_mail::IncomingMail;
use mail::Mail;
use model::mailboxes::Mailbox;

use crate::support::*;
use crate::web::writing::compose::upload;

on_both!(
    a_conversation_with_two_photos_loads_little,
    a_picture_in_a_text_is_scaled_once_it_is_sent_and_its_original_stays,
    a_scaled_copy_is_seen_by_those_who_see_the_original,
    scaled_copies_go_with_their_mail,
    pictures_that_cannot_be_scaled_are_shown_as_they_came
);

/// Bytes of all pictures that the page of a conversation with two photos asks for.
const PICTURES_BYTES: usize = 300 * 1024;
/// The number of the first picture of such a mail.
const FIRST: usize = 2;

/// A gray picture, packed without compression.
pub fn png(width: u32, height: u32, shade: impl Fn(u32, u32) -> u8) -> Vec<u8> {
    let mut rows = Vec::new();
    for y in 0..height {
        rows.push(0);
        rows.extend((0..width).map(|x| shade(x, y)));
    }
    png_of(width, height, &rows)
}

/// A picture that says to have this size, with these rows.
fn png_of(width: u32, height: u32, rows: &[u8]) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], data: &[u8]| {
        png.extend((data.len() as u32).to_be_bytes());
        let body = [&name[..], data].concat();
        png.extend(&body);
        png.extend(crc32(&body).to_be_bytes());
    };
    let size = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    chunk(b"IHDR", &size);
    chunk(b"IDAT", &zlib(rows));
    chunk(b"IEND", &[]);
    png
}

/// Bytes in stored blocks.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = bytes.chunks(usize::from(u16::MAX));
    let last = blocks.len().saturating_sub(1);
    for (number, block) in blocks.enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(number == last));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

fn crc32(bytes: &[u8]) -> u32 {
    let shifted = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    let step = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| shifted(sum));
    !bytes.iter().fold(!0, step)
}

/// A photo of 180 KB; `seed` tells it from others.
fn photo(seed: u32) -> Vec<u8> {
    png(500, 360, |x, y| ((x / 5 + y / 7 + seed) % 200 + (x ^ y) % 17) as u8)
}

/// A mail with HTML that shows these pictures, each with the type that it says to have.
fn mail_with(pictures: &[(&str, &[u8])]) -> String {
    let tags: String = (0..pictures.len()).map(|n| format!("<img src=\"cid:p{n}\">")).collect();
    let part = |(number, (kind, bytes)): (usize, &(&str, &[u8]))| {
        let coded = STANDARD.encode(bytes);
        let lines: Vec<&str> =
            coded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!(
            "--b\r\nContent-Type: {kind}\r\nContent-ID: <p{number}>\r\n\
             Content-Disposition: inline; filename=p{number}.png\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{}\r\n",
            lines.join("\r\n")
        )
    };
    let parts: String = pictures.iter().enumerate().map(part).collect();
    format!(
        "From: Ann <ann@shop.example>\r\nTo: support@acme.example\r\nSubject: Lamps\r\n\
         Message-ID: <photos@shop.example>\r\n\
         Content-Type: multipart/related; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/html\r\n\r\n<p>Look</p>{tags}\r\n{parts}--b--\r\n"
    )
}

/// Files a mail as it came over the wire; the path of its message.
async fn deliver_raw(app: &TestApp, mailbox: &Mailbox, raw: &str, mail: Mail) -> String {
    let blob = app.app.blobs.put(raw.as_bytes()).unwrap();
    let mail = Mail { has_html: true, ..mail };
    let incoming = IncomingMail { raw: Some(blob), ..app.incoming(mailbox, mail) };
    let (service, mailbox) = (app.service(mailbox), mailbox.clone());
    let received = app
        .act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &mailbox, &incoming))
        .await;
    format!("/conversations/{}/messages/{}", received.conversation, received.message)
}

/// The addresses of the pictures in a page.
fn pictures_in(page: &str) -> Vec<String> {
    let sources = page.split("<img").skip(1).filter_map(|tag| tag.split_once(" src=\""));
    sources.map(|(_, rest)| rest.split('"').next().unwrap().to_owned()).collect()
}

async fn a_conversation_with_two_photos_loads_little(app: TestApp) {
    let photos = [photo(0), photo(90)];
    let raw = mail_with(&[("image/png", &photos[0]), ("image/png", &photos[1])]);
    let filed = testing::filed_mail(&app.ingest(&["support@acme.example"], &raw).await[0]);
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", filed.conversation);
    let page = browser.get(&path).await.is(200);
    let frame = browser.get(&format!("{path}/messages/{}/html", filed.message)).await.is(200);
    let in_frame = pictures_in(&frame.text);
    assert_eq!(in_frame.len(), 2, "{}", frame.text);
    let pictures = [pictures_in(&page.text), in_frame.clone()].concat();
    let mut bytes = 0;
    for picture in &pictures {
        bytes += browser.get(picture).await.is(200).answer.bytes.len();
    }
    assert!(bytes > 0 && bytes <= PICTURES_BYTES, "{bytes} bytes of {pictures:?}");
    for (address, photo) in in_frame.iter().zip(&photos) {
        let copy = browser.get(address).await.is(200);
        assert_eq!(copy.answer.header("content-type"), "image/jpeg");
        assert!(copy.answer.header("cache-control").starts_with("private, max-age="));
        assert!(copy.answer.header("content-security-policy").contains("sandbox"));
        let original = browser.get(&address.replace("/html/", "/")).await.is(200);
        assert!(original.answer.bytes == *photo, "it stays as it came");
    }
    let kept = app.count("previews WHERE hash LIKE '%/%' AND preview IS NOT NULL").await;
    assert_eq!(kept, 2, "they are made once");
    let document = page.between("href=\"/documents/", "?shown\"");
    let copy = browser.get(&format!("/documents/{document}/scaled")).await.is(200);
    assert!(copy.answer.bytes.len() <= SCALED_BYTES);
    let detail = browser.get(&format!("/documents?doc={document}")).await.is(200);
    detail.shows(&format!("src=\"/documents/{document}/scaled\"")).shows("Look at it");
    let original = browser.get(&format!("/documents/{document}")).await.is(200);
    assert!(photos.contains(&original.answer.bytes), "a download is the original");
    let preview = browser.get(&format!("/documents/{document}/preview")).await.is(200);
    assert!(preview.answer.bytes.len() <= PREVIEW_BYTES);
}

async fn a_picture_in_a_text_is_scaled_once_it_is_sent_and_its_original_stays(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let photo = photo(0);
    let file = ("lamp.png", "image/png", photo.as_slice());
    let taken = upload(&browser, &format!("{path}/pictures"), &[], &[file]).await.is(200);
    let id = taken.between("\"id\":\"", "\"").to_owned();
    let body = format!("Look ![lamp](cid:{id})");
    let typed = [("kind", "reply"), ("body", body.as_str()), ("to", "ann@shop.example")];
    browser.post(&format!("{path}/autosave"), &typed).await.is(204);
    let writing = browser.get(&format!("{path}?write=reply")).await.is(200);
    let scaled = format!("/attachments/{id}/scaled");
    writing.shows(&body).shows(&format!("src=\"{scaled}\""));
    let unsent = browser.get(&scaled).await.is(200);
    assert!(unsent.answer.bytes == photo, "what is unsent is sealed, and has no copy");
    assert_eq!(app.count("previews").await, 0);
    let other = app.signed_in(&app.person("Bo").await).await;
    other.get(&scaled).await.is(404);
    app.browser().get(&scaled).await.is(303);
    let fields = [
        ("seen", "9"),
        ("to", "ann@shop.example"),
        ("format", "markdown"),
        ("body", body.as_str()),
    ];
    browser.post(&format!("{path}/reply"), &fields).await.is(303);
    let read = other.get(&path).await.is(200);
    read.shows(&format!("<a href=\"/attachments/{id}?shown\"")).shows(&format!("src=\"{scaled}\""));
    let copy = other.get(&scaled).await.is(200);
    assert!(copy.answer.bytes.len() <= SCALED_BYTES, "{}", copy.answer.bytes.len());
    let original = other.get(&format!("/attachments/{id}?shown")).await.is(200);
    assert!(original.answer.bytes == photo);
}

async fn a_scaled_copy_is_seen_by_those_who_see_the_original(app: TestApp) {
    let photo = photo(0);
    let raw = mail_with(&[("image/png", &photo)]);
    let bo = app.person_with("Bo", Role::Admin).await;
    let private = app.private_inbox(&bo).await;
    let held = Mail { warning: held_warning(), ..letter("eve@x.example", "Held", "Hello") };
    let hidden = deliver_raw(&app, &private, &raw, letter("ann@x.example", "Own", "Hello")).await;
    let held = deliver_raw(&app, &app.support, &raw, held).await;
    let (owner, own) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    let stranger = app.browser();
    for message in [&hidden, &held] {
        let (original, copy) =
            (format!("{message}/pictures/{FIRST}"), format!("{message}/html/pictures/{FIRST}"));
        own.get(&copy).await.is(200);
        for browser in [&owner, &own, &stranger] {
            let (original, copy) = (browser.get(&original).await, browser.get(&copy).await);
            assert_eq!(original.status, copy.status, "{message}");
        }
        stranger.get(&copy).await.is(303);
    }
    owner.get(&format!("{hidden}/html/pictures/{FIRST}")).await.is(404);
}

async fn scaled_copies_go_with_their_mail(app: TestApp) {
    let before = app.count("blobs").await;
    let (first, second) = (photo(0), photo(90));
    let raw = mail_with(&[("image/png", &first), ("image/png", &second)]);
    let filed = testing::filed_mail(&app.ingest(&["support@acme.example"], &raw).await[0]);
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", filed.conversation);
    let page = browser.get(&path).await.is(200);
    let frame = browser.get(&format!("{path}/messages/{}/html", filed.message)).await.is(200);
    for picture in [pictures_in(&page.text), pictures_in(&frame.text)].concat() {
        browser.get(&picture).await.is(200);
    }
    assert_eq!(app.count("previews").await, 4, "two previews and two copies");
    let (act, id) = (TriageAct::Delete, filed.conversation.to_string());
    app.act(&app.owner, move |tx, cx| {
        let undo = begin_triage(tx, cx, &act)?;
        triage(tx, cx, &undo, &act, std::slice::from_ref(&id))
    })
    .await;
    app.pass(31 * DAY).await;
    assert_eq!(app.count("previews").await, 0);
    assert_eq!(app.count("blobs").await, before);
}

async fn pictures_that_cannot_be_scaled_are_shown_as_they_came(app: TestApp) {
    let rows = vec![0; 2 * SCALED_BYTES];
    let mut cut = photo(0);
    cut.truncate(SCALED_BYTES + SCALED_BYTES / 2);
    let hostile = [
        png_of(60_000, 60_000, &rows),
        png_of(u32::MAX, 1, &rows),
        cut,
        [b"GIF89a".as_slice(), &rows].concat(),
        [b"<svg onload=alert(1)>".as_slice(), &rows].concat(),
        b"\x89PNG".to_vec(),
    ];
    let pictures: Vec<(&str, &[u8])> =
        hostile.iter().map(|bytes| ("image/png", bytes.as_slice())).collect();
    let raw = mail_with(&pictures);
    let letter = letter("ann@shop.example", "Lamps", "Hello");
    let message = deliver_raw(&app, &app.support, &raw, letter).await;
    let browser = app.signed_in(&app.owner).await;
    for (number, bytes) in hostile.iter().enumerate() {
        for _ in 0..4 {
            let path = format!("{message}/html/pictures/{}", FIRST + number);
            let shown = browser.get(&path).await.is(200);
            assert!(shown.answer.bytes == *bytes, "{number}");
            assert_eq!(shown.answer.header("content-type"), "image/png");
            assert_eq!(shown.answer.header("x-content-type-options"), "nosniff");
        }
    }
    assert_eq!(app.count("previews WHERE preview IS NOT NULL").await, 0);
    assert_eq!(
        app.count("previews WHERE attempts = 3").await,
        5,
        "after three attempts none is made"
    );
}
