//! `POST /messages/{id}/stop`: an agent takes back what an agent sent.

use actions::writing::drafts;
use api::operations::{self, ReplyInput};
use base::ids::MessageId;
use serde_json::{Value, json};
use testing::{Answer, DAY, MINUTE, SECOND, TestApp, TestKey, UNDO, letter, nowhere, on_both};

on_both!(
    a_scheduled_message_is_stopped_until_the_last_moment_and_is_a_draft_again,
    another_agent_may_stop_it,
    stopping_twice_changes_nothing_more,
    what_has_left_cannot_be_stopped,
    what_is_on_its_way_cannot_be_stopped,
    only_a_person_stops_what_a_person_sends,
    only_a_person_stops_what_a_person_approved,
    stopping_counts_as_a_change_and_is_kept_as_an_act,
    a_message_that_the_key_cannot_see_is_like_one_that_was_never_there,
    stopping_needs_send,
    a_stopped_message_can_be_approved_and_leaves_once
);

async fn stop(app: &TestApp, key: &TestKey, message: &str) -> Answer {
    app.post(key, &format!("/messages/{message}/stop"), json!({})).await
}

async fn status(
    app: &TestApp,
    key: &TestKey,
    conversation: &impl ToString,
    message: &str,
) -> Value {
    let messages = app.timeline(key, conversation, "message").await;
    messages.into_iter().find(|item| item["id"] == message).expect("the message")["status"].clone()
}

async fn a_scheduled_message_is_stopped_until_the_last_moment_and_is_a_draft_again(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.pass(UNDO - 1).await;
    assert_eq!(stop(&app, &key, &message).await.is(200).json(), json!({ "ok": true }));
    assert_eq!(status(&app, &key, &mail.conversation, &message).await, "draft");
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert_eq!(status(&app, &key, &mail.conversation, &message).await, "draft");
    let event = app.timeline(&key, &mail.conversation, "event").await.pop().unwrap();
    assert_eq!(event["event"], "undone");
    assert_eq!(event["actor"], "Robo");
    assert_eq!(event["data"], json!({ "messageId": message }));
    assert_eq!(app.event_types().await, ["turn.changed"]);
}

async fn another_agent_may_stop_it(app: TestApp) {
    let (one, two) = (app.key("send").await, app.key("send").await);
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&one, &mail.conversation, "It left.").await;
    stop(&app, &two, &message).await.is(200);
    assert_eq!(status(&app, &one, &mail.conversation, &message).await, "draft");
}

async fn stopping_twice_changes_nothing_more(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    let draft = app.draft(&key, &mail.conversation, "Another").await;
    stop(&app, &key, &message).await.is(200);
    let before = app.read(&key, &mail.conversation).await;
    app.advance(SECOND);
    for message in [&message, &message, &draft] {
        stop(&app, &key, message).await.is(200);
    }
    assert_eq!(app.read(&key, &mail.conversation).await, before);
}

async fn what_has_left_cannot_be_stopped(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.pass(UNDO).await;
    let before = app.read(&key, &mail.conversation).await;
    let refused = stop(&app, &key, &message).await.is(400).error();
    assert_eq!(refused, "message: has left already and cannot be stopped");
    assert_eq!(app.read(&key, &mail.conversation).await, before);
}

async fn what_is_on_its_way_cannot_be_stopped(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.outside.relay.will_say(&[jobs::RelayOutcome::Later("busy".into())]);
    app.pass(UNDO).await;
    assert_eq!(status(&app, &key, &mail.conversation, &message).await, "sending");
    stop(&app, &key, &message).await.is(400);
    app.pass(MINUTE).await;
    assert_eq!(status(&app, &key, &mail.conversation, &message).await, "sent");
}

