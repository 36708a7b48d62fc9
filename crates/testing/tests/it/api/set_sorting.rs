//! Topics, and sorting by hand (additions, section 1).

use serde_json::{Value, json};
use testing::{SECOND, TestApp, fields, letter, on_both, texts};

on_both!(
    topics_are_listed_by_name_with_their_open_conversations,
    sorting_sets_topic_and_urgency_and_is_told_in_the_timeline,
    saying_the_same_again_changes_nothing,
    none_of_these_is_a_decision_too,
    an_unknown_topic_is_refused_and_one_of_the_two_is_needed,
    lists_are_narrowed_by_topic_and_urgency,
    the_open_conversations_of_a_topic_follow_status_and_topic,
    a_topic_that_was_removed_is_no_conversations_topic_any_more,
    the_sandbox_is_sorted_by_hand_and_teaches_nothing
);

async fn topics_are_listed_by_name_with_their_open_conversations(app: TestApp) {
    let key = app.key("read write").await;
    assert_eq!(app.get(&key, "/topics").await.is(200).json(), json!([]));
    app.topic("Refunds", "money back").await;
    app.topic("delivery", "").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let sorted = json!({ "topic": "REFUNDS" });
    app.on(&key, &mail.conversation, "sorting", sorted).await.is(200);
    let topics = app.get(&key, "/topics").await.is(200).json();
    let topics = topics.as_array().unwrap();
    assert_eq!(texts(topics, "name"), ["delivery", "Refunds"]);
    assert_eq!(fields(&topics[1]), ["id", "name", "open", "words"]);
    assert_eq!((&topics[0]["open"], &topics[1]["open"]), (&json!(0), &json!(1)));
    assert_eq!(topics[1]["words"], "money back");
    assert!(topics[1]["id"].as_str().unwrap().starts_with("tpc_"));
    let other = app.other_workspace("Other").await;
    let stranger = app.key_of(&other, "Robo", "read", true).await;
    assert_eq!(app.get(&stranger, "/topics").await.json(), json!([]));
}

async fn sorting_sets_topic_and_urgency_and_is_told_in_the_timeline(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    let id = app.mail("a@x.example", "Lamp", "text").await.conversation;
    let both = json!({ "topic": "refunds", "urgency": "high" });
    let done = app.on(&key, &id, "sorting", both).await.is(200);
    assert_eq!(done.json(), json!({ "ok": true }));
    let read = app.read(&key, &id).await;
    assert_eq!((&read["topic"], &read["urgency"]), (&json!("Refunds"), &json!("high")));
    assert_eq!((&read["topicReasons"], &read["urgencyReasons"]), (&json!([]), &json!([])));
    let listed = &app.list(&key, "").await[0];
    assert_eq!((&listed["topic"], &listed["urgency"]), (&json!("Refunds"), &json!("high")));
    assert_eq!(
        app.timeline_events(&key, &id).await,
        [("sorted".into(), json!({ "topic": "Refunds", "urgency": "high", "by": "agent" }))]
    );
    let (wanted, owner) = (id.to_string(), app.owner.clone());
    app.act(&owner, move |tx, cx| {
        let input = api::operations::SetSortingInput {
            id: wanted.clone(),
            topic: Some(None),
            urgency: None,
        };
        api::operations::set_sorting(tx, cx, input).map(|_| ())
    })
    .await;
    let event = app.timeline(&key, &id, "event").await.pop().unwrap();
    assert_eq!((&event["actor"], &event["data"]["by"]), (&json!("Olive Owner"), &json!("person")));
    assert_eq!(event["data"]["topic"], Value::Null);
}

async fn saying_the_same_again_changes_nothing(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    let id = app.mail("a@x.example", "Lamp", "text").await.conversation;
    let both = json!({ "topic": "Refunds", "urgency": "low" });
    app.on(&key, &id, "sorting", both.clone()).await.is(200);
    let before = app.read(&key, &id).await;
    app.advance(SECOND);
    app.on(&key, &id, "sorting", both).await.is(200);
    assert_eq!(app.read(&key, &id).await, before);
}

async fn none_of_these_is_a_decision_too(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "money back").await;
    let id = app.mail("a@x.example", "Lamp", "I want my money back").await.conversation;
    app.work().await;
    assert_eq!(app.read(&key, &id).await["suggestedTopic"], "Refunds");
    app.on(&key, &id, "sorting", json!({ "topic": null })).await.is(200);
    let read = app.read(&key, &id).await;
    assert_eq!((&read["topic"], &read["suggestedTopic"]), (&Value::Null, &Value::Null));
    app.mail("a@x.example", "Lamp", "My money back, please, the money!").await;
    app.work().await;
    assert_eq!(app.read(&key, &id).await["suggestedTopic"], Value::Null);
}

async fn an_unknown_topic_is_refused_and_one_of_the_two_is_needed(app: TestApp) {
    let key = app.key("read write").await;
    let id = app.mail("a@x.example", "Lamp", "text").await.conversation;
    for (body, sentence) in [
        (json!({ "topic": "Refunds" }), "topic: is not the name of a topic (see GET /topics)"),
        (json!({}), "topic: is required unless urgency is given"),
        (json!({ "urgency": "urgent" }), "urgency: must be one of low, normal, high"),
    ] {
        let answer = app.on(&key, &id, "sorting", body).await.is(400);
        assert_eq!(answer.error(), sentence);
    }
    assert_eq!(app.timeline_events(&key, &id).await, []);
}

