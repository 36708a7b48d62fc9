//! Putting a conversation away for a time (decisions, "Snooze").

use actions::conversations::snooze;
use serde_json::{Value, json};
use testing::{DAY, HOUR, SECOND, TestApp, on_both};

on_both!(
    a_snoozed_conversation_is_open_but_listed_under_snoozed,
    a_snooze_may_be_moved,
    only_an_open_conversation_is_snoozed_and_only_until_a_time_to_come,
    setting_it_open_again_changes_nothing_and_so_keeps_the_snooze,
    notes_tags_assigning_and_drafts_do_not_end_a_snooze,
    a_snoozed_conversation_is_found_and_filtered_like_any_other,
    nobody_snoozes_what_they_cannot_see
);

async fn a_snoozed_conversation_is_open_but_listed_under_snoozed(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let events = app.events().await.len();
    app.snooze(&app.owner, &mail.conversation, app.now() + DAY).await;
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["status"], "open");
    assert_eq!(read["snoozedUntil"], "2026-11-16T09:00:00.000Z");
    for (view, count) in [("open", 0), ("snoozed", 1), ("waiting", 0), ("closed", 0), ("all", 1)] {
        assert_eq!(app.list(&key, &format!("view={view}")).await.len(), count, "{view}");
    }
    let event = app.timeline(&key, &mail.conversation, "event").await.pop().unwrap();
    assert_eq!(event["by"]["type"], "person");
    assert_eq!(
        event,
        json!({
            "type": "event", "at": app.iso(), "by": event["by"], "actor": "Olive Owner", "event": "snoozed",
            "data": { "until": "2026-11-16T09:00:00.000Z" },
        })
    );
    assert_eq!(app.events().await.len(), events, "a snooze changes no turn");
}

async fn a_snooze_may_be_moved(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    for until in [app.now() + DAY, app.now() + HOUR] {
        app.snooze(&app.owner, &mail.conversation, until).await;
    }
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["snoozedUntil"], "2026-11-15T10:00:00.000Z");
    assert_eq!(app.list(&key, "view=snoozed").await.len(), 1);
    assert_eq!(open_count(&app).await, 0);
}

async fn only_an_open_conversation_is_snoozed_and_only_until_a_time_to_come(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    for (status, ahead, field) in [
        ("open", 0, "until: "),
        ("open", -1, "until: "),
        ("waiting", 1, "status: "),
        ("closed", 1, "status: "),
    ] {
        app.on(&key, &mail.conversation, "status", json!({ "status": status })).await.is(200);
        let (id, until) = (mail.conversation.to_string(), app.now() + ahead);
        let refused =
            app.expect_refusal(&app.owner, move |tx, cx| snooze::snooze(tx, cx, &id, until)).await;
        assert!(refused.to_string().starts_with(field), "{status}: {refused}");
        assert_eq!(app.read(&key, &mail.conversation).await["snoozedUntil"], Value::Null);
    }
}

async fn setting_it_open_again_changes_nothing_and_so_keeps_the_snooze(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    app.snooze(&app.owner, &mail.conversation, app.now() + DAY).await;
    let before = app.read(&key, &mail.conversation).await;
    app.on(&key, &mail.conversation, "status", json!({ "status": "open" })).await.is(200);
    assert_eq!(app.read(&key, &mail.conversation).await, before);
}

async fn notes_tags_assigning_and_drafts_do_not_end_a_snooze(app: TestApp) {
    let key = app.key("write draft send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let id = &mail.conversation;
    app.snooze(&app.owner, id, app.now() + DAY).await;
    app.advance(SECOND);
    app.on(&key, id, "notes", json!({ "body": "Later" })).await.is(201);
    app.on(&key, id, "tags", json!({ "add": ["vip"] })).await.is(200);
    app.on(&key, id, "assign", json!({ "to": "me" })).await.is(200);
    app.draft(&key, id, "Hello").await;
    let message = app.schedule(&key, id, "Hello").await;
    assert_eq!(app.list(&key, "view=snoozed").await.len(), 1);
    app.mark_sent(&app.support, &message).await;
    let read = app.read(&key, id).await;
    assert_eq!(read["status"], "waiting");
    assert_eq!(read["snoozedUntil"], Value::Null);
    assert_eq!(app.list(&key, "view=waiting").await.len(), 1);
}

async fn a_snoozed_conversation_is_found_and_filtered_like_any_other(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "treasure").await;
    app.on(&key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
    app.snooze(&app.owner, &mail.conversation, app.now() + DAY).await;
    for (filter, count) in [
        ("q=treasure", 0),
        ("q=treasure&view=snoozed", 1),
        ("q=treasure&view=all", 1),
        ("assigned=me", 0),
        ("assigned=me&view=snoozed", 1),
        ("assigned=unassigned&view=snoozed", 0),
    ] {
        assert_eq!(app.list(&key, filter).await.len(), count, "{filter}");
    }
}

async fn nobody_snoozes_what_they_cannot_see(app: TestApp) {
    let ann = app.person("Ann").await;
    let mine = app.private_inbox(&app.owner).await;
    let mail = app.deliver(&mine, testing::letter("a@x.example", "Lamp", "text")).await;
    let (id, until) = (mail.conversation.to_string(), app.now() + DAY);
    let refused = app.expect_refusal(&ann, move |tx, cx| snooze::snooze(tx, cx, &id, until)).await;
    assert!(matches!(refused, base::error::Error::NotFound(_)), "{refused}");
}

async fn open_count(app: &TestApp) -> i64 {
    let key = app.key("read").await;
    app.get(&key, "/mailboxes").await.json()[0]["open"].as_i64().unwrap()
}
