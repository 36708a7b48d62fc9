//! API section 4.4.

use serde_json::json;
use testing::{TestApp, on_both};

on_both!(a_note_appears_in_the_timeline_under_the_keys_name, each_call_makes_a_new_note);

async fn a_note_appears_in_the_timeline_under_the_keys_name(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("bruno@keller.example Bruno", "Lamp", "It is broken.").await;
    let path = format!("/conversations/{}/notes", mail.conversation);
    let answer = app.post(&key, &path, json!({ "body": "Look @Olive" })).await.is(201);
    assert_eq!(answer.json(), json!({ "ok": true }));
    let read = app.read(&key, &mail.conversation).await;
    let note = &read["timeline"][1];
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
