//! Mail that the scam check holds (decisions, "Held mail").

use api::operations::SetStatusInput;
use api::operations::set_status;
use base::states::Status;
use mail::{AuthorKind, Mail, Risk, Warning};
use serde_json::{Value, json};
use testing::{DAY, SECOND, TestApp, held_warning, letter, on_both, texts};

on_both!(
    held_mail_is_listed_and_read_with_its_warning,
    scout_held_is_told_instead_of_a_turn_or_a_reply,
    held_mail_reopens_nothing_and_ends_no_snooze,
    releasing_tells_what_the_mail_meant,
    releasing_a_reply_to_app_mail_tells_both,
    mail_that_follows_while_it_is_held_is_told_with_the_rest,
    releasing_twice_tells_once,
    what_was_released_can_be_held_again,
    a_warning_below_the_hold_mark_is_only_a_warning,
    closing_ends_the_hold,
    the_turns_of_a_held_conversation_follow_one_another,
    an_agent_may_still_work_on_held_mail
);

async fn held_mail_is_listed_and_read_with_its_warning(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.deliver(&app.support, suspicious("Lamp")).await;
    let list = app.list(&key, "").await;
    assert_eq!(list[0]["id"], mail.conversation.as_str());
    assert_eq!(list[0]["risk"], "phishing");
    assert_eq!(list[0]["messageCount"], 1);
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!(read["risk"], "phishing");
    assert_eq!(read["riskReasons"], json!(["The link leads elsewhere"]));
    assert_eq!(read["status"], "open");
    assert_eq!(app.search_subjects(&key, "won").await, ["Lamp"]);
    assert_eq!(
        app.timeline_events(&key, &mail.conversation).await,
        [("held".into(), json!({ "risk": "phishing" })),]
    );
}

async fn scout_held_is_told_instead_of_a_turn_or_a_reply(app: TestApp) {
    app.deliver(&app.support, suspicious("Lamp")).await;
    assert_eq!(app.event_types().await, ["scout.held"]);
    let first = app.mail("a@x.example", "Chair", "text").await;
    let held = app.deliver(&app.support, suspicious("Chair")).await;
    assert_eq!(held.conversation, first.conversation);
    assert_eq!(app.event_types_since(1).await, ["turn.changed", "scout.held"]);
    let event = app.events().await.pop().unwrap();
    assert_eq!(event["data"]["conversation_id"], first.conversation.as_str());
}

async fn held_mail_reopens_nothing_and_ends_no_snooze(app: TestApp) {
    let key = app.key("write").await;
    for status in ["waiting", "closed", "snoozed"] {
        let mail = app.mail("a@x.example", status, "text").await;
        let id = &mail.conversation;
        match status {
            "snoozed" => app.snooze(&app.owner, id, app.now() + DAY).await,
            _ => drop(app.on(&key, id, "status", json!({ "status": status })).await.is(200)),
        }
        app.deliver(&app.support, suspicious(status)).await;
        assert_eq!(app.subjects(&key, &format!("view={status}")).await, [status]);
        let count = app.events().await.len();
        app.release(id).await;
        assert_eq!(app.read(&key, id).await["status"], "open");
        assert_eq!(app.read(&key, id).await["snoozedUntil"], Value::Null);
        let types = app.event_types_since(count).await;
        assert_eq!(types.last().unwrap(), "client.replied", "{status}");
        let turns = usize::from(status != "snoozed");
        assert_eq!(types.len(), turns + 1, "{status}: {types:?}");
        assert!(app.list(&key, &format!("view={status}")).await.is_empty());
    }
}

async fn releasing_tells_what_the_mail_meant(app: TestApp) {
    let key = app.key("read").await;
    let begun = app.deliver(&app.support, suspicious("Lamp")).await;
    app.advance(SECOND);
    app.release(&begun.conversation).await;
    let events = app.events_since(1).await;
    assert_eq!(texts(&events, "type"), ["turn.changed"]);
    assert_eq!(events[0]["data"]["previous"], Value::Null);
    assert_eq!(events[0]["data"]["turn"], "ours");
    let event = app.timeline(&key, &begun.conversation, "event").await.pop().unwrap();
    assert_eq!(event["by"]["type"], "person");
    assert_eq!(
        event,
        json!({
            "type": "event", "at": app.iso(), "by": event["by"], "actor": "Olive Owner", "event": "released",
            "data": {},
        })
    );
    assert_eq!(app.read(&key, &begun.conversation).await["risk"], "phishing");
}

async fn releasing_a_reply_to_app_mail_tells_both(app: TestApp) {
    let delivered_to = "support+inv-1@acme.example".into();
    let mail = app.deliver(&app.support, Mail { delivered_to, ..suspicious("Lamp") }).await;
    app.release(&mail.conversation).await;
    let events = app.events_since(1).await;
    assert_eq!(texts(&events, "type"), ["turn.changed", "client.replied"]);
    assert_eq!(events[1]["data"]["reference"], "inv-1");
    assert_eq!(events[1]["data"]["message_id"], mail.message.as_str());
}

