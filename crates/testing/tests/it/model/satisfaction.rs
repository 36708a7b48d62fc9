//! Customers are asked how a closed conversation was: whom, when and how often.

use actions::inboxes::satisfaction;
use actions::people::removal;
use base::actor::Role;
use inbound::incoming_mail::FiledMail;
use mail::Mail;
use model::guests::satisfaction::SatisfactionMode;
use serde_json::json;
use testing::{DAY, HOUR, TestApp, TestKey, UNDO, held_warning, letter, on_both, text_of, user};

on_both!(
    a_customer_is_asked_once_some_hours_after_closing,
    nobody_is_asked_unless_the_inbox_asks_and_the_conversation_stays_closed,
    lists_programs_scams_and_who_was_never_answered_are_not_asked,
    nobody_is_asked_from_the_inbox_of_somebody_who_left,
    two_choices_have_two_links,
    spam_is_not_asked_about
);

const ANN: &str = "ann@x.example Ann Shopper";

async fn ask_in_support(app: &TestApp, mode: SatisfactionMode) {
    let id = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| satisfaction::set_satisfaction(tx, cx, &id, mode)).await;
}

async fn set_status(app: &TestApp, key: &TestKey, mail: &FiledMail, status: &str) {
    app.on(key, &mail.conversation, "status", json!({ "status": status })).await.is(200);
}

/// A mail that is answered, and closed then.
async fn answer_and_close(app: &TestApp, key: &TestKey, mail: Mail) -> FiledMail {
    let mail = app.deliver(&app.support, mail).await;
    app.send_reply(key, &mail.conversation, "It is on its way").await;
    set_status(app, key, &mail, "closed").await;
    mail
}

/// The texts of the questions about a conversation.
async fn questions(app: &TestApp, key: &TestKey, mail: &FiledMail) -> Vec<String> {
    let messages = app.timeline(key, &mail.conversation, "message").await;
    let texts = messages.iter().map(|message| text_of(message, "text"));
    texts.filter(|text| text.contains("/r/")).collect()
}

async fn a_customer_is_asked_once_some_hours_after_closing(app: TestApp) {
    let key = app.key("read write send").await;
    ask_in_support(&app, SatisfactionMode::Five).await;
    let mail = answer_and_close(&app, &key, letter(ANN, "Lamp", "Where is it?")).await;
    app.pass(3 * HOUR).await;
    assert!(questions(&app, &key, &mail).await.is_empty());
    app.pass(2 * HOUR).await;
    let asked = questions(&app, &key, &mail).await;
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("Hello Ann Shopper,"), "{}", asked[0]);
    assert_eq!(asked[0].matches("?score=").count(), 5);
    let sent = app.outside.relay.attempts();
    let sent = String::from_utf8_lossy(&sent.last().unwrap().bytes).into_owned();
    for part in [
        "Auto-Submitted: auto-generated",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        "In-Reply-To: <",
        "Re: Lamp",
        "ann@x.example",
    ] {
        assert!(sent.contains(part), "no {part} in {sent}");
    }
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "closed");
    set_status(&app, &key, &mail, "open").await;
    set_status(&app, &key, &mail, "closed").await;
    app.pass(2 * DAY).await;
    assert_eq!(questions(&app, &key, &mail).await.len(), 1);
}

async fn nobody_is_asked_unless_the_inbox_asks_and_the_conversation_stays_closed(app: TestApp) {
    let key = app.key("read write send").await;
    let quiet = answer_and_close(&app, &key, letter(ANN, "Lamp", "Where is it?")).await;
    ask_in_support(&app, SatisfactionMode::Five).await;
    let reopened = answer_and_close(&app, &key, letter(ANN, "Chair", "Where is it?")).await;
    app.pass(HOUR).await;
    set_status(&app, &key, &reopened, "open").await;
    app.pass(DAY).await;
    assert!(questions(&app, &key, &quiet).await.is_empty());
    assert!(questions(&app, &key, &reopened).await.is_empty());
    set_status(&app, &key, &reopened, "closed").await;
    app.pass(DAY).await;
    assert_eq!(questions(&app, &key, &reopened).await.len(), 1);
}

