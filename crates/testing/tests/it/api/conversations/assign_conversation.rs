//! API section 4.7.

use api::operations::AssignConversationInput;
use api::operations::assign_conversation;
use base::actor::{Actor, Role};
use serde_json::{Value, json};
use testing::{SECOND, TestApp, letter, on_both, user};

on_both!(
    a_conversation_is_given_to_me_to_a_person_to_an_agent_and_to_nobody,
    giving_it_to_the_same_one_again_changes_nothing,
    whoever_is_not_on_the_team_is_refused,
    whoever_cannot_see_a_private_inbox_is_refused,
    in_the_sandbox_only_test_agents_can_be_given_a_conversation,
    a_person_may_assign_and_the_event_names_them
);

async fn a_conversation_is_given_to_me_to_a_person_to_an_agent_and_to_nobody(app: TestApp) {
    let key = app.key("write").await;
    let other = app.key_of(&app.owner, "Other", "read", true).await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let olive = user(&app.owner);
    let me = json!({ "id": key.id.as_str(), "name": "Robo", "type": "agent" });
    let person = json!({ "id": olive.as_str(), "name": "Olive Owner", "type": "user" });
    let agent = json!({ "id": other.id.as_str(), "name": "Other", "type": "agent" });
    let mut before = Value::Null;
    for (to, assignee) in [
        ("me".into(), &me),
        (format!("user:{olive}"), &person),
        (format!("agent:{}", other.id), &agent),
        ("none".into(), &Value::Null),
        (format!("agent:{}", key.id), &me),
    ] {
        let count = app.events().await.len();
        app.advance(SECOND);
        let answer = app.on(&key, &mail.conversation, "assign", json!({ "to": to })).await.is(200);
        assert_eq!(answer.json(), json!({ "ok": true, "assignee": assignee }));
        assert_eq!(&app.read(&key, &mail.conversation).await["assignee"], assignee);
        assert_eq!(&app.list(&key, "").await[0]["assignee"], assignee);
        let last = app.timeline(&key, &mail.conversation, "event").await.pop().unwrap();
        let by = json!({ "type": "agent", "name": "Robo", "id": key.id });
        assert_eq!(
            last,
            json!({
                "type": "event", "at": app.iso(), "actor": "Robo", "by": by, "event": "assigned",
                "data": { "from": before, "to": assignee },
            })
        );
        let events = app.events_since(count).await;
        assert_eq!(events.len(), 1);
        assert_eq!(events[0]["type"], "conversation.assigned");
        assert_eq!(&events[0]["data"]["assignee"], assignee);
        assert_eq!(
            events[0]["data"]["assigned_by"],
            json!({
                "type": "agent", "id": key.id.as_str(), "name": "Robo",
            })
        );
        before = assignee.clone();
    }
}

async fn giving_it_to_the_same_one_again_changes_nothing(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    for to in ["none", "me", &format!("user:{}", user(&app.owner))] {
        app.on(&key, &mail.conversation, "assign", json!({ "to": to })).await.is(200);
        let (read, count) = (app.read(&key, &mail.conversation).await, app.events().await.len());
        app.advance(SECOND);
        app.on(&key, &mail.conversation, "assign", json!({ "to": to })).await.is(200);
        assert_eq!(app.read(&key, &mail.conversation).await, read, "{to}");
        assert_eq!(app.events().await.len(), count, "{to}");
    }
}

async fn whoever_is_not_on_the_team_is_refused(app: TestApp) {
    let key = app.key("write").await;
    let revoked = app.key_of(&app.owner, "Revoked", "read", true).await;
    app.revoke(&revoked).await;
    let test_key = app.test_key("read").await;
    let other = app.other_workspace("Globex").await;
    let their_key = app.key_of(&other, "Their", "read", true).await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let before = app.read(&key, &mail.conversation).await;
    for to in [
        format!("agent:{}", revoked.id),
        format!("agent:{}", test_key.id),
        format!("user:{}", user(&other)),
        format!("agent:{}", their_key.id),
        "user:usr_00000000000000000000000000".into(),
        "agent:agt_00000000000000000000000000".into(),
        format!("user:{}", key.id),
        format!("agent:{}", user(&app.owner)),
        key.id.to_string(),
        "Me".into(),
        "nobody".into(),
        "".into(),
        format!("user:usr_{}", "a".repeat(80)),
    ] {
        let answer = app.on(&key, &mail.conversation, "assign", json!({ "to": to })).await.is(400);
        assert!(answer.error().starts_with("to: "), "{to}: {}", answer.error());
    }
    assert_eq!(app.read(&key, &mail.conversation).await, before);
    assert_eq!(app.events().await.len(), 1);
}

async fn whoever_cannot_see_a_private_inbox_is_refused(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let anns_key = app.key_of(&ann, "Anns", "write", true).await;
    let second_key = app.key_of(&ann, "Second", "write", true).await;
    let olives_key = app.key("write").await;
    let hers = app.private_inbox(&ann).await;
    let mail = app.deliver(&hers, letter("a@x.example", "Lamp", "text")).await;
    for (to, status) in [
        (format!("user:{}", user(&app.owner)), 400),
        (format!("agent:{}", olives_key.id), 400),
        (format!("user:{}", user(&ann)), 200),
        (format!("agent:{}", second_key.id), 200),
        ("me".into(), 200),
        ("none".into(), 200),
    ] {
        app.on(&anns_key, &mail.conversation, "assign", json!({ "to": to })).await.is(status);
    }
    app.on(&olives_key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(404);
}

async fn in_the_sandbox_only_test_agents_can_be_given_a_conversation(app: TestApp) {
    let test_key = app.test_key("write").await;
    let second = app.key_of(&app.owner, "Second", "read", false).await;
    let live_key = app.key("write").await;
    let mail = app.deliver(&app.sandbox, letter("a@x.test", "Lamp", "text")).await;
    for (to, status) in [
        ("me".into(), 200),
        (format!("agent:{}", second.id), 200),
        (format!("agent:{}", live_key.id), 400),
        (format!("user:{}", user(&app.owner)), 400),
    ] {
        app.on(&test_key, &mail.conversation, "assign", json!({ "to": to })).await.is(status);
    }
    let read = app.read(&test_key, &mail.conversation).await;
    assert_eq!(read["assignee"]["name"], "Second");
}

async fn a_person_may_assign_and_the_event_names_them(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let input = AssignConversationInput { id: mail.conversation.to_string(), to: "me".into() };
    let olive: Actor = app.owner.clone();
    app.act(&olive, move |tx, cx| assign_conversation(tx, cx, input.clone())).await;
    assert_eq!(app.read(&key, &mail.conversation).await["assignee"]["name"], "Olive Owner");
    let event = app.events().await.pop().unwrap();
    assert_eq!(
        event["data"]["assigned_by"],
        json!({
            "type": "user", "id": user(&olive).as_str(), "name": "Olive Owner",
        })
    );
}