async fn mail_that_follows_while_it_is_held_is_told_with_the_rest(app: TestApp) {
    let key = app.key("read").await;
    let held = app.deliver(&app.support, suspicious("Lamp")).await;
    app.advance(SECOND);
    let second = app.mail("a@x.example", "Lamp", "Are you there?").await;
    let away = Mail { kind: AuthorKind::AutoReply, ..letter("a@x.example", "Lamp", "Away") };
    app.advance(SECOND);
    app.deliver(&app.support, away).await;
    app.advance(SECOND);
    let again = app.deliver(&app.support, suspicious("Lamp")).await;
    assert_eq!(app.event_types().await, ["scout.held"]);
    assert_eq!(app.timeline_events(&key, &held.conversation).await.len(), 1);
    app.release(&held.conversation).await;
    let events = app.events_since(1).await;
    assert_eq!(texts(&events, "type"), ["turn.changed", "client.replied", "client.replied"]);
    assert_eq!(events[1]["data"]["message_id"], second.message.as_str());
    assert_eq!(events[2]["data"]["message_id"], again.message.as_str());
    assert_eq!(app.list(&key, "").await[0]["messageCount"], 4);
}

async fn releasing_twice_tells_once(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.deliver(&app.support, suspicious("Lamp")).await;
    for _ in 0..2 {
        app.release(&mail.conversation).await;
    }
    assert_eq!(app.event_types().await, ["scout.held", "turn.changed"]);
    assert_eq!(app.timeline_events(&key, &mail.conversation).await.len(), 2);
    app.advance(SECOND);
    app.mail("a@x.example", "Lamp", "text").await;
    assert_eq!(app.event_types_since(2).await, ["client.replied"]);
}

async fn what_was_released_can_be_held_again(app: TestApp) {
    let mail = app.deliver(&app.support, suspicious("Lamp")).await;
    app.release(&mail.conversation).await;
    app.deliver(&app.support, suspicious("Lamp")).await;
    app.release(&mail.conversation).await;
    let expected = ["scout.held", "turn.changed", "scout.held", "client.replied"];
    assert_eq!(app.event_types().await, expected);
}

async fn a_warning_below_the_hold_mark_is_only_a_warning(app: TestApp) {
    let key = app.key("read").await;
    let warning = Warning { risk: Risk::Impersonation, reasons: Vec::new(), hold: false };
    let mail = Mail { warning: Some(warning), ..suspicious("Lamp") };
    let mail = app.deliver(&app.support, mail).await;
    assert_eq!(app.read(&key, &mail.conversation).await["risk"], "impersonation");
    assert_eq!(app.event_types().await, ["turn.changed"]);
    assert_eq!(app.timeline_events(&key, &mail.conversation).await, []);
    app.release(&mail.conversation).await;
    assert_eq!(app.event_types().await, ["turn.changed"]);
}

async fn closing_ends_the_hold(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.deliver(&app.support, suspicious("Lamp")).await;
    person_sets(&app, &mail.conversation, Status::Closed).await;
    let count = app.events().await.len();
    app.advance(SECOND);
    app.mail("a@x.example", "Lamp", "It was an honest mail").await;
    assert_eq!(app.read(&key, &mail.conversation).await["status"], "open");
    assert_eq!(app.event_types_since(count).await, ["turn.changed", "client.replied"]);
}

async fn the_turns_of_a_held_conversation_follow_one_another(app: TestApp) {
    let mail = app.deliver(&app.support, suspicious("Lamp")).await;
    for status in [Status::Waiting, Status::Closed, Status::Open] {
        person_sets(&app, &mail.conversation, status).await;
    }
    app.release(&mail.conversation).await;
    let events = app.events().await;
    let turns = events.iter().filter(|event| event["type"] == "turn.changed");
    let mut before = Value::Null;
    for event in turns {
        assert_eq!(event["data"]["previous"], before, "{event}");
        before = event["data"]["turn"].clone();
    }
    assert_eq!(before, "ours");
}

async fn an_agent_may_still_work_on_held_mail(app: TestApp) {
    let key = app.key("write draft").await;
    let mail = app.deliver(&app.support, suspicious("Lamp")).await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "Odd" })).await.is(201);
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["scam"] })).await.is(200);
    app.on(&key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
    assert_eq!(app.event_types().await, ["scout.held", "conversation.assigned"]);
}

fn suspicious(subject: &str) -> Mail {
    Mail { warning: held_warning(), ..letter("a@x.example", subject, "You won") }
}

async fn person_sets(app: &TestApp, id: &impl ToString, status: Status) {
    let input = SetStatusInput { id: id.to_string(), status };
    app.act(&app.owner, move |tx, cx| set_status(tx, cx, input.clone())).await;
}
