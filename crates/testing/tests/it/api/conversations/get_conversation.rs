//! API sections 2.4 and 4.3.

use actions::integrations::keys;
use base::actor::Role;
use mail::{Mail, Risk, Warning};
use serde_json::{Value, json};
use testing::{
    DAY, SECOND, TestApp, UNDO, fields, file, letter, nowhere, on_both, text_of, texts, user,
};

on_both!(
    a_new_conversation_has_every_field,
    everything_that_is_known_is_read,
    the_timeline_is_oldest_first_with_messages_notes_and_events,
    each_item_of_the_timeline_has_its_fields,
    a_message_tells_its_attachments,
    text_is_cut_after_8000_characters,
    the_team_of_a_team_inbox_is_every_person_and_every_live_agent,
    the_team_of_a_private_inbox_is_its_person_and_the_agents_they_made,
    the_team_of_the_sandbox_is_the_test_agents_alone,
    at_most_three_reasons_are_told_and_the_latest_warning_counts,
    no_such_and_not_yours_are_the_same_bytes,
    an_assignee_keeps_their_name_after_the_key_was_revoked,
    what_a_reader_omits_is_absent,
    only_what_came_after_a_message_is_read
);

async fn a_new_conversation_has_every_field(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("bruno@keller.example Bruno Keller", "Lamp", "It is broken.").await;
    let read = app.read(&key, &mail.conversation).await;
    let expected = json!({
        "id": mail.conversation.as_str(),
        "subject": "Lamp",
        "status": "open",
        "contact": { "name": "Bruno Keller", "email": "bruno@keller.example", "known": false },
        "mailbox": "support@acme.example",
        "lastMessageAt": "2026-11-15T09:00:00.000Z",
        "assignee": null,
        "tags": [],
        "topic": null,
        "topicReasons": [],
        "suggestedTopic": null,
        "urgency": null,
        "urgencyReasons": [],
        "risk": null,
        "riskReasons": [],
        "snoozedUntil": null,
        "lastDirection": "inbound",
        "waitingSince": "2026-11-15T09:00:00.000Z",
        "language": null,
        "hasDraft": false,
        "fields": {},
        "links": [],
        "timeline": [{
            "type": "message",
            "id": mail.message.as_str(),
            "at": "2026-11-15T09:00:00.000Z",
            "by": { "type": "customer", "name": "Bruno Keller" },
            "direction": "inbound",
            "from": { "name": "Bruno Keller", "email": "bruno@keller.example" },
            "to": [],
            "cc": [],
            "status": null,
            "text": "It is broken.",
            "attachments": [],
            "secure": false,
        }],
        "team": {
            "people": [{ "id": format!("user:{}", user(&app.owner)), "name": "Olive Owner" }],
            "agents": [{ "id": format!("agent:{}", key.id), "name": "Robo" }],
        },
    });
    assert_eq!(read, expected);
}

async fn everything_that_is_known_is_read(app: TestApp) {
    let key = app.key("write").await;
    let warning = Warning { risk: Risk::Impersonation, reasons: vec!["Odd".into()], hold: false };
    let mail = Mail {
        delivered_to: "support+INV-7@acme.example".into(),
        warning: Some(warning),
        ..letter("bruno@keller.example", "Lamp", "It is broken.")
    };
    let mail = app.deliver(&app.support, mail).await;
    app.topic("returns", "").await;
    let sorted = json!({ "topic": "returns", "urgency": "low" });
    app.on(&key, &mail.conversation, "sorting", sorted).await.is(200);
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["vip"] })).await.is(200);
    app.on(&key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
    app.snooze(&app.owner, &mail.conversation, app.now() + DAY).await;
    let read = app.read(&key, &mail.conversation).await;
    for (field, expected) in [
        ("contact", json!({ "name": null, "email": "bruno@keller.example", "known": false })),
        ("assignee", json!({ "id": key.id.as_str(), "name": "Robo", "type": "agent" })),
        ("tags", json!(["vip"])),
        ("topic", json!("returns")),
        ("urgency", json!("low")),
        ("risk", json!("impersonation")),
        ("riskReasons", json!(["Odd"])),
        ("status", json!("open")),
        ("snoozedUntil", json!("2026-11-16T09:00:00.000Z")),
        ("reference", json!("inv-7")),
    ] {
        assert_eq!(read[field], expected, "{field}");
    }
    let none = ["snippet", "messageCount", "appSent"];
    assert!(none.iter().all(|field| read.get(field).is_none()), "{read}");
}

