//! What was learned from mail that is merged, split off, deleted or forgotten.

use actions::conversations::merging;
use actions::conversations::triage::{self, TriageAct};
use base::email_address::EmailAddress;
use classifier::TextFeatures;
use inbound::incoming_mail::FiledMail;
use maintenance::forget_person::forget_person;
use serde_json::{Value, json};
use testing::{DAY, MINUTE, TestApp, TestKey, letter, on_both};

on_both!(
    a_merge_leaves_what_was_decided_about_both,
    a_decision_about_a_merged_mail_takes_the_place_of_the_one_before,
    a_mail_that_is_split_off_is_no_example_of_its_old_conversation,
    what_is_split_off_or_parted_is_sorted,
    what_was_learned_from_a_deleted_conversation_is_forgotten_at_once,
    what_was_learned_from_a_forgotten_person_is_forgotten_at_once,
    a_forgotten_persons_mail_is_no_example_of_the_conversation_of_another
);

const LAMP: &str = "The first lamp is broken";
const ZEPPELIN: &str = "The carrier lost a zeppelin";

/// The examples of one kind: label, and the features of a subject and a text.
async fn examples(app: &TestApp, kind: &'static str) -> Vec<(String, Vec<u8>)> {
    let read = app.app.store.read(move |tx| {
        let sql = "SELECT label, features FROM sorter_examples WHERE kind = ?1 ORDER BY label";
        Ok::<_, base::error::Error>(tx.all::<(String, Vec<u8>)>(sql, &[&kind])?)
    });
    read.await.unwrap()
}

fn example(label: &impl ToString, subject: &str, text: &str) -> (String, Vec<u8>) {
    let features = TextFeatures::of(&format!("{subject}\n{text}"));
    (label.to_string(), features.to_bytes())
}

async fn two_mails(app: &TestApp) -> (FiledMail, FiledMail) {
    let lamp = app.deliver(&app.support, letter("ann@x.example Ann", "Lamp", LAMP)).await;
    app.advance(MINUTE);
    let airship = letter("bob@y.example Bob", "Carrier", ZEPPELIN);
    (lamp, app.deliver(&app.support, airship).await)
}

async fn decide(app: &TestApp, key: &TestKey, mail: &FiledMail, body: Value) {
    app.advance(1);
    app.on(key, &mail.conversation, "sorting", body).await.is(200);
}

async fn merge(app: &TestApp, key: &TestKey, source: &FiledMail, target: &FiledMail) {
    let into = json!({ "into": target.conversation.to_string() });
    app.on(key, &source.conversation, "merge", into).await.is(200);
}

async fn undo(app: &TestApp, source: &FiledMail) {
    let id = source.conversation.to_string();
    app.act(&app.owner, move |tx, cx| merging::undo_merge(tx, cx, &id)).await;
}

async fn a_merge_leaves_what_was_decided_about_both(app: TestApp) {
    let key = app.key("read write").await;
    let (lamps, airships) = (app.topic("Lamps", "").await, app.topic("Airships", "").await);
    let (lamp, airship) = two_mails(&app).await;
    decide(&app, &key, &lamp, json!({ "topic": "Lamps" })).await;
    decide(&app, &key, &airship, json!({ "topic": "Airships" })).await;
    let mut both = vec![example(&lamps, "Lamp", LAMP), example(&airships, "Carrier", ZEPPELIN)];
    both.sort();
    merge(&app, &key, &airship, &lamp).await;
    assert_eq!(examples(&app, "topic").await, both);
    undo(&app, &airship).await;
    assert_eq!(examples(&app, "topic").await, both);
}

async fn a_decision_about_a_merged_mail_takes_the_place_of_the_one_before(app: TestApp) {
    let key = app.key("read write").await;
    let (lamps, airships) = (app.topic("Lamps", "").await, app.topic("Airships", "").await);
    let (lamp, airship) = two_mails(&app).await;
    decide(&app, &key, &lamp, json!({ "topic": "Airships" })).await;
    // The merged conversation begins with the mail about the lamp.
    merge(&app, &key, &lamp, &airship).await;
    decide(&app, &key, &airship, json!({ "topic": "Lamps" })).await;
    assert_eq!(examples(&app, "topic").await, [example(&lamps, "Lamp", LAMP)]);
    undo(&app, &lamp).await;
    assert_eq!(examples(&app, "topic").await, [example(&lamps, "Carrier", ZEPPELIN)]);
    decide(&app, &key, &airship, json!({ "topic": "Airships" })).await;
    assert_eq!(examples(&app, "topic").await, [example(&airships, "Carrier", ZEPPELIN)]);
}

