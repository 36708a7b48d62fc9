//! `POST /conversations` (additions to the API, section 8).

use mail::Mail;
use serde_json::{Value, json};
use testing::{DAY, TestApp, TestKey, letter, on_both, text_of};

on_both!(
    a_first_mail_is_a_draft_in_a_conversation_of_its_own,
    a_first_mail_that_left_waits_for_its_recipient,
    the_answer_to_a_first_mail_joins_its_conversation,
    a_first_mail_leaves_from_an_inbox_that_the_key_sees,
    what_is_wrong_with_a_first_mail_is_said_and_nothing_begins
);

fn first_mail(mailbox: &impl ToString) -> Value {
    json!({
        "mailbox": mailbox.to_string(),
        "to": ["bruno@keller.example", "anna@keller.example"],
        "cc": ["office@keller.example"],
        "subject": "Your order 20418",
        "body": "The lamp is here.",
    })
}

async fn start(app: &TestApp, key: &TestKey, body: Value) -> Value {
    app.post(key, "/conversations", body).await.is(201).json()
}

async fn a_first_mail_is_a_draft_in_a_conversation_of_its_own(app: TestApp) {
    let key = app.key("read draft").await;
    let started = start(&app, &key, first_mail(&app.support.id)).await;
    assert_eq!(started["status"], "draft");
    let conversation = app.read(&key, &text_of(&started, "conversationId")).await;
    assert_eq!(conversation["subject"], "Your order 20418");
    assert_eq!(conversation["contact"]["email"], "bruno@keller.example");
    assert_eq!(conversation["status"], "open");
    assert_eq!(app.events().await.len(), 0, "nothing has happened to the customer yet");
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
}

async fn a_first_mail_that_left_waits_for_its_recipient(app: TestApp) {
    let key = app.key("read send").await;
    let mut body = first_mail(&app.support.id);
    body["send"] = json!(true);
    let started = start(&app, &key, body).await;
    assert_eq!(started["status"], "scheduled");
    app.pass(DAY).await;
    let sent = app.outside.relay.attempts().pop().expect("a mail left");
    let text = String::from_utf8_lossy(&sent.bytes).into_owned();
    assert!(text.contains("\r\nSubject: Your order 20418\r\n"), "{text}");
    assert!(!text.contains("In-Reply-To"), "{text}");
    assert_eq!(sent.recipients.len(), 3);
    let conversation = app.read(&key, &text_of(&started, "conversationId")).await;
    assert_eq!(conversation["status"], "waiting");
    assert_eq!(app.event_types().await, ["turn.changed", "message.sent"]);
}

async fn the_answer_to_a_first_mail_joins_its_conversation(app: TestApp) {
    let key = app.key("read send").await;
    let mut body = first_mail(&app.support.id);
    body["send"] = json!(true);
    let started = start(&app, &key, body).await;
    app.pass(DAY).await;
    let answers = vec![app.header_id(&text_of(&started, "messageId")).await];
    let answer = Mail { answers, ..letter("anna@keller.example", "Re: Your order", "Tomorrow") };
    let joined = app.deliver(&app.support, answer).await;
    assert_eq!(joined.conversation.to_string(), text_of(&started, "conversationId"));
    let reply =
        app.on(&key, &joined.conversation, "replies", json!({ "body": "Fine", "send": true }));
    reply.await.is(201);
    app.pass(DAY).await;
    let sent = app.outside.relay.attempts().pop().expect("a mail left");
    assert!(String::from_utf8_lossy(&sent.bytes).contains("Subject: Re: Your order 20418"));
}

async fn a_first_mail_leaves_from_an_inbox_that_the_key_sees(app: TestApp) {
    let (live, test) = (app.key("draft").await, app.test_key("draft").await);
    let private = app.private_inbox(&app.person("Pia").await).await;
    app.post(&live, "/conversations", first_mail(&private.id)).await.is(404);
    app.post(&live, "/conversations", first_mail(&app.sandbox.id)).await.is(404);
    app.post(&test, "/conversations", first_mail(&app.support.id)).await.is(404);
    app.post(&live, "/conversations", first_mail(&"mbx_nowhere")).await.is(404);
    app.post(&test, "/conversations", first_mail(&app.sandbox.id)).await.is(201);
}

async fn what_is_wrong_with_a_first_mail_is_said_and_nothing_begins(app: TestApp) {
    let key = app.key("read draft").await;
    let wrong = json!({ "mailbox": app.support.id, "to": ["nobody"], "subject": " ", "body": "" });
    let error = app.post(&key, "/conversations", wrong).await.is(400).error();
    for field in ["to[0]: ", "subject: ", "body: "] {
        assert!(error.contains(field), "{error}");
    }
    let mut body = first_mail(&app.support.id);
    body["send"] = json!(true);
    app.post(&key, "/conversations", body).await.is(403);
    assert!(app.list(&key, "view=all").await.is_empty());
}