async fn the_timeline_is_oldest_first_with_messages_notes_and_events(app: TestApp) {
    let key = app.key("write draft send").await;
    let mail = app.mail("a@x.example Ann", "Lamp", "One").await;
    let id = &mail.conversation;
    app.advance(SECOND);
    app.on(&key, id, "notes", json!({ "body": "Two" })).await.is(201);
    app.on(&key, id, "tags", json!({ "add": ["vip"] })).await.is(200);
    app.on(&key, id, "notes", json!({ "body": "Three" })).await.is(201);
    app.advance(SECOND);
    let scheduled = app.schedule(&key, id, "Five").await;
    app.on(&key, id, "assign", json!({ "to": "me" })).await.is(200);
    app.advance(SECOND);
    app.mail("a@x.example Ann", "Re: Lamp", "Four").await;
    app.advance(UNDO);
    app.mark_sent(&app.support, &scheduled).await;
    app.advance(SECOND);
    app.draft(&key, id, "Six").await;
    let read = app.read(&key, id).await;
    let items = read["timeline"].as_array().unwrap();
    let told: Vec<String> = items.iter().map(brief).collect();
    assert_eq!(
        told,
        [
            "One",
            "Two",
            "tagged by Robo",
            "Three",
            "assigned by Robo",
            "Four",
            "Five",
            "status by Mailroom",
            "Six",
        ]
    );
    let times = texts(items, "at");
    assert!(times.is_sorted(), "{times:?}");
}

async fn each_item_of_the_timeline_has_its_fields(app: TestApp) {
    let key = app.key("write draft").await;
    let mail = app.mail("a@x.example", "Lamp", "One").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "Two" })).await.is(201);
    app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    let message = app.draft(&key, &mail.conversation, "Three").await;
    let read = app.read(&key, &mail.conversation).await;
    let items = read["timeline"].as_array().unwrap();
    let (note, at) = (text_of(&items[1], "id"), app.iso());
    assert!(note.starts_with("not_"));
    let by = json!({ "type": "agent", "name": "Robo", "id": key.id });
    let expected = [
        json!({ "type": "note", "id": note, "at": at, "by": by, "author": "Robo", "body": "Two" }),
        json!({
            "type": "event", "at": at, "by": by, "actor": "Robo", "event": "status",
            "data": { "from": "open", "to": "closed" },
        }),
        json!({
            "type": "message", "id": message, "at": at, "by": by, "direction": "outbound",
            "from": { "name": "Robo", "email": "support@acme.example" },
            "to": ["a@x.example"], "cc": [],
            "status": "draft", "text": "Three", "attachments": [], "secure": false,
        }),
    ];
    assert_eq!(items[1..], expected);
}

async fn a_message_tells_its_attachments(app: TestApp) {
    let key = app.key("read").await;
    let attachments = vec![file("invoice.pdf", b"12345"), file("photo of it.jpg", b"")];
    let mail = Mail { attachments, ..letter("a@x.example", "Lamp", "See attached") };
    let mail = app.deliver(&app.support, mail).await;
    let path = format!("/documents?conversation={}", mail.conversation);
    let filed = app.get(&key, &path).await.is(200).json();
    let id = |name: &str| {
        let filed = filed.as_array().unwrap();
        filed.iter().find(|document| document["filename"] == name).unwrap()["id"].clone()
    };
    let expected = json!([
        {
            "filename": "invoice.pdf", "contentType": "application/pdf", "size": 5,
            "documentId": id("invoice.pdf"),
        },
        {
            "filename": "photo of it.jpg", "contentType": "application/pdf", "size": 0,
            "documentId": id("photo of it.jpg"),
        },
    ]);
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[0]["attachments"], expected);
    // Documents are found by who sent them, too.
    let listed = app.get(&key, "/documents?from=a@x.example").await.is(200).json();
    assert_eq!(listed, filed);
    let others = app.get(&key, "/documents?from=b@x.example&q=invoice").await.is(200).json();
    assert_eq!(others, json!([]));
    app.get(&key, "/documents?conversation=cnv_0").await.is(200);
}

