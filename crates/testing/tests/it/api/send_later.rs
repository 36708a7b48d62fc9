//! `sendAt` of a reply and of a first mail: it leaves at a later time that its writer chose.

use base::time::Moment;
use serde_json::{Value, json};
use testing::{Answer, DAY, MINUTE, TestApp, TestKey, UNDO, letter, on_both, text_of};

on_both!(
    a_message_leaves_at_the_time_that_was_chosen,
    a_time_within_the_undo_window_means_its_end,
    a_time_that_is_over_or_too_far_is_refused_with_a_sentence,
    a_draft_has_no_time_to_leave,
    what_waits_for_its_time_can_be_stopped,
    what_the_customer_writes_meanwhile_stops_nothing,
    a_first_mail_leaves_later_too
);

async fn reply_at(app: &TestApp, key: &TestKey, id: &impl ToString, at: i64) -> Answer {
    let body = json!({ "body": "Hello", "send": true, "sendAt": Moment(at).iso() });
    app.on(key, id, "replies", body).await
}

async fn statuses(app: &TestApp, key: &TestKey, id: &impl ToString) -> Vec<Value> {
    let messages = app.timeline(key, id, "message").await;
    messages.iter().map(|message| message["status"].clone()).collect()
}

async fn a_message_leaves_at_the_time_that_was_chosen(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let at = app.now() + 3 * DAY;
    let answer = reply_at(&app, &key, &mail.conversation, at).await.is(201).json();
    assert_eq!(answer["status"], "scheduled");
    assert_eq!(answer["sendsAt"], Moment(at).iso());
    let note = text_of(&answer, "note");
    assert!(note.starts_with("Leaves on 18 November 2026 at 09:00 UTC"), "{note}");
    let listed = app.get(&key, "/messages?status=scheduled").await.is(200).json();
    assert_eq!(listed[0]["sendsAt"], Moment(at).iso());
    app.pass(3 * DAY - 1).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "open");
    app.pass(1).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!(statuses(&app, &key, &mail.conversation).await[1], "sent");
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "waiting");
}

async fn a_time_within_the_undo_window_means_its_end(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let soon = app.now() + MINUTE;
    let answer = reply_at(&app, &key, &mail.conversation, soon).await.is(201).json();
    assert_eq!(answer["sendsAt"], Moment(app.now() + UNDO).iso());
}

async fn a_time_that_is_over_or_too_far_is_refused_with_a_sentence(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    for (ahead, sentence) in [
        (0, "sendAt: The time to leave is over."),
        (-DAY, "sendAt: The time to leave is over."),
        (365 * DAY + 1, "sendAt: A message can wait for at most 365 days."),
    ] {
        let refused = reply_at(&app, &key, &mail.conversation, app.now() + ahead).await.is(400);
        assert!(refused.error().starts_with(sentence), "{}", refused.error());
    }
    assert_eq!(statuses(&app, &key, &mail.conversation).await.len(), 1);
    reply_at(&app, &key, &mail.conversation, app.now() + 365 * DAY).await.is(201);
}

async fn a_draft_has_no_time_to_leave(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let body = json!({ "body": "Hello", "sendAt": Moment(app.now() + DAY).iso() });
    let refused = app.on(&key, &mail.conversation, "replies", body).await.is(400);
    assert!(refused.error().starts_with("sendAt: needs send"), "{}", refused.error());
    assert_eq!(statuses(&app, &key, &mail.conversation).await.len(), 1);
}

async fn what_waits_for_its_time_can_be_stopped(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let at = app.now() + 2 * DAY;
    let answer = reply_at(&app, &key, &mail.conversation, at).await.is(201).json();
    app.pass(DAY).await;
    let stop = format!("/messages/{}/stop", text_of(&answer, "messageId"));
    app.post(&key, &stop, json!({})).await.is(200);
    app.pass(2 * DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert_eq!(statuses(&app, &key, &mail.conversation).await[1], "draft");
}

async fn what_the_customer_writes_meanwhile_stops_nothing(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    reply_at(&app, &key, &mail.conversation, app.now() + 2 * DAY).await.is(201);
    app.pass(DAY).await;
    let mut again = letter("ann@x.example", "Re: Lamp", "And the shade?");
    again.answers = vec![app.header_id(mail.message.as_str()).await];
    assert_eq!(app.deliver(&app.support, again).await.conversation, mail.conversation);
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn a_first_mail_leaves_later_too(app: TestApp) {
    let key = app.key("read send").await;
    let at = app.now() + DAY;
    let body = json!({
        "mailbox": app.support.id.to_string(),
        "to": ["bruno@keller.example"],
        "subject": "Your order",
        "body": "It is here.",
        "send": true,
        "sendAt": Moment(at).iso(),
        "followUpAt": Moment(at + DAY).iso(),
    });
    let started = app.post(&key, "/conversations", body).await.is(201).json();
    assert_eq!(started["sendsAt"], Moment(at).iso());
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    let read = app.read(&key, &text_of(&started, "conversationId")).await;
    assert_eq!(read["snoozedUntil"], Moment(at + DAY).iso());
}
