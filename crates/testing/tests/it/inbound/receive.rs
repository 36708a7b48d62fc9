//! A mail comes in: what it begins, what it changes, and that it counts once.

use inbound::incoming_mail::IncomingMail;
use mail::{AuthorKind, Mail};
use serde_json::{Value, json};
use testing::{Chance, DAY, SECOND, TestApp, file, letter, on_both, texts};

on_both!(
    a_first_mail_begins_an_open_conversation_and_tells_whose_turn_it_is,
    the_same_message_id_twice_in_an_inbox_is_stored_once,
    the_same_message_id_in_two_inboxes_is_stored_in_each,
    a_mail_without_a_message_id_is_known_by_its_bytes,
    mail_from_the_customer_reopens_a_waiting_or_closed_conversation,
    mail_on_an_open_conversation_changes_no_turn,
    mail_from_the_customer_ends_a_snooze,
    an_automatic_reply_is_filed_and_changes_nothing_else,
    an_automatic_reply_that_begins_a_conversation_is_no_reply,
    a_mail_with_nothing_in_it_is_filed,
    a_very_long_subject_is_kept_to_998_characters_and_still_threads,
    an_overlong_message_id_and_sender_are_received_once_and_thread,
    a_long_subject_in_any_script_is_received
);

async fn a_first_mail_begins_an_open_conversation_and_tells_whose_turn_it_is(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("Bruno@Keller.example Bruno", "Lamp", "Broken").await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["status"], "open");
    assert_eq!(
        read["contact"],
        json!({ "name": "Bruno", "email": "bruno@keller.example", "known": false })
    );
    let events = app.events().await;
    assert_eq!(texts(&events, "type"), ["turn.changed"]);
    assert_eq!(events[0]["data"]["turn"], "ours");
    assert_eq!(events[0]["data"]["previous"], Value::Null);
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
}

async fn the_same_message_id_twice_in_an_inbox_is_stored_once(app: TestApp) {
    let key = app.key("read").await;
    let mail = Mail {
        message_id: Some("one@x.example".into()),
        attachments: vec![file("a.pdf", b"1")],
        ..letter("a@x.example", "Lamp", "Broken")
    };
    let first = app.deliver(&app.support, mail.clone()).await;
    let before = app.get(&key, "/conversations").await.bytes;
    app.advance(SECOND);
    let second = app.deliver(&app.support, mail.clone()).await;
    assert_eq!(second, first);
    app.advance(40 * DAY);
    assert_eq!(app.deliver(&app.support, mail).await, first);
    assert_eq!(app.get(&key, "/conversations").await.bytes, before);
    assert_eq!(app.events().await.len(), 1);
    assert_eq!(app.get(&key, "/documents").await.json().as_array().unwrap().len(), 1);
}

async fn the_same_message_id_in_two_inboxes_is_stored_in_each(app: TestApp) {
    let key = app.key("read").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let mail = Mail {
        message_id: Some("one@x.example".into()),
        ..letter("a@x.example", "Lamp", "Broken")
    };
    let mut seen = Vec::new();
    for inbox in [&app.support, &sales, &app.sandbox] {
        let first = app.deliver(inbox, mail.clone()).await;
        assert_eq!(app.deliver(inbox, mail.clone()).await, first);
        assert!(!seen.contains(&first.conversation));
        seen.push(first.conversation);
    }
    assert_eq!(app.list(&key, "").await.len(), 2);
    assert_eq!(app.events().await.len(), 3);
}

async fn a_mail_without_a_message_id_is_known_by_its_bytes(app: TestApp) {
    let key = app.key("read").await;
    let first = deliver_raw(&app, b"From: a").await;
    assert_eq!(deliver_raw(&app, b"From: a").await, first);
    let other = deliver_raw(&app, b"From: b").await;
    assert_eq!(other.conversation, first.conversation);
    assert_ne!(other.message, first.message);
    assert_eq!(app.list(&key, "").await[0]["messageCount"], 2);
}

async fn mail_from_the_customer_reopens_a_waiting_or_closed_conversation(app: TestApp) {
    let key = app.key("write").await;
    for status in ["waiting", "closed"] {
        let mail = app.mail("a@x.example", status, "One").await;
        let id = &mail.conversation;
        app.on(&key, id, "status", json!({ "status": status })).await.is(200);
        let before = app.events().await.len();
        app.advance(SECOND);
        let again = app.mail("a@x.example", status, "Two").await;
        assert_eq!(app.read(&key, id).await["status"], "open");
        assert_eq!(
            app.timeline_events(&key, id).await.pop().unwrap(),
            ("status".into(), json!({ "from": status, "to": "open" }),)
        );
        assert_eq!(app.timeline(&key, id, "event").await.pop().unwrap()["actor"], "Mailroom");
        let events = app.events_since(before).await;
        assert_eq!(texts(&events, "type"), ["turn.changed", "client.replied"]);
        assert_eq!(events[0]["data"]["turn"], "ours");
        let previous = if status == "waiting" { "theirs" } else { "done" };
        assert_eq!(events[0]["data"]["previous"], previous);
        assert_eq!(events[1]["data"]["message_id"], again.message.as_str());
    }
}

async fn mail_on_an_open_conversation_changes_no_turn(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("a@x.example", "Lamp", "One").await;
    app.mail("a@x.example", "Lamp", "Two").await;
    assert_eq!(app.event_types_since(1).await, ["client.replied"]);
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
}