async fn text_is_cut_after_8000_characters(app: TestApp) {
    let key = app.key("read").await;
    for (letter, count) in [("é", 8_000), ("漢", 8_001), ("😀", 20_000), ("a", 8_001)] {
        let mail = app.mail("a@x.example", letter, &letter.repeat(count)).await;
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        assert_eq!(text_of(&messages[0], "text"), letter.repeat(8_000));
    }
}

async fn the_team_of_a_team_inbox_is_every_person_and_every_live_agent(app: TestApp) {
    let key = app.key("read").await;
    let cast = Cast::new(&app).await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(names(&read["team"]["people"]), ["Ann Teammate", "Ben Teammate", "Olive Owner"]);
    assert_eq!(names(&read["team"]["agents"]), ["Anns", "Robo"]);
    let people = read["team"]["people"].as_array().unwrap();
    assert_eq!(
        people[0],
        json!({
            "id": format!("user:{}", user(&cast.ann)), "name": "Ann Teammate",
        })
    );
}

async fn the_team_of_a_private_inbox_is_its_person_and_the_agents_they_made(app: TestApp) {
    app.key("read").await;
    let cast = Cast::new(&app).await;
    let inbox = app.private_inbox(&cast.ann).await;
    let mail = app.deliver(&inbox, letter("a@x.example", "Lamp", "text")).await;
    let read = app.read(&cast.anns_key, &mail.conversation).await;
    assert_eq!(names(&read["team"]["people"]), ["Ann Teammate"]);
    assert_eq!(names(&read["team"]["agents"]), ["Anns"]);
}

async fn the_team_of_the_sandbox_is_the_test_agents_alone(app: TestApp) {
    app.key("read").await;
    let cast = Cast::new(&app).await;
    let mail = app.deliver(&app.sandbox, letter("a@x.test", "Lamp", "text")).await;
    let read = app.read(&cast.test_key, &mail.conversation).await;
    assert_eq!(names(&read["team"]["people"]), Vec::<String>::new());
    assert_eq!(names(&read["team"]["agents"]), ["Anns test", "Testo"]);
}

async fn at_most_three_reasons_are_told_and_the_latest_warning_counts(app: TestApp) {
    let key = app.key("read").await;
    let reasons = |prefix: &str, count: usize| {
        (1..=count).map(|n| format!("{prefix} {n}")).collect::<Vec<_>>()
    };
    let warned = |risk: Risk, reasons: Vec<String>| Mail {
        warning: Some(Warning { risk, reasons, hold: false }),
        ..letter("a@x.example", "Lamp", "text")
    };
    let mail = app.deliver(&app.support, warned(Risk::Phishing, reasons("first", 5))).await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["riskReasons"], json!(["first 1", "first 2", "first 3"]));
    app.deliver(&app.support, warned(Risk::Impersonation, reasons("second", 1))).await;
    app.mail("a@x.example", "Lamp", "harmless").await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["risk"], "impersonation");
    assert_eq!(read["riskReasons"], json!(["second 1"]));
}

async fn no_such_and_not_yours_are_the_same_bytes(app: TestApp) {
    let key = app.key("read").await;
    let ann = app.person("Ann").await;
    let hers = app.private_inbox(&ann).await;
    let private = app.deliver(&hers, letter("a@x.example", "Secret", "text")).await;
    let sandbox = app.deliver(&app.sandbox, letter("a@x.test", "Test", "text")).await;
    let missing = app.get(&key, &format!("/conversations/{}", nowhere())).await.is(404);
    assert_eq!(fields(&missing.json()), ["error"]);
    for id in [private.conversation.as_str(), sandbox.conversation.as_str(), "cnv_", "x", "%00"] {
        let answer = app.get(&key, &format!("/conversations/{id}")).await.is(404);
        assert_eq!(answer.bytes, missing.bytes, "{id}");
    }
}

