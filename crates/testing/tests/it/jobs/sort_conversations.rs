//! The sorting helper at work (additions, section 1).

use base::actor::Role;
use inbound::incoming_mail::FiledMail;
use mail::{AuthorKind, Mail};
use model::mailboxes::Mailbox;
use serde_json::{Value, json};
use testing::{MINUTE, SECOND, TestApp, TestKey, held_warning, letter, on_both};

on_both!(
    a_mail_is_acknowledged_before_it_is_sorted,
    a_topics_own_words_are_enough_for_a_suggestion_with_reasons,
    with_thirty_decisions_a_sure_topic_is_set_and_told,
    with_fewer_decisions_a_topic_is_only_suggested,
    none_of_these_is_learned_like_a_topic,
    what_somebody_decided_is_never_overwritten,
    held_automatic_and_sandbox_mail_is_not_sorted,
    mail_that_was_released_is_sorted,
    urgency_follows_the_latest_mail_until_somebody_decides,
    a_decision_is_about_the_mail_that_the_helper_read,
    a_conversation_whose_topic_was_removed_is_sorted_again,
    urgency_is_corrected_by_what_the_team_decides,
    a_private_inbox_neither_teaches_the_team_nor_learns_from_it,
    a_decision_on_one_node_counts_on_the_other,
    a_wrong_guess_counts_as_corrected,
    without_topics_mail_is_sorted_by_urgency_and_language_alone
);

const REFUNDS: [&str; 5] = [
    "I want my money back for the lamp",
    "Please refund the broken chair",
    "When is the refund paid?",
    "The money for my return has not come",
    "Could you refund order number seven?",
];
const DELIVERY: [&str; 5] = [
    "Where is my parcel?",
    "The parcel has not arrived yet",
    "When will the chair be delivered?",
    "The courier did not come today",
    "Delivery to another address, please",
];
const NEITHER: [&str; 5] = [
    "Happy new year to all of you",
    "We would like to present our software",
    "I am away until Monday",
    "Do you know a good dentist in town?",
    "My application as a gardener",
];
/// A mail that the model of four rounds of these is sure about.
const SURE: &str = "Hello, please refund the money for the broken lamp";

/// Mails that were decided, so many rounds of the sentences above.
async fn decided(app: &TestApp, key: &TestKey, inbox: &Mailbox, rounds: usize) {
    for round in 0..rounds {
        let sets =
            [(REFUNDS, json!("Refunds")), (DELIVERY, json!("Delivery")), (NEITHER, Value::Null)];
        for (set, (sentences, topic)) in sets.into_iter().enumerate() {
            for (at, sentence) in sentences.iter().enumerate() {
                let from = format!("c{round}-{set}-{at}@x.example");
                let text = format!("Hello {round}, {sentence} Thanks, Ann{round}");
                let mail = app.deliver(inbox, letter(&from, "Hello", &text)).await;
                let body = json!({ "topic": topic });
                app.on(key, &mail.conversation, "sorting", body).await.is(200);
                app.advance(1);
            }
        }
    }
}

async fn topics(app: &TestApp) {
    app.topic("Refunds", "").await;
    app.topic("Delivery", "").await;
}

async fn sorted(app: &TestApp, key: &TestKey, mail: &FiledMail) -> Value {
    app.work().await;
    app.read(key, &mail.conversation).await
}

async fn a_mail_is_acknowledged_before_it_is_sorted(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("a@x.example", "Kitchen", "There is a smell of gas here.").await;
    let before = app.read(&key, &mail.conversation).await;
    assert_eq!((&before["urgency"], &before["language"]), (&Value::Null, &Value::Null));
    let after = sorted(&app, &key, &mail).await;
    assert_eq!(after["urgency"], "high");
    assert_eq!(after["urgencyReasons"], json!(["Somebody may be in danger: “smell of gas”."]));
    assert_eq!(after["language"], "en");
    let listed = &app.list(&key, "urgency=high").await[0];
    assert_eq!((&listed["urgency"], &listed["language"]), (&json!("high"), &json!("en")));
    let event = app.timeline(&key, &mail.conversation, "event").await.pop().unwrap();
    assert_eq!((&event["event"], &event["actor"]), (&json!("sorted"), &json!("Mailroom")));
    assert_eq!(event["data"], json!({ "topic": null, "urgency": "high", "by": "helper" }));
}