async fn mail_from_the_customer_ends_a_snooze(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("a@x.example", "Lamp", "One").await;
    app.snooze(&app.owner, &mail.conversation, app.now() + DAY).await;
    app.advance(SECOND);
    app.mail("a@x.example", "Lamp", "Two").await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["snoozedUntil"], Value::Null);
    assert_eq!(app.subjects(&key, "").await, ["Lamp"]);
    assert!(app.list(&key, "view=snoozed").await.is_empty());
    let woke = app.timeline_events(&key, &mail.conversation).await.pop().unwrap();
    assert_eq!(woke, ("woke".to_owned(), json!({ "by": "customer" })));
    assert_eq!(app.event_types_since(1).await, ["client.replied"]);
}

async fn an_automatic_reply_is_filed_and_changes_nothing_else(app: TestApp) {
    let key = app.key("write").await;
    for status in ["open", "waiting", "closed", "snoozed"] {
        let mail = app.mail("a@x.example", status, "One").await;
        let id = &mail.conversation;
        match status {
            "snoozed" => app.snooze(&app.owner, id, app.now() + DAY).await,
            _ => drop(app.on(&key, id, "status", json!({ "status": status })).await.is(200)),
        }
        let before = app.read(&key, id).await;
        let events = app.events().await.len();
        app.advance(SECOND);
        let automatic = Mail {
            kind: AuthorKind::AutoReply,
            ..letter("a@x.example", &format!("Re: {status}"), "I am away")
        };
        assert_eq!(app.deliver(&app.support, automatic).await.conversation, *id);
        let after = app.read(&key, id).await;
        assert_eq!(after["status"], before["status"], "{status}");
        assert_eq!(after["snoozedUntil"], before["snoozedUntil"], "{status}");
        assert_eq!(app.timeline_events(&key, id).await, timeline_events(&before), "{status}");
        assert_eq!(app.timeline(&key, id, "message").await.len(), 2, "{status}");
        assert_eq!(app.events_since(events).await, Vec::<Value>::new(), "{status}");
        assert_eq!(app.search_subjects(&key, &format!("{status} away")).await, [status]);
    }
}

async fn an_automatic_reply_that_begins_a_conversation_is_no_reply(app: TestApp) {
    let mail = Mail {
        kind: AuthorKind::AutoReply,
        delivered_to: "support+inv-1@acme.example".into(),
        ..letter("a@x.example", "Away", "I am away")
    };
    app.deliver(&app.support, mail).await;
    assert_eq!(app.event_types().await, ["turn.changed"]);
}

async fn a_mail_with_nothing_in_it_is_filed(app: TestApp) {
    let key = app.key("read").await;
    let first = app.mail("a@x.example", "", "").await;
    let second = app.mail("a@x.example", "", "").await;
    assert_ne!(first.conversation, second.conversation);
    let list = app.list(&key, "").await;
    assert_eq!(list.len(), 2);
    assert!(list.iter().all(|one| one["subject"] == "" && one["snippet"] == ""));
}

async fn a_very_long_subject_is_kept_to_998_characters_and_still_threads(app: TestApp) {
    let key = app.key("read").await;
    let subject = "ü".repeat(1_500);
    let first = app.mail("a@x.example", &subject, "One").await;
    let second = app.mail("a@x.example", &format!("Re: {subject}"), "Two").await;
    assert_eq!(app.read(&key, &first.conversation).await["subject"], "ü".repeat(998));
    assert_eq!(second.conversation, first.conversation);
}

async fn an_overlong_message_id_and_sender_are_received_once_and_thread(app: TestApp) {
    let mut chance = Chance::new(5);
    let mut letters = |count: usize| -> String {
        (0..count).map(|_| char::from(b'a' + chance.below(26) as u8)).collect()
    };
    let from = format!("{}@x.example", letters(4_000));
    let (id, other) = (letters(5_000), letters(5_000));
    let long = |id: &str| Mail {
        message_id: Some(id.to_owned()),
        ..letter(&from, &format!("Lamp {}", &id[..5]), "text")
    };
    let first = app.deliver(&app.support, long(&id)).await;
    assert_eq!(app.deliver(&app.support, long(&id)).await, first);
    let answer = Mail { answers: vec![id.clone()], ..long(&other) };
    let answer = app.deliver(&app.support, answer).await;
    assert_eq!(answer.conversation, first.conversation);
    assert_ne!(answer.message, first.message);
}

async fn a_long_subject_in_any_script_is_received(app: TestApp) {
    let key = app.key("read").await;
    for (start, end) in [(0x4e00, 0x9000), (0x1f300, 0x1f5ff), (0xac00, 0xd000)] {
        let mut chance = Chance::new(start as u64);
        let mut letter = || char::from_u32((start + chance.below(end - start)) as u32).unwrap();
        let subject: String = (0..998).map(|_| letter()).collect();
        let mail = app.mail("a@x.example", &subject, "text").await;
        assert_eq!(app.read(&key, &mail.conversation).await["subject"], subject);
    }
}

async fn deliver_raw(app: &TestApp, raw: &[u8]) -> inbound::incoming_mail::FiledMail {
    let mail = letter("a@x.example", "Lamp", "Broken");
    let raw = app.app.blobs.put(raw).unwrap();
    let incoming = IncomingMail { raw: Some(raw), ..app.incoming(&app.support, mail) };
    let (service, inbox) = (app.service(&app.support), app.support.clone());
    app.act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &inbox, &incoming)).await
}

fn timeline_events(read: &Value) -> Vec<(String, Value)> {
    let items = read["timeline"].as_array().unwrap().iter();
    let events = items.filter(|item| item["type"] == "event");
    events.map(|item| (item["event"].as_str().unwrap().into(), item["data"].clone())).collect()
}