async fn lists_are_narrowed_by_topic_and_urgency(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    app.topic("Delivery", "").await;
    let sortings = [
        ("One", json!({ "topic": "Refunds", "urgency": "high" })),
        ("Two", json!({ "topic": "Refunds", "urgency": "normal" })),
        ("Three", json!({ "topic": "Delivery", "urgency": "low" })),
        ("Four", json!({ "topic": null, "urgency": "high" })),
    ];
    for (subject, sorting) in sortings {
        app.advance(SECOND);
        let from = format!("{subject}@x.example");
        let id = app.mail(&from, subject, "text").await.conversation;
        app.on(&key, &id, "sorting", sorting).await.is(200);
    }
    for (query, expected) in [
        ("topic=refunds", vec!["Two", "One"]),
        ("topic=Refunds&sort=oldest", vec!["One", "Two"]),
        ("topic=Refunds&sort=waiting", vec!["One", "Two"]),
        ("topic=Refunds&urgency=high", vec!["One"]),
        ("topic=Refunds&from=two%40x.example", vec!["Two"]),
        ("topic=Refunds&assigned=unassigned", vec!["Two", "One"]),
        ("topic=Refunds&q=text", vec!["Two", "One"]),
        ("urgency=high", vec!["Four", "One"]),
        ("urgency=high&sort=waiting", vec!["One", "Four"]),
        ("urgency=normal", vec!["Two"]),
        ("urgency=low&view=all", vec!["Three"]),
        ("urgency=low&view=closed", vec![]),
        ("topic=Nothing", vec![]),
    ] {
        assert_eq!(app.subjects(&key, query).await, expected, "{query}");
    }
    let by_inbox = format!("topic=Refunds&mailbox={}", app.support.id);
    assert_eq!(app.subjects(&key, &by_inbox).await, ["Two", "One"]);
    let walked = app.walk(&key, "/conversations?topic=Refunds&limit=1").await;
    assert_eq!(walked.len(), 2);
}

async fn open_of(app: &TestApp, key: &testing::TestKey, place: usize) -> i64 {
    app.get(key, "/topics").await.json()[place]["open"].as_i64().unwrap()
}

async fn the_open_conversations_of_a_topic_follow_status_and_topic(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Delivery", "").await;
    app.topic("Refunds", "").await;
    let id = app.mail("a@x.example", "Lamp", "text").await.conversation;
    app.on(&key, &id, "sorting", json!({ "topic": "Refunds" })).await.is(200);
    assert_eq!((open_of(&app, &key, 0).await, open_of(&app, &key, 1).await), (0, 1));
    app.on(&key, &id, "sorting", json!({ "topic": "Delivery" })).await.is(200);
    assert_eq!((open_of(&app, &key, 0).await, open_of(&app, &key, 1).await), (1, 0));
    app.on(&key, &id, "status", json!({ "status": "closed" })).await.is(200);
    assert_eq!(open_of(&app, &key, 0).await, 0);
    app.on(&key, &id, "sorting", json!({ "topic": "Refunds" })).await.is(200);
    assert_eq!(open_of(&app, &key, 1).await, 0);
    app.on(&key, &id, "status", json!({ "status": "open" })).await.is(200);
    assert_eq!((open_of(&app, &key, 0).await, open_of(&app, &key, 1).await), (0, 1));
    app.snooze(&app.owner, &id, app.now() + testing::DAY).await;
    assert_eq!(open_of(&app, &key, 1).await, 0);
    app.pass(testing::DAY).await;
    assert_eq!(open_of(&app, &key, 1).await, 1);
}

async fn a_topic_that_was_removed_is_no_conversations_topic_any_more(app: TestApp) {
    let key = app.key("read write").await;
    let refunds = app.topic("Refunds", "").await;
    let id = app.mail("a@x.example", "Lamp", "text").await.conversation;
    app.on(&key, &id, "sorting", json!({ "topic": "Refunds" })).await.is(200);
    let renamed = refunds.clone();
    app.act(&app.owner, move |tx, cx| {
        actions::conversations::topics::change_topic(tx, cx, &renamed, "Money back", "")
    })
    .await;
    assert_eq!(app.read(&key, &id).await["topic"], "Money back");
    assert_eq!(app.subjects(&key, "topic=money%20back").await, ["Lamp"]);
    app.act(&app.owner, move |tx, cx| {
        actions::conversations::topics::remove_topic(tx, cx, &refunds)
    })
    .await;
    assert_eq!(app.read(&key, &id).await["topic"], Value::Null);
    assert_eq!(app.list(&key, "").await[0]["topic"], Value::Null);
    assert!(app.subjects(&key, "topic=money%20back").await.is_empty());
    app.on(&key, &id, "status", json!({ "status": "closed" })).await.is(200);
}

async fn the_sandbox_is_sorted_by_hand_and_teaches_nothing(app: TestApp) {
    let key = app.test_key("read write").await;
    app.topic("Refunds", "").await;
    let mail = letter("ann@keller.test", "Lamp", "I want my money back");
    let id = app.deliver(&app.sandbox, mail).await.conversation;
    app.work().await;
    let read = app.read(&key, &id).await;
    assert_eq!((&read["urgency"], &read["language"]), (&Value::Null, &Value::Null));
    app.on(&key, &id, "sorting", json!({ "topic": "Refunds" })).await.is(200);
    assert_eq!(app.read(&key, &id).await["topic"], "Refunds");
    assert_eq!(app.get(&key, "/topics").await.json()[0]["open"], 1);
    let live = app.key("read").await;
    assert_eq!(app.get(&live, "/topics").await.json()[0]["open"], 0);
    let report = app.act(&app.owner, actions::conversations::topics::sorting_report).await;
    assert_eq!(report.decided, 0);
}
