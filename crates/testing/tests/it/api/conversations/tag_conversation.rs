//! API sections 2.6, 4.6 and 4.11.

use base::actor::Role;
use serde_json::{Value, json};
use testing::{SECOND, TestApp, fields, letter, on_both, texts};

on_both!(
    unknown_names_are_created_and_put_on_the_conversation,
    upper_and_lower_case_are_one_tag_spelled_as_first_typed,
    a_tag_that_is_there_is_not_added_twice,
    removing_what_is_not_there_changes_and_creates_nothing,
    a_name_to_add_and_to_remove_ends_up_on_the_conversation,
    adding_and_removing_are_told_in_one_event,
    counts_are_of_the_conversations_that_the_key_can_see,
    the_sandbox_shares_tags_by_name_and_id,
    a_tag_of_a_private_inbox_is_its_persons_alone_until_the_team_uses_its_name,
    tags_are_listed_by_name_and_another_workspaces_are_not,
    a_tag_that_no_conversation_has_any_more_counts_zero
);

async fn unknown_names_are_created_and_put_on_the_conversation(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let answer = app.on(&key, &mail.conversation, "tags", json!({ "add": ["New", "vip"] })).await;
    assert_eq!(answer.is(200).json(), json!({ "ok": true, "tags": ["New", "vip"] }));
    assert_eq!(app.read(&key, &mail.conversation).await["tags"], json!(["New", "vip"]));
    assert_eq!(app.list(&key, "").await[0]["tags"], json!(["New", "vip"]));
    let tags = app.get(&key, "/tags").await.is(200).json();
    let tags = tags.as_array().unwrap();
    assert_eq!(texts(tags, "name"), ["New", "vip"]);
    for tag in tags {
        assert_eq!(fields(tag), ["count", "id", "name"]);
        assert_eq!(tag["count"], 1);
        assert!(tag["id"].as_str().unwrap().starts_with("tag_"));
    }
    assert_eq!(
        app.timeline_events(&key, &mail.conversation).await,
        [("tagged".into(), json!({ "added": ["New", "vip"], "removed": [] })),]
    );
}

async fn upper_and_lower_case_are_one_tag_spelled_as_first_typed(app: TestApp) {
    let key = app.key("write").await;
    let first = app.mail("a@x.example", "First", "text").await;
    let second = app.mail("b@x.example", "Second", "text").await;
    app.on(&key, &first.conversation, "tags", json!({ "add": ["ÄRGER"] })).await.is(200);
    for name in ["ärger", "Ärger", "ÄRGER"] {
        app.on(&key, &second.conversation, "tags", json!({ "add": [name] })).await.is(200);
    }
    assert_eq!(app.read(&key, &second.conversation).await["tags"], json!(["ÄRGER"]));
    assert_eq!(counts(&app.get(&key, "/tags").await.json()), [("ÄRGER".into(), 2)]);
    app.on(&key, &second.conversation, "tags", json!({ "remove": ["äRGER"] })).await.is(200);
    assert_eq!(app.read(&key, &second.conversation).await["tags"], json!([]));
    assert_eq!(counts(&app.get(&key, "/tags").await.json()), [("ÄRGER".into(), 1)]);
}

async fn a_tag_that_is_there_is_not_added_twice(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let body = json!({ "add": ["vip", "VIP", "vip"] });
    app.on(&key, &mail.conversation, "tags", body.clone()).await.is(200);
    let before = app.read(&key, &mail.conversation).await;
    assert_eq!(before["tags"], json!(["vip"]));
    app.advance(SECOND);
    app.on(&key, &mail.conversation, "tags", body).await.is(200);
    assert_eq!(app.read(&key, &mail.conversation).await, before);
    assert_eq!(counts(&app.get(&key, "/tags").await.json()), [("vip".into(), 1)]);
}

async fn removing_what_is_not_there_changes_and_creates_nothing(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "tags", json!({ "remove": ["unknown"] })).await.is(200);
    assert_eq!(app.get(&key, "/tags").await.json(), json!([]));
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
}

async fn a_name_to_add_and_to_remove_ends_up_on_the_conversation(app: TestApp) {
    let key = app.key("write").await;
    let both = json!({ "add": ["vip"], "remove": ["VIP"] });
    for had in [false, true] {
        let mail = app.mail("a@x.example", &format!("{had}"), "text").await;
        if had {
            app.on(&key, &mail.conversation, "tags", json!({ "add": ["vip"] })).await.is(200);
        }
        app.on(&key, &mail.conversation, "tags", both.clone()).await.is(200);
        assert_eq!(app.read(&key, &mail.conversation).await["tags"], json!(["vip"]));
    }
    assert_eq!(counts(&app.get(&key, "/tags").await.json()), [("vip".into(), 2)]);
}

async fn adding_and_removing_are_told_in_one_event(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["a", "b", "c"] })).await.is(200);
    let body = json!({ "add": ["d", "b"], "remove": ["a", "c", "unknown"] });
    app.on(&key, &mail.conversation, "tags", body).await.is(200);
    assert_eq!(app.read(&key, &mail.conversation).await["tags"], json!(["b", "d"]));
    let last = app.timeline_events(&key, &mail.conversation).await.pop().unwrap();
    assert_eq!(last, ("tagged".into(), json!({ "added": ["d"], "removed": ["a", "c"] })));
    assert_eq!(app.events().await.len(), 1, "tags are told to no webhook");
}

