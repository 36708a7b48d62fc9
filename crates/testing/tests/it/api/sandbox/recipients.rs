//! The magic recipients (section 8.3.2).

use serde_json::{Value, json};
use testing::{DAY, MINUTE, TestApp, letter, on_both, text_of};

use super::{ANSWERS_AFTER, UNDO};

on_both!(
    a_sent_reply_leaves_after_five_seconds_and_nothing_reaches_the_relay,
    delivered_and_any_other_address_get_it_and_nothing_comes_back,
    message_sent_tells_of_the_sandbox_and_its_author,
    bounce_fails_and_tells_no_message_sent,
    complaint_gets_it_and_complains_and_every_later_mail_to_it_fails,
    a_complaint_counts_in_its_own_workspace,
    reply_writes_back_in_the_same_conversation_five_seconds_later,
    every_mail_to_reply_is_answered,
    ooo_answers_automatically_and_nobody_is_told,
    a_stopped_message_is_not_delivered_and_nobody_answers,
    a_draft_waits_as_live_ones_do,
    in_a_live_inbox_the_same_address_is_no_magic,
    test_webhooks_hear_of_it_and_live_ones_do_not
);

async fn a_sent_reply_leaves_after_five_seconds_and_nothing_reaches_the_relay(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "mara@customer.test").await;
    app.schedule(&key, &id, "Hello").await;
    app.pass(UNDO - 1).await;
    assert_eq!(app.statuses(&key, &id).await, ["scheduled"]);
    app.pass(1).await;
    assert_eq!(app.statuses(&key, &id).await, ["sent"]);
    assert_eq!(app.read(&key, &id).await["status"], "waiting");
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
}

async fn delivered_and_any_other_address_get_it_and_nothing_comes_back(app: TestApp) {
    let key = app.test_key("write send").await;
    for from in [
        "delivered@x.test",
        "delivered+1@x.test",
        "mara@customer.test",
        "replies@x.test",
        "mara+reply@x.test",
        "bounced@x.test",
    ] {
        let id = app.simulate(&key, from).await;
        let before = app.events().await.len();
        app.schedule(&key, &id, "Hello").await;
        app.pass(DAY).await;
        assert_eq!(app.statuses(&key, &id).await, ["sent"], "{from}");
        assert_eq!(app.came_in(&key, &id).await.len(), 1, "{from}");
        assert_eq!(app.event_types_since(before).await, ["turn.changed", "message.sent"]);
    }
}

async fn message_sent_tells_of_the_sandbox_and_its_author(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "delivered@x.test").await;
    let message = app.schedule(&key, &id, "Hello").await;
    app.pass(UNDO).await;
    let event = app.events().await.pop().unwrap();
    assert_eq!(event["type"], "message.sent");
    assert_eq!(event["livemode"], false);
    let data = &event["data"];
    assert_eq!(data["message_id"], message);
    assert_eq!(data["conversation_id"], id);
    assert_eq!(data["mailbox_id"], app.sandbox.id.as_str());
    assert_eq!(data["author"], json!({ "type": "agent", "id": key.id.as_str() }));
    assert_eq!(data["secure"], false);
}

async fn bounce_fails_and_tells_no_message_sent(app: TestApp) {
    let key = app.test_key("write send").await;
    for from in ["bounce@x.test", "bounce+order-7@y.test", "BOUNCE@z.test"] {
        let id = app.simulate(&key, from).await;
        let before = app.events().await.len();
        let message = app.schedule(&key, &id, "Hello").await;
        app.pass(DAY).await;
        assert_eq!(app.statuses(&key, &id).await, ["failed"], "{from}");
        assert_eq!(app.event_types_since(before).await, [""; 0], "{from}");
        assert_eq!(app.read(&key, &id).await["status"], "open", "it is still our turn");
        let bounced = ("bounced".to_owned(), json!({ "messageId": message }));
        assert_eq!(app.timeline_events(&key, &id).await, [bounced]);
    }
}

async fn complaint_gets_it_and_complains_and_every_later_mail_to_it_fails(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "complaint@x.test").await;
    app.schedule(&key, &id, "One").await;
    app.pass(UNDO).await;
    assert_eq!(app.statuses(&key, &id).await, ["sent"]);
    assert_eq!(app.event_types().await, ["turn.changed", "turn.changed", "message.sent"]);
    let happened = app.timeline_events(&key, &id).await;
    let complaint = ("spam-complaint".to_owned(), json!({ "email": "complaint@x.test" }));
    assert!(happened.contains(&complaint), "{happened:?}");
    app.schedule(&key, &id, "Two").await;
    app.pass(UNDO).await;
    assert_eq!(app.statuses(&key, &id).await, ["sent", "failed"]);
    app.pass(40 * DAY).await;
    let later = app.simulate(&key, "Complaint@X.test").await;
    assert_ne!(later, id, "another conversation of the same address");
    app.schedule(&key, &later, "Three").await;
    app.pass(UNDO).await;
    assert_eq!(app.statuses(&key, &later).await, ["failed"]);
    let complaints = |happened: Vec<(String, Value)>| {
        happened.iter().filter(|(name, _)| name == "spam-complaint").count()
    };
    assert_eq!(complaints(app.timeline_events(&key, &id).await), 1);
    assert_eq!(complaints(app.timeline_events(&key, &later).await), 0);
    let other = app.simulate(&key, "complaint+2@x.test").await;
    app.schedule(&key, &other, "Four").await;
    app.pass(UNDO).await;
    assert_eq!(app.statuses(&key, &other).await, ["sent"], "another address");
}

