//! Why a message failed is told in the timeline, in the list and in the event.

use actions::integrations::webhooks;
use jobs::{RelayOutcome, RelayReason};
use serde_json::{Value, json};
use testing::{DAY, MINUTE, TestApp, TestKey, UNDO, fields, on_both};

on_both!(
    a_refused_message_says_why_in_timeline_list_and_event,
    a_message_that_nobody_took_for_two_days_says_so,
    a_message_that_not_everybody_got_says_why,
    a_message_of_the_sandbox_that_bounces_says_why,
    a_message_that_cannot_be_composed_says_so_in_the_event_too,
    a_message_that_failed_before_reasons_were_kept_has_one_all_the_same
);

async fn listed(app: &TestApp, key: &TestKey) -> Value {
    app.get(key, "/messages?status=failed").await.is(200).json()[0].clone()
}

async fn failed_event(app: &TestApp) -> Value {
    let events = app.events().await;
    events.into_iter().find(|event| event["type"] == "message.failed").expect("the event")
}

/// A webhook that hears of failures: events of choice are recorded for it.
async fn listener(app: &TestApp) {
    let hook = app.hook("one").await;
    let names = vec!["message.failed".to_owned()];
    app.act(&app.owner, move |tx, cx| webhooks::choose_events(tx, cx, &hook.id, &names)).await;
}

async fn a_refused_message_says_why_in_timeline_list_and_event(app: TestApp) {
    listener(&app).await;
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    let reply = "5.1.1 no\u{202e} such\r\nuser\u{200b}".to_owned() + &"x".repeat(2_000);
    let reason = RelayReason::new("5.1.1", "the server answered 550 5.1.1 to RCPT");
    app.outside.relay.will_say(&[RelayOutcome::Never(reason.with_reply(reply))]);
    app.pass(UNDO).await;
    let shown = app.timeline(&key, &mail.conversation, "message").await[1].clone();
    let reason = &shown["reason"];
    assert_eq!((&shown["status"], fields(reason)), (&json!("failed"), vec!["code", "text"]));
    assert_eq!(reason["code"], "5.1.1");
    let text = reason["text"].as_str().unwrap();
    let plain = "There is no such address. The server said: “5.1.1 no such userx";
    assert!(text.starts_with(plain) && text.chars().count() <= 500, "{text}");
    let row = listed(&app, &key).await;
    assert_eq!((&row["id"], &row["reason"]), (&json!(message), reason));
    let event = failed_event(&app).await;
    assert_eq!((&event["data"]["message_id"], &event["data"]["reason"]), (&json!(message), reason));
}

async fn a_message_that_nobody_took_for_two_days_says_so(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    let busy = RelayReason::new("connection-refused", "x.example: no connection");
    app.outside.relay.will_say(&vec![RelayOutcome::Later(busy); 40]);
    app.pass(UNDO + MINUTE).await;
    let shown = app.timeline(&key, &mail.conversation, "message").await[1].clone();
    assert_eq!((&shown["status"], shown.get("reason")), (&json!("sending"), None));
    app.pass(3 * DAY).await;
    let expected = json!({
        "code": "expired",
        "text": "It could not be delivered for two days. X.example: no connection.",
    });
    assert_eq!(listed(&app, &key).await["reason"], expected);
}

async fn a_message_that_not_everybody_got_says_why(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let body = json!({ "body": "Both", "send": true, "cc": ["nils@customer.example"] });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    let full = RelayOutcome::Never(RelayReason::new("5.2.2", "full"));
    app.outside.relay.will_say_of_each(&[RelayOutcome::Delivered, full]);
    app.pass(UNDO).await;
    let shown = app.timeline(&key, &mail.conversation, "message").await[1].clone();
    let expected = json!({ "code": "5.2.2", "text": "The mailbox is full." });
    assert_eq!((&shown["status"], &shown["reason"]), (&json!("sent"), &expected));
}

async fn a_message_of_the_sandbox_that_bounces_says_why(app: TestApp) {
    let key = app.test_key("send write").await;
    let id = app.simulate(&key, "bounce@x.test").await;
    app.schedule(&key, &id, "Hello").await;
    app.pass(DAY).await;
    assert_eq!(listed(&app, &key).await["reason"]["code"], "5.1.1");
}

async fn a_message_that_cannot_be_composed_says_so_in_the_event_too(app: TestApp) {
    listener(&app).await;
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "See the file.").await;
    app.exec(&format!(
        "INSERT INTO attachments (ws, id, conversation, person, message, filename, content_type,
            size, hash, created_at)
         VALUES ({}, 'enc_1', '{}', 'usr_1', '{message}', 'a.pdf', 'application/pdf', 10, 'abc', 1)",
        app.owner.ws, mail.conversation,
    ))
    .await;
    app.pass(3 * DAY).await;
    let row = listed(&app, &key).await;
    let expected = json!({ "code": "fault", "text": "A file that belongs to it cannot be read." });
    assert_eq!(row["reason"], expected);
    assert_eq!(failed_event(&app).await["data"]["reason"], expected);
}

async fn a_message_that_failed_before_reasons_were_kept_has_one_all_the_same(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.outside.relay.will_say(&[RelayOutcome::Never("no such user".into())]);
    app.pass(UNDO).await;
    assert_eq!(listed(&app, &key).await["reason"]["code"], "refused");
    app.exec("UPDATE messages SET outcome_code = NULL, outcome_text = NULL").await;
    let expected = json!({ "code": "unknown", "text": "The reason is not known." });
    assert_eq!(listed(&app, &key).await["reason"], expected);
}