async fn counts_are_of_the_conversations_that_the_key_can_see(app: TestApp) {
    let key = app.key("write").await;
    let test_key = app.test_key("write").await;
    let ann = app.person_with("Ann", Role::Admin).await;
    let anns_key = app.key_of(&ann, "Anns", "write", true).await;
    let hers = app.private_inbox(&ann).await;
    let inboxes = [
        (&app.support, &key, 1),
        (&app.support, &anns_key, 2),
        (&hers, &anns_key, 4),
        (&app.sandbox, &test_key, 8),
    ];
    for (inbox, by, count) in inboxes {
        for number in 0..count {
            let from = format!("{number}@x.test");
            let mail = app.deliver(inbox, letter(&from, &format!("{count}"), "text")).await;
            app.on(by, &mail.conversation, "tags", json!({ "add": ["vip"] })).await.is(200);
        }
    }
    for (key, count) in [(&key, 3), (&anns_key, 7), (&test_key, 8)] {
        assert_eq!(counts(&app.get(key, "/tags").await.json()), [("vip".into(), count)]);
    }
}

async fn the_sandbox_shares_tags_by_name_and_id(app: TestApp) {
    let key = app.key("write").await;
    let test_key = app.test_key("write").await;
    let mail = app.deliver(&app.sandbox, letter("a@x.test", "Test", "text")).await;
    app.on(&test_key, &mail.conversation, "tags", json!({ "add": ["Shared"] })).await.is(200);
    let live = app.get(&key, "/tags").await.json();
    assert_eq!(counts(&live), [("Shared".into(), 0)]);
    let mail = app.mail("a@x.example", "Live", "text").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["shared"] })).await.is(200);
    let (live, test) = (app.get(&key, "/tags").await.json(), app.get(&test_key, "/tags").await);
    assert_eq!(live, test.json());
    assert_eq!(counts(&live), [("Shared".into(), 1)]);
}

async fn a_tag_of_a_private_inbox_is_its_persons_alone_until_the_team_uses_its_name(app: TestApp) {
    let (key, test_key) = (app.key("write").await, app.test_key("write").await);
    let ann = app.person_with("Ann", Role::Admin).await;
    let bo = app.person_with("Bo", Role::Admin).await;
    let (anns, bos) = (
        app.key_of(&ann, "Anns", "write", true).await,
        app.key_of(&bo, "Bos", "write", true).await,
    );
    let (hers, his) = (app.private_inbox(&ann).await, app.private_inbox(&bo).await);
    let to_ann = app.deliver(&hers, letter("a@x.example", "Ann", "text")).await;
    let to_bo = app.deliver(&his, letter("a@x.example", "Bo", "text")).await;
    app.on(&anns, &to_ann.conversation, "tags", json!({ "add": ["DIVORCE", "vip"] })).await.is(200);
    app.on(&bos, &to_bo.conversation, "tags", json!({ "add": ["Divorce"] })).await.is(200);
    for nobody in [&key, &test_key] {
        assert_eq!(app.get(nobody, "/tags").await.json(), json!([]));
    }
    let tags_of = async |key| app.get(key, "/tags").await.json();
    assert_eq!(counts(&tags_of(&anns).await), [("DIVORCE".into(), 1), ("vip".into(), 1)]);
    assert_eq!(counts(&tags_of(&bos).await), [("Divorce".into(), 1)]);
    let secret = tags_of(&anns).await[0]["id"].as_str().unwrap().to_owned();

    // The team's own use of the name tells nothing of who had it before.
    app.advance(SECOND);
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["divorce"] })).await.is(200);
    assert_eq!(app.read(&key, &mail.conversation).await["tags"], json!(["divorce"]));
    let live = tags_of(&key).await;
    assert_eq!(counts(&live), [("divorce".into(), 1)]);
    assert_ne!(live[0]["id"], json!(secret));
    assert_eq!(counts(&tags_of(&anns).await), [("divorce".into(), 2), ("vip".into(), 1)]);
    assert_eq!(counts(&tags_of(&bos).await), [("divorce".into(), 2)]);
    assert_eq!(app.read(&anns, &to_ann.conversation).await["tags"], json!(["divorce", "vip"]));
    app.on(&anns, &to_ann.conversation, "tags", json!({ "remove": ["Divorce"] })).await.is(200);
    assert_eq!(app.read(&anns, &to_ann.conversation).await["tags"], json!(["vip"]));
}

async fn tags_are_listed_by_name_and_another_workspaces_are_not(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let other = app.other_workspace("Globex").await;
    let theirs = app.key_of(&other, "Their", "read", true).await;
    let body = json!({ "add": ["zebra", "Apple", "mango"] });
    app.on(&key, &mail.conversation, "tags", body).await.is(200);
    let tags = app.get(&key, "/tags").await.json();
    assert_eq!(texts(tags.as_array().unwrap(), "name"), ["Apple", "mango", "zebra"]);
    assert_eq!(app.get(&theirs, "/tags").await.json(), json!([]));
}

async fn a_tag_that_no_conversation_has_any_more_counts_zero(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    for body in [json!({ "add": ["vip"] }), json!({ "remove": ["vip"] })] {
        app.on(&key, &mail.conversation, "tags", body).await.is(200);
    }
    assert_eq!(counts(&app.get(&key, "/tags").await.json()), [("vip".into(), 0)]);
}

fn counts(tags: &Value) -> Vec<(String, i64)> {
    let tags = tags.as_array().unwrap().iter();
    tags.map(|tag| (tag["name"].as_str().unwrap().into(), tag["count"].as_i64().unwrap())).collect()
}