async fn an_assignee_keeps_their_name_after_the_key_was_revoked(app: TestApp) {
    let key = app.key("read").await;
    let gone = app.key_of(&app.owner, "Gone", "write", true).await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    app.on(&gone, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
    app.revoke(&gone).await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["assignee"]["name"], "Gone");
    assert_eq!(names(&read["team"]["agents"]), ["Robo"]);
    assert_eq!(app.list(&key, "").await[0]["assignee"], read["assignee"]);
}

/// People and keys beside the owner's Robo: some that count in each team, some that do not.
struct Cast {
    ann: base::actor::Actor,
    anns_key: testing::TestKey,
    test_key: testing::TestKey,
}

impl Cast {
    async fn new(app: &TestApp) -> Cast {
        let ann = app.person_with("Ann", Role::Admin).await;
        app.person("Ben").await;
        let anns_key = app.key_of(&ann, "Anns", "write", true).await;
        app.key_of(&ann, "Anns test", "read", false).await;
        let test_key = app.test_key("read").await;
        for livemode in [true, false] {
            let revoked = app.key_of(&ann, "Revoked", "read", livemode).await;
            app.revoke(&revoked).await;
        }
        let other = app.other_workspace("Globex").await;
        let elsewhere = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            keys::make_key(tx, cx, "Elsewhere", &[base::security::scopes::Scope::Read], true)
        };
        app.act(&other, elsewhere).await;
        Cast { ann, anns_key, test_key }
    }
}

fn names(members: &Value) -> Vec<String> {
    texts(members.as_array().unwrap(), "name")
}

/// A timeline item in a word or two.
fn brief(item: &Value) -> String {
    match item["type"].as_str().unwrap() {
        "message" => text_of(item, "text"),
        "note" => text_of(item, "body"),
        _ => format!("{} by {}", text_of(item, "event"), text_of(item, "actor")),
    }
}

async fn what_a_reader_omits_is_absent(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "One").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["vip"] })).await.is(200);
    let path = format!("/conversations/{}", mail.conversation);
    let whole = app.get(&key, &path).await.is(200).json();
    for (omit, kinds, has_team) in [
        ("team", vec!["message", "event"], false),
        ("events", vec!["message"], true),
        ("team,events", vec!["message"], false),
    ] {
        let read = app.get(&key, &format!("{path}?omit={omit}")).await.is(200).json();
        assert_eq!(texts(read["timeline"].as_array().unwrap(), "type"), kinds, "{omit}");
        assert_eq!(read.get("team").is_some(), has_team, "{omit}");
        assert_eq!(read["tags"], whole["tags"]);
    }
    for bad in ["", "team,", "everything", "team%20events"] {
        app.get(&key, &format!("{path}?omit={bad}")).await.is(400);
    }
}

async fn only_what_came_after_a_message_is_read(app: TestApp) {
    let key = app.key("write").await;
    let first = app.mail("a@x.example", "Lamp", "One").await;
    app.on(&key, &first.conversation, "notes", json!({ "body": "Two" })).await.is(201);
    app.advance(SECOND);
    let second = app.mail("a@x.example", "Re: Lamp", "Three").await;
    app.on(&key, &first.conversation, "notes", json!({ "body": "Four" })).await.is(201);
    let path = format!("/conversations/{}", first.conversation);
    let after = async |message: &str| {
        let read = app.get(&key, &format!("{path}?after={message}")).await.is(200).json();
        texts(read["timeline"].as_array().unwrap(), "type")
    };
    assert_eq!(after(first.message.as_str()).await, ["note", "message", "note"]);
    assert_eq!(after(second.message.as_str()).await, ["note"]);
    let other = app.mail("b@x.example", "Chair", "Else").await;
    for bad in [other.message.as_str(), "msg_1", "nothing"] {
        let answer = app.get(&key, &format!("{path}?after={bad}")).await.is(400);
        assert_eq!(answer.error(), "after: is not a message of this conversation");
    }
}