async fn lists_programs_scams_and_who_was_never_answered_are_not_asked(app: TestApp) {
    let key = app.key("read write send").await;
    ask_in_support(&app, SatisfactionMode::Two).await;
    let list =
        Mail { no_automatic_reply: true, ..letter("news@list.example", "News", "All of it") };
    let list = answer_and_close(&app, &key, list).await;
    let robot = letter("no-reply@shop.example", "Parcel", "It left");
    let robot = answer_and_close(&app, &key, robot).await;
    let unanswered = app.deliver(&app.support, letter(ANN, "Lamp", "Where is it?")).await;
    set_status(&app, &key, &unanswered, "closed").await;
    let scam = Mail { warning: held_warning(), ..letter("eve@x.example", "Pay", "Now") };
    let scam = app.deliver(&app.support, scam).await;
    app.act(&app.owner, {
        let id = scam.conversation.clone();
        move |tx, cx| {
            let mut conversation = model::conversations::load(tx, cx.actor, id.as_str())?;
            let to = base::states::Status::Closed;
            model::conversations::set_status(tx, cx, &mut conversation, to)
        }
    })
    .await;
    app.pass(DAY).await;
    for mail in [&list, &robot, &unanswered] {
        assert!(questions(&app, &key, mail).await.is_empty(), "{}", mail.conversation);
    }
    assert_eq!(app.count("ratings").await, 0);
    assert_eq!(app.count("conversations WHERE satisfaction_due_at IS NOT NULL").await, 0);
}

async fn nobody_is_asked_from_the_inbox_of_somebody_who_left(app: TestApp) {
    let mia = app.person_with("Mia", Role::Admin).await;
    let inbox = app.private_inbox(&mia).await;
    let id = inbox.id.clone();
    let asks = SatisfactionMode::Five;
    app.act(&mia, move |tx, cx| satisfaction::set_satisfaction(tx, cx, &id, asks)).await;
    let key = app.key_of(&mia, "Mias", "read write send", true).await;
    let mail = app.deliver(&inbox, letter(ANN, "Lamp", "Where is it?")).await;
    app.schedule(&key, &mail.conversation, "It is on its way").await;
    app.pass(UNDO).await;
    set_status(&app, &key, &mail, "closed").await;
    let to_ann = || {
        let sent = app.outside.relay.attempts();
        sent.iter().filter(|mail| mail.recipients == ["ann@x.example"]).count()
    };
    let before = to_ann();
    let person = user(&mia);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    app.pass(DAY).await;
    assert_eq!(to_ann(), before);
}

async fn two_choices_have_two_links(app: TestApp) {
    let key = app.key("read write send").await;
    ask_in_support(&app, SatisfactionMode::Two).await;
    let mail = answer_and_close(&app, &key, letter(ANN, "Lamp", "Where is it?")).await;
    app.pass(DAY).await;
    let asked = questions(&app, &key, &mail).await;
    assert!(asked[0].contains("?score=5") && asked[0].contains("?score=1"), "{}", asked[0]);
    assert_eq!(asked[0].matches("?score=").count(), 2);
}

async fn spam_is_not_asked_about(app: TestApp) {
    let key = app.key("read write send").await;
    ask_in_support(&app, SatisfactionMode::Five).await;
    let mail = answer_and_close(&app, &key, letter(ANN, "Lamp", "Where is it?")).await;
    let id = mail.conversation.to_string();
    app.exec(&format!("UPDATE conversations SET removed = 'spam' WHERE id = '{id}'")).await;
    app.pass(DAY).await;
    assert_eq!(app.count("ratings").await, 0);
}
