//! The scam check learns from what people decide about held mail.

use mail::Mail;
use serde_json::{Value, json};
use testing::{TestApp, held_warning, letter, on_both, raw};

on_both!(
    mail_like_what_was_closed_as_spam_is_marked_with_the_reason,
    mail_like_what_was_released_is_trusted_more,
    few_decisions_conclude_nothing,
    a_private_inbox_learns_about_spam_for_itself,
    a_contact_is_not_held_for_what_was_learned
);

const SPAM: &str = "Cheap watches and pills for you, best replica price, order the catalogue today";
const FINE: &str = "Minutes of the gardening meeting, the tulips and the watering plan for spring";
const REASON: &str = "Your team marked similar mail as spam.";

/// Held mails that were closed, and others that were released.
async fn decisions(app: &TestApp, inbox: &model::mailboxes::Mailbox, count: usize) {
    let key = app.key("read write").await;
    for at in 0..count {
        for (kind, text) in [("spam", SPAM), ("fine", FINE)] {
            let from = format!("{kind}{at}@strange{at}.example");
            let text = format!("{text} {at}");
            let mail = Mail { warning: held_warning(), ..letter(&from, "News", &text) };
            let id = app.deliver(inbox, mail).await.conversation;
            match kind {
                "spam" => {
                    let closed = json!({ "status": "closed" });
                    app.on(&key, &id, "status", closed).await.is(200);
                }
                _ => app.release(&id).await,
            }
            app.advance(1);
        }
    }
}

async fn reasons(app: &TestApp, from: &str, subject: &str, text: &str) -> (Value, Value) {
    let key = app.key("read").await;
    let mail = app.arrives(&raw(from, subject, text)).await;
    let read = app.read(&key, &mail.conversation).await;
    (read["risk"].clone(), read["riskReasons"].clone())
}

/// Weak signs that do not mark a mail by themselves.
fn weak(text: &str) -> String {
    format!("{text}. You have won a prize, claim it now.")
}

/// Signs that just mark a mail.
fn marked(text: &str) -> String {
    format!("{text}. You have won a prize, claim it now. Confirm your password within 24 hours.")
}

async fn mail_like_what_was_closed_as_spam_is_marked_with_the_reason(app: TestApp) {
    let (risk, _) = reasons(&app, "n@new.example", "Before", &weak(SPAM)).await;
    assert_eq!(risk, Value::Null);
    decisions(&app, &app.support, 12).await;
    let (risk, told) = reasons(&app, "m@newer.example", "News", &weak(SPAM)).await;
    assert_eq!(risk, "suspicious", "{told}");
    assert!(told.as_array().unwrap().contains(&json!(REASON)), "{told}");
}

async fn mail_like_what_was_released_is_trusted_more(app: TestApp) {
    let (risk, _) = reasons(&app, "n@new.example", "Before", &marked(FINE)).await;
    assert_eq!(risk, "suspicious");
    decisions(&app, &app.support, 12).await;
    let (risk, told) = reasons(&app, "m@newer.example", "News", &marked(FINE)).await;
    assert_eq!(risk, Value::Null, "{told}");
}

async fn few_decisions_conclude_nothing(app: TestApp) {
    decisions(&app, &app.support, 4).await;
    let (risk, _) = reasons(&app, "m@newer.example", "News", &weak(SPAM)).await;
    assert_eq!(risk, Value::Null);
}

async fn a_private_inbox_learns_about_spam_for_itself(app: TestApp) {
    let private = app.private_inbox(&app.owner).await;
    decisions(&app, &private, 12).await;
    let (risk, told) = reasons(&app, "m@newer.example", "News", &weak(SPAM)).await;
    assert_eq!(risk, Value::Null, "{told}");
}

async fn a_contact_is_not_held_for_what_was_learned(app: TestApp) {
    decisions(&app, &app.support, 12).await;
    app.mail("old@friend.example", "Lamp", "How are you?").await;
    let key = app.key("read").await;
    let mail = app.arrives(&raw("old@friend.example", "News", &weak(SPAM))).await;
    let events = app.timeline_events(&key, &mail.conversation).await;
    assert!(events.iter().all(|(name, _)| name != "held"), "{events:?}");
}
