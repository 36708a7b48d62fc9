//! API section 8: every limit at the last value that fits and at the first that does not.

use base::actor::Actor;
use base::app::Cx;
use db::Tx;
use inbound::incoming_mail::{FiledMail, IncomingMail};
use mail::{Attachment, Mail};
use serde_json::{Value, json};

use super::{ALL, a_conversation, fields_named, op, rows};
use crate::support::{Answer, TestApp, TestKey, letter, on_both};

on_both!(
    a_text_may_have_so_many_characters_and_not_one_more,
    a_list_may_have_so_many_items_and_not_one_more,
    what_must_say_something_may_not_be_empty_or_blank,
    app_mail_goes_to_somebody,
    a_reference_has_up_to_40_characters_and_an_address_up_to_254,
    the_assignee_has_up_to_80_characters,
    a_list_gives_1_to_100_items_and_25_unless_told,
    a_search_has_up_to_200_characters,
    a_mails_text_is_cut_after_8000_characters_in_a_read,
    a_mail_is_filed_however_long_its_parts_are,
    a_note_and_a_drafts_text_read_back_as_they_were_written
);

/// Each text of each operation, and how many characters it may have.
pub const TEXTS: &[(&str, &str, usize)] = &[
    ("add_note", "/body", 10_000),
    ("tag_conversation", "/add/0", 40),
    ("tag_conversation", "/remove/0", 40),
    ("reply", "/body", 50_000),
    ("reply", "/summary", 500),
    ("start_conversation", "/subject", 998),
    ("start_conversation", "/body", 50_000),
    ("start_conversation", "/summary", 500),
    ("reply", "/documents/0/label", 120),
    ("reply", "/documents/0/description", 500),
    ("request_documents", "/documents/0/label", 120),
    ("request_documents", "/documents/0/description", 500),
    ("request_documents", "/message", 5_000),
    ("record_sent", "/messageId", 998),
    ("record_sent", "/subject", 998),
    ("record_sent", "/text", 200_000),
    ("record_sent", "/html", 200_000),
];

/// The same of the operations that only a test key may ask for.
pub const IN_SANDBOX_TEXTS: &[(&str, &str, usize)] = &[
    ("sandbox_inbound", "/name", 100),
    ("sandbox_inbound", "/subject", 998),
    ("sandbox_inbound", "/text", 50_000),
    ("sandbox_inbound", "/inReplyTo", 998),
];

/// The same of the operations on bookings.
pub const BOOKING_TEXTS: &[(&str, &str, usize)] = &[
    ("create_booking", "/name", 100),
    ("create_booking", "/answers/0/question", 200),
    ("create_booking", "/answers/0/answer", 1_000),
    ("cancel_booking", "/reason", 500),
];

/// Each list of each operation, and how many items it may have.
pub const LISTS: &[(&str, &str, usize)] = &[
    ("tag_conversation", "/add", 10),
    ("tag_conversation", "/remove", 10),
    ("reply", "/documents", 20),
    ("reply", "/to", 20),
    ("reply", "/cc", 20),
    ("start_conversation", "/to", 20),
    ("start_conversation", "/cc", 20),
    ("request_documents", "/documents", 20),
    ("record_sent", "/to", 50),
];

type Change = fn(&mut Mail);

/// What makes a mail long.
const LONG_MAILS: [(&str, Change); 4] = [
    ("Message-ID", |mail| mail.message_id = Some(wide(998))),
    ("subject", |mail| mail.subject = wide(998)),
    ("address", |mail| mail.from.email = format!("{}@x", wide(252))),
    ("text", |mail| mail.text = (0..50_000).map(|word| format!("{word:0>30} ")).collect()),
];

/// Characters of four bytes each, too irregular to be packed smaller.
pub fn wide(chars: usize) -> String {
    let mut seed = 1_u32;
    let character = |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from_u32(0x2_0000 + (seed >> 8) % 0xa000).unwrap()
    };
    (0..chars).map(character).collect()
}

/// Characters of one byte each, of which the first and the last are no white space.
fn narrow(chars: usize) -> String {
    let line = "Lorem ipsum dolor sit amet.\n".chars().cycle();
    line.take(chars.saturating_sub(1)).chain(['.']).take(chars).collect()
}

/// `/documents/0/label` as a problem names it: `documents[0].label`.
fn named(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1);
    parts.fold(String::new(), |path, part| match (part.parse::<usize>(), path.is_empty()) {
        (Ok(index), _) => format!("{path}[{index}]"),
        (Err(_), true) => part.to_owned(),
        (Err(_), false) => format!("{path}.{part}"),
    })
}

