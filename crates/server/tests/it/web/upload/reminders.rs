//! Reminders by mail on days 2, 4 and 7 (API section 8), with the clock moved.

use axum::body::Body;
use jobs::RelayOutcome;
use serde_json::json;

use super::*;
use crate::support::{TestApp, UNDO, on_both};

on_both!(
    a_customer_is_reminded_on_days_2_4_and_7_and_never_again,
    days_are_counted_from_when_the_message_really_left,
    what_is_in_is_not_asked_for_again_and_completion_ends_it,
    who_asks_for_no_more_reminders_gets_none,
    nobody_is_reminded_whose_mail_bounced_or_who_complained,
    a_reminder_does_not_take_the_turn_and_a_closed_conversation_is_left_alone,
    reminders_missed_while_nothing_ran_are_not_made_up_for,
    in_the_sandbox_reminders_are_simulated
);

/// The texts of the mails that went out after the first.
fn reminders(app: &TestApp) -> Vec<String> {
    let attempts = app.outside.relay.attempts();
    let texts =
        attempts.iter().skip(1).map(|parcel| String::from_utf8_lossy(&parcel.bytes).into_owned());
    texts.collect()
}

async fn a_customer_is_reminded_on_days_2_4_and_7_and_never_again(app: TestApp) {
    let key = app.key("read send").await;
    let asks = json!([{ "label": "Passport" }, { "label": "Bill" }, { "label": "Photo", "required": false }]);
    let ann = app.ask(&key, asks).await;
    let mut days = Vec::new();
    for day in 1..=30 {
        let before = reminders(&app).len();
        app.pass(DAY).await;
        days.extend(vec![day; reminders(&app).len() - before]);
    }
    assert_eq!(days, [2, 4, 7]);
    let mail = &reminders(&app)[0];
    for part in [
        "Auto-Submitted: auto-generated",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        "In-Reply-To: <",
        "To: \"Ann Shopper\" <ann@shop.example>",
        "- Passport",
        "- Bill",
        "Re: Lamps",
    ] {
        assert!(mail.contains(part), "no {part} in {mail}");
    }
    assert!(!mail.contains("- Photo"), "{mail}");
    assert!(mail.contains(&format!("List-Unsubscribe: <{PUBLIC_URL}{}/stop>", ann.path)), "{mail}");
    assert_eq!(ann.happened(&key, &["reminded"]).await.len(), 3);
    let letters = app.timeline(&key, &ann.conversation, "message").await;
    assert_eq!(letters.iter().filter(|letter| letter["status"] == "sent").count(), 4);
    let sent: Vec<_> =
        app.events().await.into_iter().filter(|e| e["type"] == "message.sent").collect();
    assert_eq!(sent.last().unwrap()["data"]["author"], json!(null));
}

async fn days_are_counted_from_when_the_message_really_left(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let body = json!({ "documents": [{ "label": "Passport" }] });
    let draft = app.on(&key, &mail.conversation, "document-requests", body).await.is(201).json();
    app.pass(20 * DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    let id = base::ids::MessageId::parse(&text_of(&draft, "messageId")).unwrap();
    app.act(&app.owner, move |tx, cx| testing::approve_draft(tx, cx, &id, 1, "Please.")).await;
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    app.pass(UNDO).await;
    app.pass(2 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 2, "tried twice, not reminded yet");
    app.pass(MINUTE).await;
    assert_eq!(app.outside.relay.attempts().len(), 3);
}

async fn what_is_in_is_not_asked_for_again_and_completion_ends_it(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }, { "label": "Bill" }])).await;
    ann.add(0, "pass.pdf", &pdf("pass")).await;
    ann.hand_over().await;
    app.pass(3 * DAY).await;
    assert!(reminders(&app)[0].contains("- Bill") && !reminders(&app)[0].contains("- Passport"));
    ann.add(1, "bill.pdf", &pdf("bill")).await;
    ann.hand_over().await;
    app.pass(30 * DAY).await;
    assert_eq!(reminders(&app).len(), 1);
}