async fn a_topics_own_words_are_enough_for_a_suggestion_with_reasons(app: TestApp) {
    let key = app.key("read").await;
    app.topic("Refunds", "money back, return").await;
    app.topic("Delivery", "parcel, courier, late").await;
    let mail = app.mail("a@x.example", "Lamp", "My parcel is late").await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["topic"], &read["suggestedTopic"]), (&Value::Null, &json!("Delivery")));
    let reasons = read["topicReasons"].as_array().unwrap();
    assert!((1..=3).contains(&reasons.len()), "{reasons:?}");
    assert!(reasons[0].as_str().unwrap().contains("parcel"), "{reasons:?}");
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
}

async fn with_thirty_decisions_a_sure_topic_is_set_and_told(app: TestApp) {
    let key = app.key("read write").await;
    topics(&app).await;
    decided(&app, &key, &app.support, 4).await;
    let mail = app.mail("new@x.example", "Hello", SURE).await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["topic"], &read["suggestedTopic"]), (&json!("Refunds"), &Value::Null));
    assert!(!read["topicReasons"].as_array().unwrap().is_empty());
    assert_eq!(
        app.timeline_events(&key, &mail.conversation).await,
        [("sorted".into(), json!({ "topic": "Refunds", "urgency": "normal", "by": "helper" }))]
    );
    let listed = app.list(&key, "topic=Refunds&limit=1").await;
    assert_eq!(listed[0]["id"], mail.conversation.as_str());
}

async fn with_fewer_decisions_a_topic_is_only_suggested(app: TestApp) {
    let key = app.key("read write").await;
    topics(&app).await;
    decided(&app, &key, &app.support, 1).await;
    let mail = app.mail("new@x.example", "Hello", SURE).await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["topic"], &read["suggestedTopic"]), (&Value::Null, &json!("Refunds")));
}

async fn none_of_these_is_learned_like_a_topic(app: TestApp) {
    let key = app.key("read write").await;
    topics(&app).await;
    decided(&app, &key, &app.support, 4).await;
    let text = "Happy new year to you and all your colleagues";
    let mail = app.mail("new@x.example", "Hello", text).await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["topic"], &read["suggestedTopic"]), (&Value::Null, &Value::Null));
    assert_eq!(read["topicReasons"], json!([]));
}

async fn what_somebody_decided_is_never_overwritten(app: TestApp) {
    let key = app.key("read write").await;
    topics(&app).await;
    decided(&app, &key, &app.support, 4).await;
    let mail = app.mail("new@x.example", "Hello", SURE).await;
    let by_hand = json!({ "topic": "Delivery", "urgency": "low" });
    app.on(&key, &mail.conversation, "sorting", by_hand).await.is(200);
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["topic"], &read["urgency"]), (&json!("Delivery"), &json!("low")));
    app.mail("new@x.example", "Re: Hello", "There is a smell of gas in the kitchen.").await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["topic"], &read["urgency"]), (&json!("Delivery"), &json!("low")));
    assert_eq!(app.timeline_events(&key, &mail.conversation).await.len(), 1);
}

async fn held_automatic_and_sandbox_mail_is_not_sorted(app: TestApp) {
    let (key, test) = (app.key("read").await, app.test_key("read").await);
    app.topic("Refunds", "money back").await;
    let text = "I want my money back, there is a smell of gas";
    let held = Mail { warning: held_warning(), ..letter("a@x.example", "One", text) };
    let held = app.deliver(&app.support, held).await;
    let away = Mail { kind: AuthorKind::AutoReply, ..letter("b@x.example", "Two", text) };
    let away = app.deliver(&app.support, away).await;
    let sandbox = app.deliver(&app.sandbox, letter("c@x.test", "Three", text)).await;
    for (key, mail) in [(&key, &held), (&key, &away), (&test, &sandbox)] {
        let read = sorted(&app, key, mail).await;
        for field in ["topic", "suggestedTopic", "urgency", "language"] {
            assert_eq!(read[field], Value::Null, "{field}");
        }
    }
    app.mail("b@x.example", "Re: Two", "Where do I send it?").await;
    let read = sorted(&app, &key, &away).await;
    assert_eq!((&read["urgency"], &read["suggestedTopic"]), (&json!("normal"), &Value::Null));
}

