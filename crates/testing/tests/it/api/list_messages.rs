//! `GET /messages`: what waits, what is about to leave, what failed.

use serde_json::{Value, json};
use testing::{MINUTE, SECOND, TestApp, TestKey, UNDO, fields, letter, on_both, texts};

on_both!(
    drafts_scheduled_and_failed_messages_are_listed_in_their_order,
    a_row_tells_what_is_needed_to_act,
    messages_that_have_left_or_were_discarded_are_not_listed,
    what_a_key_cannot_see_is_not_listed,
    the_limit_holds_over_all_statuses
);

async fn list(app: &TestApp, key: &TestKey, query: &str) -> Vec<Value> {
    let answer = app.get(key, &format!("/messages{query}")).await.is(200).json();
    answer.as_array().unwrap().clone()
}

async fn drafts_scheduled_and_failed_messages_are_listed_in_their_order(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let gone = app.schedule(&key, &mail.conversation, "To nowhere").await;
    app.outside.relay.will_say(&[jobs::RelayOutcome::Never("no such user".into())]);
    app.pass(UNDO).await;
    let old = app.draft(&key, &mail.conversation, "Old draft").await;
    app.advance(SECOND);
    let new = app.draft(&key, &mail.conversation, "New draft").await;
    let soon = app.schedule(&key, &mail.conversation, "Leaves first").await;
    app.advance(MINUTE);
    let late = app.schedule(&key, &mail.conversation, "Leaves last").await;
    let ids = |listed: &[Value]| texts(listed, "id");
    assert_eq!(ids(&list(&app, &key, "?status=draft").await), [new.clone(), old.clone()]);
    assert_eq!(ids(&list(&app, &key, "?status=scheduled").await), [soon.clone(), late.clone()]);
    assert_eq!(ids(&list(&app, &key, "?status=failed").await), std::slice::from_ref(&gone));
    assert_eq!(ids(&list(&app, &key, "").await), [soon, late, new, old, gone]);
    app.get(&key, "/messages?status=sent").await.is(400);
}

async fn a_row_tells_what_is_needed_to_act(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left on Tuesday.").await;
    let row = &list(&app, &key, "").await[0];
    let all = [
        "author",
        "cc",
        "conversationId",
        "createdAt",
        "id",
        "sendsAt",
        "snippet",
        "status",
        "subject",
        "to",
    ];
    assert_eq!(fields(row), all);
    assert_eq!(row["conversationId"], mail.conversation.to_string());
    assert_eq!(row["to"], json!(["mara@customer.example"]));
    assert_eq!(row["subject"], "Re: Lamp");
    assert_eq!(row["snippet"], "It left on Tuesday.");
    assert_eq!(row["author"], "Robo");
    let read = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(read[1]["sendsAt"], row["sendsAt"]);
    assert!(read[0].get("sendsAt").is_none());
}

async fn messages_that_have_left_or_were_discarded_are_not_listed(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "Leaves").await;
    app.pass(UNDO).await;
    let draft = app.draft(&key, &mail.conversation, "Never mind").await;
    app.post(&key, &format!("/messages/{draft}/discard"), json!({})).await.is(200);
    assert!(list(&app, &key, "").await.is_empty());
}

async fn what_a_key_cannot_see_is_not_listed(app: TestApp) {
    let (live, test) = (app.key("draft").await, app.test_key("draft").await);
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let in_sandbox = app.deliver(&app.sandbox, letter("ann@keller.test", "Lamp", "Hello")).await;
    let live_draft = app.draft(&live, &mail.conversation, "Live").await;
    let test_draft = app.draft(&test, &in_sandbox.conversation, "Test").await;
    assert_eq!(texts(&list(&app, &live, "").await, "id"), [live_draft]);
    assert_eq!(texts(&list(&app, &test, "").await, "id"), [test_draft]);
}

async fn the_limit_holds_over_all_statuses(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    for number in 0..3 {
        app.draft(&key, &mail.conversation, &format!("Draft {number}")).await;
        app.schedule(&key, &mail.conversation, &format!("Message {number}")).await;
    }
    assert_eq!(list(&app, &key, "?limit=4").await.len(), 4);
    assert_eq!(list(&app, &key, "?limit=2").await.len(), 2);
    app.get(&key, "/messages?limit=0").await.is(400);
}