async fn a_mail_that_is_split_off_is_no_example_of_its_old_conversation(app: TestApp) {
    let key = app.key("read write").await;
    let (lamps, airships) = (app.topic("Lamps", "").await, app.topic("Airships", "").await);
    let (lamp, airship) = two_mails(&app).await;
    merge(&app, &key, &airship, &lamp).await;
    let both = json!({ "topic": "Lamps", "urgency": "high" });
    decide(&app, &key, &lamp, both).await;
    assert_eq!(examples(&app, "urgency").await, [example(&"high", "Carrier", ZEPPELIN)]);
    let split = json!({ "messageId": airship.message.to_string() });
    let made = app.on(&key, &lamp.conversation, "split", split).await.is(200).json();
    assert_eq!(examples(&app, "topic").await, [example(&lamps, "Lamp", LAMP)]);
    assert_eq!(examples(&app, "urgency").await, [example(&"high", "Lamp", LAMP)]);
    let new = made["conversationId"].as_str().unwrap();
    app.on(&key, &new, "sorting", json!({ "topic": "Airships" })).await.is(200);
    let mut both = vec![example(&lamps, "Lamp", LAMP), example(&airships, "Carrier", ZEPPELIN)];
    both.sort();
    assert_eq!(examples(&app, "topic").await, both);
}

async fn what_is_split_off_or_parted_is_sorted(app: TestApp) {
    let key = app.key("read write").await;
    let quiet = app.mail("ann@x.example Ann", "Lamp", "When do you open on Monday?").await;
    app.advance(MINUTE);
    let gas = app.mail("bob@y.example Bob", "Oven", "There is a smell of gas here.").await;
    let urgency = async |id: &str| app.read(&key, &id).await["urgency"].clone();
    merge(&app, &key, &gas, &quiet).await;
    app.work().await;
    let id = quiet.conversation.to_string();
    assert_eq!(urgency(&id).await, "high");
    let split = json!({ "messageId": gas.message.to_string() });
    let made = app.on(&key, &id, "split", split).await.is(200).json();
    app.work().await;
    assert_eq!(urgency(made["conversationId"].as_str().unwrap()).await, "high");
    assert_eq!(urgency(&id).await, "normal");

    let quiet = app.mail("cleo@z.example", "Chair", "When do you close on Friday?").await;
    app.advance(MINUTE);
    let gas = app.mail("dan@z.example", "Stove", "There is a smell of gas again.").await;
    merge(&app, &key, &gas, &quiet).await;
    app.work().await;
    assert_eq!(urgency(&quiet.conversation.to_string()).await, "high");
    undo(&app, &gas).await;
    app.work().await;
    assert_eq!(urgency(&quiet.conversation.to_string()).await, "normal");
    assert_eq!(urgency(&gas.conversation.to_string()).await, "high");
}

/// What the helper suggests for a mail about a zeppelin. It is sorted by the model in memory, if that
/// is of this revision.
async fn suggestion(app: &TestApp, key: &TestKey, from: &str) -> Value {
    let mail = app.mail(from, "", "My zeppelin is late").await;
    app.work().await;
    app.read(key, &mail.conversation).await["suggestedTopic"].clone()
}

async fn what_was_learned_from_a_deleted_conversation_is_forgotten_at_once(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Airships", "").await;
    let (lamp, airship) = two_mails(&app).await;
    decide(&app, &key, &airship, json!({ "topic": "Airships" })).await;
    assert_eq!(suggestion(&app, &key, "one@x.example").await, "Airships");
    merge(&app, &key, &airship, &lamp).await;
    let id = lamp.conversation.to_string();
    app.act(&app.owner, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &TriageAct::Delete)?;
        triage::triage_one(tx, cx, &undo, &TriageAct::Delete, &id)
    })
    .await;
    assert_eq!(suggestion(&app, &key, "two@x.example").await, "Airships", "it can be restored");
    app.pass(31 * DAY).await;
    assert_eq!(suggestion(&app, &key, "three@x.example").await, Value::Null);
    assert_eq!(examples(&app, "topic").await, []);
}

async fn forget(app: &TestApp, email: &'static str) {
    let service = app.service(&app.support);
    app.act(&service, move |tx, cx| forget_person(tx, cx, &EmailAddress::new(email))).await;
}

async fn what_was_learned_from_a_forgotten_person_is_forgotten_at_once(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Airships", "").await;
    let (_, airship) = two_mails(&app).await;
    decide(&app, &key, &airship, json!({ "topic": "Airships" })).await;
    assert_eq!(suggestion(&app, &key, "one@x.example").await, "Airships");
    forget(&app, "bob@y.example").await;
    assert_eq!(suggestion(&app, &key, "two@x.example").await, Value::Null);
    assert_eq!(examples(&app, "topic").await, []);
}

async fn a_forgotten_persons_mail_is_no_example_of_the_conversation_of_another(app: TestApp) {
    let key = app.key("read write").await;
    let (lamp, airship) = two_mails(&app).await;
    merge(&app, &key, &airship, &lamp).await;
    decide(&app, &key, &lamp, json!({ "urgency": "high" })).await;
    assert_eq!(examples(&app, "urgency").await, [example(&"high", "Carrier", ZEPPELIN)]);
    forget(&app, "bob@y.example").await;
    assert_eq!(examples(&app, "urgency").await, [example(&"high", "Lamp", LAMP)]);
}
