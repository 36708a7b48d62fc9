//! API section 4.4.

use serde_json::json;
use testing::{TestApp, on_both};

on_both!(
    a_note_appears_in_the_timeline_under_the_keys_name,
    each_call_makes_a_new_note,
    the_answer_says_who_was_found_and_who_was_not
);

async fn a_note_appears_in_the_timeline_under_the_keys_name(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("bruno@keller.example Bruno", "Lamp", "It is broken.").await;
    let path = format!("/conversations/{}/notes", mail.conversation);
    let answer = app.post(&key, &path, json!({ "body": "Look @Olive" })).await.is(201);
    let answer = answer.json();
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["mentioned"], json!(["Olive Owner"]));
    assert_eq!(answer["unknownMentions"], json!([]));
    let read = app.read(&key, &mail.conversation).await;
    let note = &read["timeline"][1];
    assert_eq!(note["id"], answer["noteId"]);
    assert_eq!(note["type"], "note");
    assert_eq!(note["author"], "Robo");
    assert_eq!(note["body"], "Look @Olive");
    assert!(note["id"].as_str().unwrap().starts_with("not_"));
}

async fn each_call_makes_a_new_note(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("bruno@keller.example", "Lamp", "It is broken.").await;
    let path = format!("/conversations/{}/notes", mail.conversation);
    for _ in 0..2 {
        app.post(&key, &path, json!({ "body": "Same words" })).await.is(201);
    }
    assert_eq!(app.read(&key, &mail.conversation).await["timeline"].as_array().unwrap().len(), 3);
}

async fn the_answer_says_who_was_found_and_who_was_not(app: TestApp) {
    let key = app.key("write").await;
    app.person("Zoë").await;
    let mail = app.mail("bruno@keller.example", "Lamp", "It is broken.").await;
    let body = "@zoe and @OLIVE, ask @Nobody or @Anne-Marie at sales@acme.example";
    let answer = app.on(&key, &mail.conversation, "notes", json!({ "body": body })).await;
    let answer = answer.is(201).json();
    assert_eq!(answer["mentioned"], json!(["Olive Owner", "Zoë Teammate"]));
    assert_eq!(answer["unknownMentions"], json!(["Nobody", "Anne-Marie"]));
}