async fn a_complaint_counts_in_its_own_workspace(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    let (ours, theirs) =
        (app.test_key("write send").await, app.key_of(&other, "Their", "write send", false).await);
    for key in [&ours, &theirs] {
        let id = app.simulate(key, "complaint@x.test").await;
        app.schedule(key, &id, "One").await;
        app.pass(UNDO).await;
        assert_eq!(app.statuses(key, &id).await, ["sent"]);
    }
}

async fn reply_writes_back_in_the_same_conversation_five_seconds_later(app: TestApp) {
    let key = app.test_key("write send").await;
    for from in ["reply@x.test", "reply+order-7@x.test"] {
        let id = app.simulate(&key, from).await;
        app.schedule(&key, &id, "Hello").await;
        app.pass(UNDO).await;
        let before = app.events().await.len();
        app.pass(ANSWERS_AFTER - 1).await;
        assert_eq!(app.came_in(&key, &id).await.len(), 1, "{from}");
        app.pass(1).await;
        let came = app.came_in(&key, &id).await;
        assert_eq!(came.len(), 2, "{from}");
        let message = app.timeline(&key, &id, "message").await.pop().unwrap();
        assert_eq!(message["from"]["email"], from);
        let events = app.events_since(before).await;
        let types: Vec<String> = events.iter().map(|event| text_of(event, "type")).collect();
        assert_eq!(types, ["turn.changed", "client.replied"], "{from}");
        assert_eq!(events[1]["data"]["message_id"], message["id"]);
        assert_eq!(events[1]["data"]["conversation_id"], id);
        assert_eq!(app.read(&key, &id).await["status"], "open");
        app.pass(DAY).await;
        assert_eq!(app.came_in(&key, &id).await.len(), 2, "it answers once");
    }
}

async fn every_mail_to_reply_is_answered(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "reply@x.test").await;
    for count in 1..=3 {
        app.schedule(&key, &id, &format!("Number {count}")).await;
        app.pass(UNDO + ANSWERS_AFTER).await;
        assert_eq!(app.came_in(&key, &id).await.len(), 1 + count);
    }
}

async fn ooo_answers_automatically_and_nobody_is_told(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "ooo@x.test").await;
    app.schedule(&key, &id, "Hello").await;
    app.pass(UNDO).await;
    let before = app.events().await.len();
    app.pass(MINUTE).await;
    assert_eq!(app.came_in(&key, &id).await.len(), 2);
    assert_eq!(app.event_types_since(before).await, [""; 0]);
    assert_eq!(app.read(&key, &id).await["status"], "waiting", "it changes nothing else");
}

async fn a_stopped_message_is_not_delivered_and_nobody_answers(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "reply@x.test").await;
    let message = app.schedule(&key, &id, "Hello").await;
    app.pass(UNDO - 1).await;
    app.post(&key, &format!("/messages/{message}/stop"), json!({})).await.is(200);
    app.pass(DAY).await;
    assert_eq!(app.statuses(&key, &id).await, ["draft"]);
    assert_eq!(app.came_in(&key, &id).await.len(), 1);
}

async fn a_draft_waits_as_live_ones_do(app: TestApp) {
    let key = app.test_key("write draft").await;
    let id = app.simulate(&key, "reply@x.test").await;
    app.draft(&key, &id, "Hello").await;
    app.pass(DAY).await;
    assert_eq!(app.statuses(&key, &id).await, ["draft"]);
}

async fn in_a_live_inbox_the_same_address_is_no_magic(app: TestApp) {
    let key = app.key("send").await;
    for from in ["reply@x.test", "bounce@y.test", "complaint@z.test"] {
        let mail = app.deliver(&app.support, letter(from, "Lamp", "text")).await;
        let id = mail.conversation.to_string();
        app.schedule(&key, &id, "Hello").await;
        app.pass(DAY).await;
        assert_eq!(app.statuses(&key, &id).await, ["sent"], "{from}");
        assert_eq!(app.came_in(&key, &id).await.len(), 1, "{from}");
    }
    assert_eq!(app.outside.relay.attempts().len(), 3);
}

async fn test_webhooks_hear_of_it_and_live_ones_do_not(app: TestApp) {
    let live = app.webhook(&app.owner, false, true).await.to_string();
    let test = app.webhook(&app.owner, false, false).await.to_string();
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "reply@x.test").await;
    app.schedule(&key, &id, "Hello").await;
    app.pass(MINUTE).await;
    let deliveries = app.deliveries().await;
    assert!(deliveries.iter().all(|(hook, ..)| *hook == test && *hook != live));
    let types: Vec<&str> = deliveries.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert_eq!(
        types,
        ["turn.changed", "turn.changed", "message.sent", "turn.changed", "client.replied"]
    );
}