async fn try_to_deliver(app: &TestApp, mut mail: Mail) -> Result<FiledMail, String> {
    mail.delivered_to = app.support.address.to_string();
    let service =
        Actor::system(app.owner.ws, app.owner.workspace.clone(), app.support.circle.clone());
    let (inbox, incoming) = (
        app.support.clone(),
        IncomingMail {
            mail,
            raw: None,
            authentication: None,
            attachments: Vec::new(),
            joins: None,
            content_hash: None,
        },
    );
    let receive =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>| inbound::receive::receive(tx, cx, &inbox, &incoming);
    app.app.act(&service, receive).await.map_err(|error| match error {
        base::error::Error::Store(cause) => cause.to_string(),
        error => error.to_string(),
    })
}

/// The request that is right, but for one value.
async fn with_value(
    app: &TestApp,
    key: &TestKey,
    id: &str,
    place: (&str, &str),
    value: Value,
) -> Answer {
    let (name, pointer) = place;
    let mut body = op(name).json();
    *body.pointer_mut(pointer).expect("a place in the body") = value;
    op(name).ask_with(app, key, &id, body.to_string()).await
}

async fn a_text_may_have_so_many_characters_and_not_one_more(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for (name, pointer, most) in TEXTS {
        for text in [wide, narrow] {
            let place = (*name, *pointer);
            let answer = with_value(&app, &key, &id, place, json!(text(*most))).await;
            let told = String::from_utf8_lossy(&answer.bytes);
            assert_eq!(answer.status, op(name).success, "{name} {pointer}: {told}");
            let before = rows(&app).await;
            let answer = with_value(&app, &key, &id, place, json!(text(*most + 1))).await.is(400);
            assert_eq!(fields_named(&answer), [named(pointer)], "{name}");
            assert_eq!(rows(&app).await, before, "{name} {pointer}");
        }
    }
}

async fn a_list_may_have_so_many_items_and_not_one_more(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for (name, pointer, most) in LISTS {
        let item = |place: usize| match *pointer {
            "/documents" => json!({ "label": format!("Paper {place}") }),
            "/to" | "/cc" => json!(format!("reader{place}@keller.example")),
            _ => json!(format!("tag {place}")),
        };
        let items = |count: usize| json!((0..count).map(item).collect::<Vec<_>>());
        let answer = with_value(&app, &key, &id, (name, pointer), items(*most)).await;
        assert_eq!(answer.status, op(name).success, "{name} {pointer}");
        let before = rows(&app).await;
        let answer = with_value(&app, &key, &id, (name, pointer), items(most + 1)).await.is(400);
        assert_eq!(fields_named(&answer), [named(pointer)], "{name}");
        assert_eq!(rows(&app).await, before, "{name} {pointer}");
    }
}

async fn what_must_say_something_may_not_be_empty_or_blank(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    for (name, pointer) in [
        ("add_note", "/body"),
        ("reply", "/body"),
        ("reply", "/documents/0/label"),
        ("request_documents", "/documents/0/label"),
        ("tag_conversation", "/add/0"),
        ("tag_conversation", "/remove/0"),
        ("record_sent", "/messageId"),
        ("record_sent", "/reference"),
        ("record_sent", "/to/0"),
    ] {
        for blank in ["", " ", "\n\t\r ", "\u{a0}", "\u{3000}\u{2003}"] {
            let answer = with_value(&app, &key, &id, (name, pointer), json!(blank)).await.is(400);
            assert_eq!(fields_named(&answer), [named(pointer)], "{name} {blank:?}");
        }
    }
    for (name, pointer) in [("add_note", "/body"), ("tag_conversation", "/add/0")] {
        let answer = with_value(&app, &key, &id, (name, pointer), json!("x")).await;
        assert_eq!(answer.status, op(name).success, "{name}");
    }
}

async fn app_mail_goes_to_somebody(app: TestApp) {
    let key = app.key(ALL).await;
    let place = ("record_sent", "/to");
    let answer = with_value(&app, &key, "", place, json!([])).await.is(400);
    assert_eq!(fields_named(&answer), ["to"]);
    with_value(&app, &key, "", place, json!(["bruno@keller.example"])).await.is(201);
}