async fn only_a_person_stops_what_a_person_sends(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let id = mail.conversation.to_string();
    let made = app.act(&app.owner, move |tx, cx| {
        let input = ReplyInput {
            id: id.clone(),
            body: "From Olive".into(),
            send: true,
            ..ReplyInput::default()
        };
        operations::reply(tx, cx, input)
    });
    let message = made.await.message_id;
    stop(&app, &key, message.as_str()).await.is(403);
    assert_eq!(status(&app, &key, &mail.conversation, message.as_str()).await, "scheduled");
    let id = message.clone();
    let colleague = app.person("Bo").await;
    app.act(&colleague, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
    assert_eq!(status(&app, &key, &mail.conversation, message.as_str()).await, "draft");
}

async fn only_a_person_stops_what_a_person_approved(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let draft = app.draft(&key, &mail.conversation, "It left.").await;
    app.approve(&app.owner, &json!({ "id": draft }), Some("It left.")).await;
    let refused = stop(&app, &key, &draft).await.is(403).error();
    assert_eq!(refused, "Only a person can stop what a person approved.");
    assert_eq!(status(&app, &key, &mail.conversation, &draft).await, "scheduled");
}

async fn stopping_counts_as_a_change_and_is_kept_as_an_act(app: TestApp) {
    let key = app.agent_key("send").await;
    let mails = [
        app.mail("mara@customer.example", "Lamp", "Where is it?").await,
        app.mail("bo@customer.example", "Lamp", "Where is it?").await,
    ];
    app.exec("UPDATE contacts SET standing = 'trusted'").await;
    let mut messages = Vec::new();
    for mail in &mails {
        messages.push(app.schedule(&key, &mail.conversation, "It left.").await);
    }
    app.limit(&key, &["bulkPerMinutes=1/5"]).await;
    // What it wrote is no change of these minutes any more.
    app.advance(6 * MINUTE);
    stop(&app, &key, &messages[0]).await.is(200);
    let kept = format!("agent_acts WHERE kind = 'withdrew' AND thing = '{}'", messages[0]);
    assert_eq!(app.count(&kept).await, 1);
    assert_eq!(app.get(&key, "/me").await.is(200).json()["policy"]["paused"], true);
    stop(&app, &key, &messages[1]).await.is(403);
    app.pass(DAY).await;
    let sent = app.outside.relay.attempts();
    let to_customers = |to: &String| to.ends_with("@customer.example");
    assert!(!sent.iter().any(|mail| mail.recipients.iter().any(to_customers)));
}

async fn a_message_that_the_key_cannot_see_is_like_one_that_was_never_there(app: TestApp) {
    let key = app.key("send").await;
    let test = app.test_key("send").await;
    let ann = app.person_with("Ann", base::actor::Role::Admin).await;
    let anns = app.key_of(&ann, "Annie", "send", true).await;
    let private = app.private_inbox(&ann).await;
    let hers = app.deliver(&private, letter("a@x.example", "Lamp", "text")).await;
    let hers = app.schedule(&anns, &hers.conversation, "Hello").await;
    let tested = app.deliver(&app.sandbox, letter("a@x.test", "Lamp", "text")).await;
    let tested = app.schedule(&test, &tested.conversation, "Hello").await;
    let inbound = app.mail("b@x.example", "Lamp", "text").await.message.to_string();
    let missing = stop(&app, &key, "msg_00000000000000000000000000").await.is(404);
    for id in [hers.as_str(), &tested, &inbound, &nowhere(), "x", "msg_", "msg_A"] {
        assert_eq!(stop(&app, &key, id).await.is(404).bytes, missing.bytes, "{id}");
    }
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1, "nothing was stopped");
}

async fn stopping_needs_send(app: TestApp) {
    let (key, other) = (app.key("send").await, app.key("read write draft record").await);
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    let refused = stop(&app, &other, &message).await.is(403).error();
    assert!(refused.contains("send"), "{refused}");
    assert_eq!(status(&app, &key, &mail.conversation, &message).await, "scheduled");
}

async fn a_stopped_message_can_be_approved_and_leaves_once(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    stop(&app, &key, &message).await.is(200);
    let id = MessageId::parse(&message).unwrap();
    app.act(&app.owner, move |tx, cx| {
        let (draft, _) = outbound::messages::load_outgoing(tx, cx.actor, &id)?;
        testing::approve_draft(tx, cx, &id, draft.revision, &draft.text)
    })
    .await;
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    let types = app.event_types().await;
    let expected = ["turn.changed", "draft.approved", "turn.changed", "message.sent"];
    assert_eq!(types, expected);
}
