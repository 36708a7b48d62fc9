//! API sections 3.1, 3.2 and 4.5.

use serde_json::{Value, json};
use testing::{DAY, SECOND, TestApp, on_both, texts};

on_both!(
    every_status_can_be_reached_from_every_other_and_the_turn_follows,
    setting_the_status_it_has_changes_nothing,
    a_status_does_not_move_a_conversation_in_the_list,
    a_change_of_status_ends_a_snooze,
    sending_a_reply_makes_an_open_conversation_wait_and_no_other
);

/// Each status and the turn that follows from it.
const TURNS: [(&str, &str); 3] = [("open", "ours"), ("waiting", "theirs"), ("closed", "done")];

async fn every_status_can_be_reached_from_every_other_and_the_turn_follows(app: TestApp) {
    let key = app.key("write").await;
    for (from, previous) in TURNS {
        for (to, turn) in TURNS.into_iter().filter(|(to, _)| *to != from) {
            let mail = app.mail("a@x.example", &format!("{from} to {to}"), "text").await;
            let id = &mail.conversation;
            app.on(&key, id, "status", json!({ "status": from })).await.is(200);
            let before = app.events().await.len();
            app.advance(SECOND);
            let answer = app.on(&key, id, "status", json!({ "status": to })).await.is(200);
            assert_eq!(answer.json(), json!({ "ok": true }));
            assert_eq!(app.read(&key, id).await["status"], to);
            let event = app.timeline(&key, id, "event").await.pop().unwrap();
            assert_eq!(
                event,
                json!({
                    "type": "event", "at": app.iso(), "actor": "Robo", "by": { "type": "agent", "name": "Robo", "id": key.id }, "event": "status",
                    "data": { "from": from, "to": to },
                })
            );
            let events = app.events_since(before).await;
            assert_eq!(texts(&events, "type"), ["turn.changed"], "{from} to {to}");
            assert_eq!(events[0]["data"]["turn"], turn);
            assert_eq!(events[0]["data"]["previous"], previous);
        }
    }
}

async fn setting_the_status_it_has_changes_nothing(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    for (status, _) in TURNS {
        let body = json!({ "status": status });
        app.on(&key, &mail.conversation, "status", body.clone()).await.is(200);
        let (read, count) = (app.read(&key, &mail.conversation).await, app.events().await.len());
        app.advance(SECOND);
        app.on(&key, &mail.conversation, "status", body).await.is(200);
        assert_eq!(app.read(&key, &mail.conversation).await, read);
        assert_eq!(app.events().await.len(), count);
    }
}

async fn a_status_does_not_move_a_conversation_in_the_list(app: TestApp) {
    let key = app.key("write").await;
    let first = app.mail("a@x.example", "First", "text").await;
    let at = app.iso();
    app.advance(SECOND);
    app.mail("b@x.example", "Second", "text").await;
    app.advance(SECOND);
    for (status, _) in TURNS {
        app.on(&key, &first.conversation, "status", json!({ "status": status })).await.is(200);
        let all = app.list(&key, "view=all").await;
        assert_eq!(texts(&all, "subject"), ["Second", "First"]);
        assert_eq!(all[1]["lastMessageAt"], at);
    }
}

async fn a_change_of_status_ends_a_snooze(app: TestApp) {
    let key = app.key("write").await;
    for status in ["waiting", "closed"] {
        let mail = app.mail("a@x.example", status, "text").await;
        app.snooze(&app.owner, &mail.conversation, app.now() + DAY).await;
        app.on(&key, &mail.conversation, "status", json!({ "status": status })).await.is(200);
        assert_eq!(app.read(&key, &mail.conversation).await["snoozedUntil"], Value::Null);
        assert!(app.list(&key, "view=snoozed").await.is_empty());
        assert_eq!(app.subjects(&key, &format!("view={status}")).await, [status]);
    }
}

async fn sending_a_reply_makes_an_open_conversation_wait_and_no_other(app: TestApp) {
    let key = app.key("write send").await;
    for (before, after) in [("open", "waiting"), ("waiting", "waiting"), ("closed", "closed")] {
        let mail = app.mail("a@x.example", before, "text").await;
        app.on(&key, &mail.conversation, "status", json!({ "status": before })).await.is(200);
        let count = app.events().await.len();
        app.send_reply(&key, &mail.conversation, "Here you are").await;
        assert_eq!(app.read(&key, &mail.conversation).await["status"], after);
        let turns = usize::from(before != after);
        let types = app.event_types_since(count).await;
        assert_eq!(types.iter().filter(|kind| *kind == "turn.changed").count(), turns);
        assert!(types.contains(&"message.sent".into()));
    }
}
