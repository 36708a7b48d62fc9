//! Topics in the settings.

use actions::conversations::topics;
use base::error::Error;
use base::ids::TagId;
use serde_json::{Value, json};
use testing::{TestApp, letter, on_both};

on_both!(
    a_topic_has_a_name_of_its_own_within_limits,
    a_workspace_has_at_most_sixty_topics,
    only_owners_and_admins_change_topics,
    topics_are_made_of_tags_and_learn_from_the_teams_conversations,
    forgetting_keeps_the_topics_and_what_was_decided,
    decided_conversations_are_replayed_in_their_order
);

fn sentence(error: Error) -> String {
    error.to_string()
}

async fn a_topic_has_a_name_of_its_own_within_limits(app: TestApp) {
    let refunds = app.topic("  Refunds \n of   lamps ", " money  back ").await;
    for (name, words, expected) in [
        ("refunds OF lamps", "", "name: There is a topic “Refunds of lamps” already."),
        (" ", "", "name: A topic's name has 1 to 40 characters."),
        (&"x".repeat(41), "", "name: A topic's name has 1 to 40 characters."),
        ("Lamps", &"y".repeat(301), "words: The words are at most 300 characters."),
    ] {
        let (name, words) = (name.to_owned(), words.to_owned());
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| topics::add_topic(tx, cx, &name, &words))
            .await;
        assert_eq!(sentence(refused), expected);
    }
    app.topic(&"é".repeat(40), &"z".repeat(300)).await;
    let own = refunds.clone();
    app.act(&app.owner, move |tx, cx| topics::change_topic(tx, cx, &own, "REFUNDS of lamps", ""))
        .await;
    let report = app.act(&app.owner, topics::sorting_report).await;
    let names: Vec<&str> = report.topics.iter().map(|one| one.topic.name.as_str()).collect();
    assert_eq!(names, ["REFUNDS of lamps", &"é".repeat(40)]);
}

async fn a_workspace_has_at_most_sixty_topics(app: TestApp) {
    app.act(&app.owner, |tx, cx| {
        (0..60).try_for_each(|at| topics::add_topic(tx, cx, &format!("T{at}"), "").map(|_| ()))
    })
    .await;
    let refused =
        app.expect_refusal(&app.owner, |tx, cx| topics::add_topic(tx, cx, "More", "")).await;
    assert_eq!(sentence(refused), "name: A workspace has at most 60 topics. Remove one first.");
}

async fn only_owners_and_admins_change_topics(app: TestApp) {
    let topic = app.topic("Refunds", "").await;
    let member = app.person("Ann").await;
    let own = topic.clone();
    let changes = [
        app.expect_refusal(&member, |tx, cx| topics::add_topic(tx, cx, "More", "")).await,
        app.expect_refusal(&member, move |tx, cx| topics::change_topic(tx, cx, &own, "X", ""))
            .await,
        app.expect_refusal(&member, move |tx, cx| topics::remove_topic(tx, cx, &topic)).await,
        app.expect_refusal(&member, |tx, cx| topics::make_topics_of_tags(tx, cx, &[])).await,
        app.expect_refusal(&member, topics::forget_learned).await,
    ];
    for refused in changes {
        assert!(matches!(refused, Error::Forbidden(_)), "{refused}");
    }
}

async fn topics_are_made_of_tags_and_learn_from_the_teams_conversations(app: TestApp) {
    let key = app.key("read write").await;
    let private = app.private_inbox(&app.owner).await;
    for (at, text) in ["The parcel is late", "Where is the parcel?"].iter().enumerate() {
        let mail = app.mail(&format!("{at}@x.example"), "Hello", text).await;
        app.on(&key, &mail.conversation, "tags", json!({ "add": ["Shipping"] })).await.is(200);
    }
    let secret = app.deliver(&private, letter("p@x.example", "", "zeppelin on its way")).await;
    app.on(&key, &secret.conversation, "tags", json!({ "add": ["Shipping"] })).await.is(200);
    let tags = app.get(&key, "/tags").await.json();
    let tag = TagId::parse(tags[0]["id"].as_str().unwrap()).unwrap();
    let learned = app
        .act(&app.owner, move |tx, cx| {
            topics::make_topics_of_tags(tx, cx, std::slice::from_ref(&tag))
        })
        .await;
    assert_eq!(learned, 2);
    let report = app.act(&app.owner, topics::sorting_report).await;
    assert_eq!((report.topics[0].topic.name.as_str(), report.topics[0].examples), ("Shipping", 2));
    assert_eq!(app.read(&key, &secret.conversation).await["topic"], Value::Null);
    assert_eq!(app.list(&key, "topic=shipping").await.len(), 2);
    let mail = app.mail("new@x.example", "Hello", "My parcel is not here").await;
    app.work().await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["suggestedTopic"], "Shipping");
    assert!(read["topicReasons"].to_string().contains("parcel"), "{read}");
}

async fn forgetting_keeps_the_topics_and_what_was_decided(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    let mail = app.mail("a@x.example", "Hello", "My money back, please").await;
    let sorted = json!({ "topic": "Refunds", "urgency": "high" });
    app.on(&key, &mail.conversation, "sorting", sorted).await.is(200);
    let before = app.act(&app.owner, topics::sorting_report).await;
    assert_eq!((before.decided, before.urgencies), (1, 1));
    app.act(&app.owner, topics::forget_learned).await;
    let after = app.act(&app.owner, topics::sorting_report).await;
    assert_eq!((after.decided, after.urgencies, after.topics.len()), (0, 0, 1));
    assert_eq!(app.read(&key, &mail.conversation).await["topic"], "Refunds");
}

async fn decided_conversations_are_replayed_in_their_order(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    app.topic("Delivery", "").await;
    for at in 0..25 {
        for (text, topic) in [
            (format!("Please refund order {at}, I want my money back"), json!("Refunds")),
            (format!("Where is parcel {at}? The courier did not come"), json!("Delivery")),
            (format!("Happy new year {at} to all of you from your friends"), Value::Null),
        ] {
            let from = format!("{at}-{}@x.example", text.len());
            let mail = app.mail(&from, "", &text).await;
            let body = json!({ "topic": topic });
            app.on(&key, &mail.conversation, "sorting", body).await.is(200);
            app.advance(1);
        }
    }
    let score = app.act(&app.owner, topics::decided_mail).await.replay();
    assert_eq!((score.decided, score.with_topic), (75, 50));
    assert!(score.guessed > 40, "{}", score.guessed);
    assert!(score.given > 0 && score.right * 10 >= score.given * 9, "{}", score.given);
    let examples: Vec<usize> = score.topics.iter().map(|topic| topic.examples).collect();
    assert_eq!(examples, [25, 25]);
}