async fn a_reference_has_up_to_40_characters_and_an_address_up_to_254(app: TestApp) {
    let key = app.key(ALL).await;
    let address = |chars: usize| format!("{}@keller.example", "a".repeat(chars - 15));
    for (pointer, fits, does_not) in [
        ("/reference", "a1".repeat(20), format!("{}1", "a1".repeat(20))),
        ("/to/0", address(254), address(255)),
    ] {
        with_value(&app, &key, "", ("record_sent", pointer), json!(fits)).await.is(201);
        let place = ("record_sent", pointer);
        let answer = with_value(&app, &key, "", place, json!(does_not)).await.is(400);
        assert_eq!(fields_named(&answer), [named(pointer)]);
    }
}

async fn the_assignee_has_up_to_80_characters(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let place = ("assign_conversation", "/to");
    let to = |chars: usize| json!(format!("user:usr_{}", "0".repeat(chars - 9)));
    let at = with_value(&app, &key, &id, place, to(80)).await.is(400).error();
    let over = with_value(&app, &key, &id, place, to(81)).await.is(400).error();
    assert!(!at.contains("80 characters"), "{at}");
    assert!(over.starts_with("to: ") && over.contains("80 characters"), "{over}");
}

async fn a_list_gives_1_to_100_items_and_25_unless_told(app: TestApp) {
    let key = app.key(ALL).await;
    for number in 0..101 {
        let mut mail = letter("bruno@keller.example", &format!("Lamp {number}"), "Broken.");
        mail.attachments.push(Attachment {
            filename: format!("{number}.pdf"),
            content_type: "application/pdf".into(),
            bytes: vec![1],
        });
        app.deliver(&app.support, mail).await;
    }
    for list in ["/conversations", "/documents"] {
        for (query, count) in [("", 25), ("?limit=1", 1), ("?limit=25", 25), ("?limit=100", 100)] {
            let answer = app.get(&key, &format!("{list}{query}")).await.is(200);
            assert_eq!(answer.json().as_array().unwrap().len(), count, "{list}{query}");
            assert!(answer.next().is_some(), "{list}{query}");
        }
        for wrong in ["0", "101", "-1", "99999999999999999999", "1.5", "5x", "0x5", "", " 5"] {
            let wrong = wrong.replace(' ', "%20");
            let answer = app.get(&key, &format!("{list}?limit={wrong}")).await.is(400);
            assert_eq!(fields_named(&answer), ["limit"], "{list} {wrong}");
        }
    }
}

async fn a_search_has_up_to_200_characters(app: TestApp) {
    let key = app.key(ALL).await;
    a_conversation(&app).await;
    for list in ["/conversations", "/documents", "/answers"] {
        for text in [wide, narrow] {
            for (chars, status) in [(0, 200), (200, 200), (201, 400)] {
                let q: String =
                    url::form_urlencoded::byte_serialize(text(chars).as_bytes()).collect();
                let answer = app.get(&key, &format!("{list}?q={q}")).await;
                assert_eq!(answer.status, status, "{list} {chars}");
                if status == 400 {
                    assert_eq!(fields_named(&answer), ["q"]);
                }
            }
        }
    }
}

async fn a_mails_text_is_cut_after_8000_characters_in_a_read(app: TestApp) {
    let key = app.key("read").await;
    for (chars, shown) in [(7_999, 7_999), (8_000, 8_000), (8_001, 8_000), (20_000, 8_000)] {
        let text = wide(chars);
        let mail = app.mail("bruno@keller.example", &format!("Lamp {chars}"), &text).await;
        let read = app.read(&key, &mail.conversation).await;
        let expected: String = text.chars().take(shown).collect();
        assert!(read["timeline"][0]["text"] == json!(expected), "{chars}");
    }
}

async fn a_mail_is_filed_however_long_its_parts_are(app: TestApp) {
    let mut refused = Vec::new();
    for (part, change) in LONG_MAILS {
        let mut mail = letter("bruno@keller.example", part, "It is broken.");
        change(&mut mail);
        if let Err(error) = try_to_deliver(&app, mail).await {
            refused.push(format!("{part}: {error}"));
        }
    }
    assert_eq!(refused, [""; 0]);
}

async fn a_note_and_a_drafts_text_read_back_as_they_were_written(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    with_value(&app, &key, &id, ("add_note", "/body"), json!(wide(10_000))).await.is(201);
    with_value(&app, &key, &id, ("reply", "/body"), json!(wide(50_000))).await.is(201);
    let read = app.read(&key, &id).await;
    let timeline = read["timeline"].as_array().unwrap();
    let of = |kind: &str| timeline.iter().rfind(|item| item["type"] == kind).unwrap();
    assert!(of("note")["body"] == json!(wide(10_000)));
    let shown: String = wide(50_000).chars().take(8_000).collect();
    assert!(of("message")["text"] == json!(shown));
}