async fn mail_that_was_released_is_sorted(app: TestApp) {
    let key = app.key("read").await;
    app.topic("Refunds", "money back").await;
    let text = "I want my money back, there is a smell of gas";
    let held = Mail { warning: held_warning(), ..letter("a@x.example", "One", text) };
    let held = app.deliver(&app.support, held).await;
    app.work().await;
    app.release(&held.conversation).await;
    let read = sorted(&app, &key, &held).await;
    assert_eq!((&read["urgency"], &read["suggestedTopic"]), (&json!("high"), &json!("Refunds")));
}

async fn urgency_follows_the_latest_mail_until_somebody_decides(app: TestApp) {
    let key = app.key("read write").await;
    let mail = app.mail("a@x.example", "Oven", "When do you open on Monday?").await;
    assert_eq!(sorted(&app, &key, &mail).await["urgency"], "normal");
    app.advance(MINUTE);
    app.mail("a@x.example", "Re: Oven", "There is a smell of gas in the kitchen!").await;
    assert_eq!(sorted(&app, &key, &mail).await["urgency"], "high");
    app.advance(SECOND);
    app.on(&key, &mail.conversation, "sorting", json!({ "urgency": "normal" })).await.is(200);
    app.mail("a@x.example", "Re: Oven", "The smell of gas is stronger now!").await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["urgency"], &read["urgencyReasons"]), (&json!("normal"), &json!([])));
}

async fn a_decision_is_about_the_mail_that_the_helper_read(app: TestApp) {
    let key = app.key("read write").await;
    topics(&app).await;
    let mail = app.mail("a@x.example", "Oven", "Where is my parcel?").await;
    app.advance(MINUTE);
    app.mail("a@x.example", "Re: Oven", "There is a smell of gas in the kitchen!").await;
    let both = json!({ "topic": "Delivery", "urgency": "high" });
    app.on(&key, &mail.conversation, "sorting", both).await.is(200);
    for (kind, text) in [
        ("topic", "Oven\nWhere is my parcel?"),
        ("urgency", "Re: Oven\nThere is a smell of gas in the kitchen!"),
    ] {
        let features = app.app.store.read(move |tx| {
            let (features,): (Vec<u8>,) =
                tx.one("SELECT features FROM sorter_examples WHERE kind = ?1", &[&kind])?;
            Ok::<_, base::error::Error>(features)
        });
        assert_eq!(
            features.await.unwrap(),
            classifier::TextFeatures::of(text).to_bytes(),
            "{kind}"
        );
    }
}

async fn a_conversation_whose_topic_was_removed_is_sorted_again(app: TestApp) {
    let key = app.key("read write").await;
    let oven = app.topic("Oven", "oven, kitchen").await;
    app.topic("Delivery", "parcel, courier, late").await;
    let mail = app.mail("a@x.example", "Lamp", "My parcel is late").await;
    app.on(&key, &mail.conversation, "sorting", json!({ "topic": "Oven" })).await.is(200);
    app.act(&app.owner, move |tx, cx| actions::conversations::topics::remove_topic(tx, cx, &oven))
        .await;
    app.advance(MINUTE);
    app.mail("a@x.example", "Re: Lamp", "Is there any news?").await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["topic"], &read["suggestedTopic"]), (&Value::Null, &json!("Delivery")));
}

async fn urgency_is_corrected_by_what_the_team_decides(app: TestApp) {
    let key = app.key("read write").await;
    for at in 0..40 {
        let label = format!("Order {at}: please change the colour of the label");
        let invoice = format!("Question {at} about an invoice that I cannot find");
        for (text, urgency) in [(label, "high"), (invoice, "normal")] {
            let mail = app.mail(&format!("{urgency}{at}@x.example"), "", &text).await;
            let body = json!({ "urgency": urgency });
            app.on(&key, &mail.conversation, "sorting", body).await.is(200);
            app.advance(1);
        }
    }
    let text = "Order 99: please change the colour of the label";
    let mail = app.mail("new@x.example", "", text).await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!(read["urgency"], "high");
    assert_eq!(read["urgencyReasons"][0], "You decided so about similar mail.");
}