async fn who_asks_for_no_more_reminders_gets_none(app: TestApp) {
    let key = app.key("read send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    app.pass(2 * DAY).await;
    assert_eq!(reminders(&app).len(), 1);
    assert!(ann.page().await.contains("Stop reminding me"));
    ann.call("GET", "/stop", &[], Body::empty()).await.is(200);
    app.pass(2 * DAY).await;
    assert_eq!(reminders(&app).len(), 2, "opening the link stops nothing");
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    for _ in 0..2 {
        ann.call("POST", "/stop", &kind, Body::from("List-Unsubscribe=One-Click")).await.is(303);
    }
    app.pass(30 * DAY).await;
    assert_eq!(reminders(&app).len(), 2);
    assert_eq!(ann.happened(&key, &["reminders-stopped"]).await.len(), 1);
    let page = ann.page().await;
    assert!(page.contains("Passport") && !page.contains("Stop reminding me"));
}

async fn nobody_is_reminded_whose_mail_bounced_or_who_complained(app: TestApp) {
    let key = app.key("read send").await;
    app.outside.relay.will_say(&[RelayOutcome::Never("550 no such user".into())]);
    app.ask(&key, json!([{ "label": "Passport" }])).await;
    app.pass(30 * DAY).await;
    assert!(reminders(&app).is_empty(), "it never left");
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    let before = app.outside.relay.attempts().len();
    app.outside.relay.will_say(&[RelayOutcome::Never("550 no such user".into())]);
    app.pass(30 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), before + 1, "the first reminder came back");
    assert_eq!(ann.happened(&key, &["bounced"]).await.len(), 1);
}

async fn a_reminder_does_not_take_the_turn_and_a_closed_conversation_is_left_alone(app: TestApp) {
    let key = app.key("read write send").await;
    let ann = app.ask(&key, json!([{ "label": "Passport" }])).await;
    app.on(&key, &ann.conversation, "status", json!({ "status": "open" })).await.is(200);
    app.pass(2 * DAY).await;
    assert_eq!(reminders(&app).len(), 1);
    assert_eq!(app.read(&key, &ann.conversation).await["status"], "open");
    app.on(&key, &ann.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.pass(2 * DAY).await;
    assert_eq!(reminders(&app).len(), 1);
    app.on(&key, &ann.conversation, "status", json!({ "status": "waiting" })).await.is(200);
    app.pass(30 * DAY).await;
    assert_eq!(reminders(&app).len(), 2);
}

async fn reminders_missed_while_nothing_ran_are_not_made_up_for(app: TestApp) {
    let key = app.key("read send").await;
    app.ask(&key, json!([{ "label": "Passport" }])).await;
    app.advance(5 * DAY);
    app.work().await;
    assert_eq!(reminders(&app).len(), 1);
    app.pass(DAY).await;
    assert_eq!(reminders(&app).len(), 1);
    app.pass(30 * DAY).await;
    assert_eq!(reminders(&app).len(), 2);
}

async fn in_the_sandbox_reminders_are_simulated(app: TestApp) {
    let key = app.test_key("read write send").await;
    let mail = app.deliver(&app.sandbox, letter("delivered@shop.test Ann", "Lamps", "Hello")).await;
    app.ask_in(&key, mail.conversation.as_str(), json!([{ "label": "Passport" }])).await;
    app.pass(30 * DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    let letters = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(letters.iter().filter(|letter| letter["status"] == "sent").count(), 4);
    let mail = app.deliver(&app.sandbox, letter("complaint@shop.test", "Lamps", "Hello")).await;
    app.ask_in(&key, mail.conversation.as_str(), json!([{ "label": "Passport" }])).await;
    app.pass(30 * DAY).await;
    let letters = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(letters.len(), 2, "who complained is not reminded");
}
