//! Additions to the API, section 9: many conversations at once, and undoing it.

use base::ids::ConversationId;
use serde_json::{Value, json};
use testing::{
    DAY, HOUR, TestApp, TestKey, held_warning, letter, nowhere, on_both, text_of, texts,
};

on_both!(
    all_that_can_be_changed_is_changed_and_the_rest_is_listed,
    an_undo_puts_everything_back_as_it_was,
    what_somebody_changed_since_stays_and_is_listed,
    an_undo_is_the_keys_own_and_of_the_last_day,
    a_call_that_says_nothing_or_nonsense_changes_nothing,
    missing_and_private_conversations_are_the_same_failure,
    the_timeline_tells_what_single_operations_tell
);

async fn mails(app: &TestApp, subjects: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    for subject in subjects {
        ids.push(app.mail("ann@x.example", subject, "text").await.conversation.to_string());
    }
    ids
}

async fn batch(app: &TestApp, key: &TestKey, body: Value) -> Value {
    app.post(key, "/conversations/batch", body).await.is(200).json()
}

fn ids_of(list: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> =
        list.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

async fn all_that_can_be_changed_is_changed_and_the_rest_is_listed(app: TestApp) {
    let key = app.key("write").await;
    let ids = mails(&app, &["One", "Two"]).await;
    let mut scam = letter("eve@evil.example", "Pay now", "Pay.");
    scam.warning = held_warning();
    let held = app.deliver(&app.support, scam).await.conversation.to_string();
    let asked = json!({
        "ids": [ids[0], ids[1], held, ids[0]], "status": "closed", "addTags": ["news"], "assignee": "me"
    });
    let done = batch(&app, &key, asked).await;
    assert_eq!(ids_of(&done["changed"]), ids);
    let failed = done["failed"].as_array().unwrap();
    assert_eq!(texts(failed, "id"), [held.as_str()]);
    assert!(failed[0]["error"].as_str().unwrap().contains("held"));
    assert!(text_of(&done, "undoId").starts_with("und_"));
    for id in &ids {
        let read = app.read(&key, id).await;
        assert_eq!((&read["status"], &read["tags"]), (&json!("closed"), &json!(["news"])));
        assert_eq!(read["assignee"]["type"], "agent");
    }
    let untouched = app.read(&key, &held).await;
    assert_eq!((&untouched["status"], &untouched["tags"]), (&json!("open"), &json!([])));
    // It is so already: nothing to undo.
    let again = batch(&app, &key, json!({ "ids": ids, "status": "closed" })).await;
    assert_eq!((ids_of(&again["changed"]), &again["undoId"]), (ids_of(&json!(ids)), &Value::Null));
}

async fn an_undo_puts_everything_back_as_it_was(app: TestApp) {
    let key = app.key("write").await;
    app.topic("Delivery", "parcel").await;
    let ids = mails(&app, &["One", "Two"]).await;
    app.on(&key, &ids[0], "tags", json!({ "add": ["old", "both"] })).await.is(200);
    let before = [app.read(&key, &ids[0]).await, app.read(&key, &ids[1]).await];
    let until = "2027-01-04T09:00:00Z";
    for change in [
        json!({ "status": "closed" }),
        json!({ "status": "waiting", "addTags": ["new", "both"], "removeTags": ["old"] }),
        json!({ "assignee": "me", "topic": "Delivery" }),
        json!({ "snoozeUntil": until }),
    ] {
        let mut asked = change.clone();
        asked["ids"] = json!(ids);
        let done = batch(&app, &key, asked).await;
        assert_eq!(done["failed"], json!([]), "{change}");
        let undo = format!("/undo/{}", text_of(&done, "undoId"));
        let undone = app.post(&key, &undo, json!({})).await.is(200).json();
        let mut expected = ids.clone();
        expected.sort();
        assert_eq!(ids_of(&undone["undone"]), expected, "{change}");
        assert_eq!(undone["left"], json!([]), "{change}");
        for (id, before) in ids.iter().zip(&before) {
            let after = app.read(&key, id).await;
            for part in [
                "status",
                "assignee",
                "topic",
                "suggestedTopic",
                "urgency",
                "snoozedUntil",
                "waitingSince",
            ] {
                assert_eq!(after[part], before[part], "{change} {part}");
            }
            let sorted = |read: &Value| {
                let mut tags = read["tags"].as_array().unwrap().clone();
                tags.sort_by_key(ToString::to_string);
                tags
            };
            assert_eq!(sorted(&after), sorted(before), "{change}");
        }
        // Undoing again changes nothing.
        let again = app.post(&key, &undo, json!({})).await.is(200).json();
        assert_eq!(again, json!({ "undone": [], "left": [] }));
    }
}

async fn what_somebody_changed_since_stays_and_is_listed(app: TestApp) {
    let key = app.key("write").await;
    let ids = mails(&app, &["One", "Two"]).await;
    let done = batch(&app, &key, json!({ "ids": ids, "status": "closed", "addTags": ["x"] })).await;
    // A person opens one of them again.
    let person = app.key_of(&app.owner, "Another", "write", true).await;
    app.on(&person, &ids[0], "status", json!({ "status": "waiting" })).await.is(200);
    let undo = format!("/undo/{}", text_of(&done, "undoId"));
    let undone = app.post(&key, &undo, json!({})).await.is(200).json();
    assert_eq!(ids_of(&undone["undone"]), [ids[1].as_str()]);
    assert_eq!(undone["left"][0]["id"], ids[0]);
    assert!(undone["left"][0]["error"].as_str().unwrap().contains("status"));
    let kept = app.read(&key, &ids[0]).await;
    assert_eq!((&kept["status"], &kept["tags"]), (&json!("waiting"), &json!([])));
    assert_eq!(app.read(&key, &ids[1]).await["status"], "open");
}

async fn an_undo_is_the_keys_own_and_of_the_last_day(app: TestApp) {
    let (key, other) =
        (app.key("write").await, app.key_of(&app.owner, "Another", "write", true).await);
    let ids = mails(&app, &["One"]).await;
    let done = batch(&app, &key, json!({ "ids": ids, "status": "closed" })).await;
    let undo = format!("/undo/{}", text_of(&done, "undoId"));
    app.post(&other, &undo, json!({})).await.is(404);
    app.post(&key, "/undo/und_0", json!({})).await.is(404);
    app.advance(DAY + HOUR);
    app.post(&key, &undo, json!({})).await.is(404);
    assert_eq!(app.read(&key, &ids[0]).await["status"], "closed");
}

async fn a_call_that_says_nothing_or_nonsense_changes_nothing(app: TestApp) {
    let key = app.key("write").await;
    let ids = mails(&app, &["One"]).await;
    let many: Vec<String> = (0..101).map(|n| format!("cnv_{n}")).collect();
    for wrong in [
        json!({ "ids": ids }),
        json!({ "ids": [], "status": "closed" }),
        json!({ "ids": many, "status": "closed" }),
        json!({ "ids": ids, "status": "gone" }),
        json!({ "ids": ids, "topic": "No such topic" }),
        json!({ "ids": ids, "assignee": "Ines" }),
        json!({ "ids": ids, "snoozeUntil": "2020-01-01T00:00:00Z" }),
        json!({ "ids": ids, "status": "closed", "snoozeUntil": "2030-01-01T00:00:00Z" }),
    ] {
        app.post(&key, "/conversations/batch", wrong).await.is(400);
    }
    let reading = app.key("read").await;
    app.post(&reading, "/conversations/batch", json!({ "ids": ids, "status": "closed" }))
        .await
        .is(403);
    assert_eq!(app.timeline_events(&key, &ids[0]).await, []);
}

async fn missing_and_private_conversations_are_the_same_failure(app: TestApp) {
    let ines = app.person("Ines").await;
    let private = app.private_inbox(&ines).await;
    let secret = app.deliver(&private, letter("a@x.example", "Secret", "text")).await;
    let secret: ConversationId = secret.conversation;
    let key = app.key("write").await;
    let asked = json!({ "ids": [secret, nowhere(), "nonsense"], "status": "closed" });
    let done = batch(&app, &key, asked).await;
    let failed = done["failed"].as_array().unwrap();
    assert_eq!((failed.len(), &done["changed"]), (3, &json!([])));
    let sentences = texts(failed, "error");
    assert!(sentences.iter().all(|sentence| *sentence == sentences[0]), "{sentences:?}");
}

async fn the_timeline_tells_what_single_operations_tell(app: TestApp) {
    let key = app.key("write").await;
    let ids = mails(&app, &["One", "Two"]).await;
    batch(&app, &key, json!({ "ids": [ids[0]], "status": "closed", "addTags": ["x"] })).await;
    app.on(&key, &ids[1], "tags", json!({ "add": ["x"] })).await.is(200);
    app.on(&key, &ids[1], "status", json!({ "status": "closed" })).await.is(200);
    let told = [app.timeline_events(&key, &ids[0]).await, app.timeline_events(&key, &ids[1]).await];
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].len(), 2);
}
