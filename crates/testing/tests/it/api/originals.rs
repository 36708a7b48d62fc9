//! `include=original`: all of a message's text, when it is asked for.

use base::actor::Actor;
use inbound::incoming_mail::{FiledMail, IncomingMail};
use mail::{Attachment, Authentication, Envelope};
use serde_json::Value;
use testing::{SECOND, TestApp, TestKey, letter, on_both};

on_both!(
    a_read_has_the_whole_text_only_when_it_is_asked_for,
    a_message_that_came_as_no_mail_is_whole_as_it_is_kept,
    a_text_ends_after_100000_characters_and_the_newest_share_a_million,
    nobody_gets_more_by_asking_for_more
);

const QUOTING: &str = "From: Bruno <bruno@keller.example>\r\nSubject: Re: Lamp\r\n\
    Message-ID: <quoting@keller.example>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
    It glows blüe now.\r\n\r\n\
    On Mon, 9 Nov 2026 at 10:00, Support <support@acme.example> wrote:\r\n\
    > Which colour is it?\r\n";

async fn a_read_has_the_whole_text_only_when_it_is_asked_for(app: TestApp) {
    let key = app.key("read").await;
    let id = ingest(&app, QUOTING.as_bytes()).await.conversation.to_string();
    let plain = &app.read(&key, &id).await["timeline"][0];
    assert_eq!(plain["text"], "It glows blüe now.");
    assert_eq!(plain.get("original"), None);
    let whole = &read(&app, &key, &id).await["timeline"][0];
    assert_eq!(whole["text"], plain["text"]);
    assert_eq!(
        whole["original"],
        "It glows blüe now.\n\nOn Mon, 9 Nov 2026 at 10:00, Support <support@acme.example> \
         wrote:\n> Which colour is it?"
    );
}

async fn a_message_that_came_as_no_mail_is_whole_as_it_is_kept(app: TestApp) {
    let key = app.key("read draft").await;
    let long = "word ".repeat(2_000);
    let mail = letter("bruno@keller.example", "Lamp", &long);
    let id = app.deliver(&app.support, mail).await.conversation.to_string();
    app.advance(SECOND);
    app.draft(&key, &id, "It left on Tuesday.").await;
    let timeline = &read(&app, &key, &id).await["timeline"];
    assert_eq!(timeline[0]["text"].as_str().unwrap().chars().count(), 8_000);
    assert_eq!(timeline[0]["original"], long);
    assert_eq!(timeline[1]["original"], "It left on Tuesday.");
}

async fn a_text_ends_after_100000_characters_and_the_newest_share_a_million(app: TestApp) {
    let key = app.key("read").await;
    let mut id = String::new();
    for number in 0..11 {
        let raw = format!(
            "From: bruno@keller.example\r\nSubject: Lamp\r\n\
             Message-ID: <{number}@keller.example>\r\nContent-Type: text/plain; \
             charset=utf-8\r\n\r\n{}",
            "ü".repeat(100_001)
        );
        id = ingest(&app, raw.as_bytes()).await.conversation.to_string();
        app.advance(SECOND);
    }
    let read = read(&app, &key, &id).await;
    let lengths: Vec<usize> = read["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["original"].as_str().map_or(0, |text| text.chars().count()))
        .collect();
    let mut expected = vec![100_000; 11];
    expected[0] = 0;
    assert_eq!(lengths, expected);
}

async fn nobody_gets_more_by_asking_for_more(app: TestApp) {
    let key = app.key("read").await;
    let test_key = app.test_key("read").await;
    let id = ingest(&app, QUOTING.as_bytes()).await.conversation.to_string();
    let path = format!("/conversations/{id}?include=original");
    let hidden = app.get(&test_key, &path).await.is(404);
    let missing = "/conversations/cnv_00000000000000000000000000?include=original";
    assert_eq!(hidden.bytes, app.get(&key, missing).await.is(404).bytes);
}

async fn read(app: &TestApp, key: &TestKey, id: &str) -> Value {
    app.get(key, &format!("/conversations/{id}?include=original")).await.is(200).json()
}

/// Files a mail with the bytes that it came as.
async fn ingest(app: &TestApp, raw: &[u8]) -> FiledMail {
    let blob = app.app.blobs.put(raw).unwrap();
    let (raw, mailbox, blobs) = (raw.to_vec(), app.support.clone(), app.app.blobs.clone());
    let service = Actor::system(app.owner.ws, app.owner.workspace.clone(), mailbox.circle.clone());
    app.act(&service, move |tx, cx| {
        let understood = mail::parse(&raw, Envelope::default());
        let nothing = Authentication::default();
        let mail = inbound::assess(tx, cx, &mailbox, understood, &nothing, &mailbox.address)?;
        let put = |file: &Attachment| blobs.put(&file.bytes).unwrap();
        let attachments = mail.attachments.iter().map(put).collect();
        let incoming = IncomingMail {
            mail,
            raw: Some(blob.clone()),
            authentication: None,
            attachments,
            joins: None,
            content_hash: None,
        };
        inbound::receive::receive(tx, cx, &mailbox, &incoming)
    })
    .await
}