async fn a_private_inbox_neither_teaches_the_team_nor_learns_from_it(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let private = app.private_inbox(&ann).await;
    let (team, anns) =
        (app.key("read write").await, app.key_of(&ann, "Anns", "read write", true).await);
    app.topic("Airships", "").await;
    app.topic("Gardens", "").await;
    for at in 0..20 {
        let airship = format!("Number {at}: my zeppelin lost its mooring line");
        let garden = format!("Number {at}: my begonia lost its leaves");
        for (inbox, key, from, text, topic) in [
            (&private, &anns, "p", airship, "Airships"),
            (&app.support, &team, "t", garden, "Gardens"),
        ] {
            let mail =
                app.deliver(inbox, letter(&format!("{from}{at}@x.example"), "", &text)).await;
            app.on(key, &mail.conversation, "sorting", json!({ "topic": topic })).await.is(200);
            app.advance(1);
        }
    }
    let both = "The zeppelin and the begonia";
    let in_team = app.mail("new@x.example", "", both).await;
    let in_private = app.deliver(&private, letter("new@x.example", "", both)).await;
    app.work().await;
    let in_team = app.read(&team, &in_team.conversation).await;
    let in_private = app.read(&anns, &in_private.conversation).await;
    assert_eq!(in_team["suggestedTopic"], "Gardens");
    assert_eq!(in_private["suggestedTopic"], "Airships");
    let said = |read: &Value| read["topicReasons"].to_string();
    assert!(
        said(&in_team).contains("begonia") && !said(&in_team).contains("zeppelin"),
        "{in_team}"
    );
    assert!(said(&in_private).contains("zeppelin"), "{in_private}");
    assert!(!said(&in_private).contains("begonia"), "{in_private}");
    let report = app.act(&app.owner, actions::conversations::topics::sorting_report).await;
    assert_eq!(report.decided, 20);
    let counts: Vec<i64> = report.topics.iter().map(|topic| topic.examples).collect();
    assert_eq!(counts, [0, 20]);
    let alone = app.mail("other@x.example", "", "zeppelin").await;
    assert_eq!(
        sorted(&app, &team, &alone).await["topicReasons"].to_string().matches("zeppelin").count(),
        0
    );
}

async fn a_decision_on_one_node_counts_on_the_other(app: TestApp) {
    let key = app.key("read write").await;
    topics(&app).await;
    decided(&app, &key, &app.support, 4).await;
    let first = app.mail("one@x.example", "Hello", SURE).await;
    assert_eq!(sorted(&app, &key, &first).await["topic"], "Refunds");
    let other = app.on_another_node();
    other.act(&app.owner, actions::conversations::topics::forget_learned).await.unwrap();
    let second = app.mail("two@x.example", "Hello", SURE).await;
    let read = sorted(&app, &key, &second).await;
    assert_eq!(read["topic"], Value::Null);
    assert!(!read["topicReasons"].to_string().contains("mails that were sorted so"), "{read}");
}

async fn a_wrong_guess_counts_as_corrected(app: TestApp) {
    let key = app.key("read write").await;
    topics(&app).await;
    decided(&app, &key, &app.support, 4).await;
    let mail = app.mail("new@x.example", "Hello", SURE).await;
    assert_eq!(sorted(&app, &key, &mail).await["topic"], "Refunds");
    app.on(&key, &mail.conversation, "sorting", json!({ "topic": "Delivery" })).await.is(200);
    let report = app.act(&app.owner, actions::conversations::topics::sorting_report).await;
    assert_eq!((report.decided, report.given, report.corrected), (61, 1, 1));
    let refunds = report.topics.iter().find(|topic| topic.topic.name == "Refunds").unwrap();
    assert_eq!((refunds.examples, refunds.given, refunds.corrected), (20, 1, 1));
    assert_eq!(refunds.confused, Some((Some("Delivery".into()), 1)));
    let delivery = report.topics.iter().find(|topic| topic.topic.name == "Delivery").unwrap();
    assert_eq!((delivery.examples, delivery.given, delivery.corrected), (21, 0, 0));
}

async fn without_topics_mail_is_sorted_by_urgency_and_language_alone(app: TestApp) {
    let key = app.key("read").await;
    let text = "Ich habe eine Frage zu meiner Bestellung, wann kommt sie an?";
    let mail = app.mail("a@x.example", "Frage", text).await;
    let read = sorted(&app, &key, &mail).await;
    assert_eq!((&read["urgency"], &read["language"]), (&json!("normal"), &json!("de")));
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
}
