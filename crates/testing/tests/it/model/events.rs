//! API section 6: what is told to other apps, to whom, and what is never told.

use base::actor::{Plan, Role};
use base::error::Error;
use base::ids::MessageId;
use mail::Mail;
use serde_json::{Value, json};
use testing::{
    PUBLIC_URL, SECOND, TestApp, fields, file, held_warning, letter, on_both, text_of, texts, user,
};

on_both!(
    every_event_has_the_whole_envelope,
    each_event_has_exactly_its_fields,
    no_word_of_the_customer_or_the_team_is_in_any_event,
    the_summary_names_who_did_it_in_at_most_200_characters,
    an_event_is_planned_for_the_webhooks_of_its_circle_alone,
    while_a_webhook_is_paused_or_off_its_events_are_kept_as_skipped,
    on_the_free_plan_nothing_is_sent,
    a_webhook_hears_nothing_of_before_it_was_made,
    what_fails_half_way_leaves_nothing_behind
);

async fn every_event_has_the_whole_envelope(app: TestApp) {
    eventful(&app).await;
    let events = app.events().await;
    let mut ids = texts(&events, "id");
    for event in &events {
        let names = ["created_at", "data", "id", "livemode", "type", "version", "workspace"];
        assert_eq!(fields(event), names);
        assert!(text_of(event, "id").starts_with("evt_"));
        assert_eq!(event["version"], 1);
        assert_eq!(event["workspace"], app.owner.workspace.as_str());
        assert_eq!(event["livemode"], true);
        let at = text_of(event, "created_at");
        assert!(at.len() == 24 && at.starts_with("2026-11-15T09:") && at.ends_with('Z'), "{at}");
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), events.len());
}

async fn each_event_has_exactly_its_fields(app: TestApp) {
    let told = eventful(&app).await;
    let events = app.events().await;
    let id = told.conversation.as_str();
    for event in &events {
        let data = &event["data"];
        let own: &[&str] = match event["type"].as_str().unwrap() {
            "client.replied" => &["mailbox_id", "message_id", "secure"],
            "conversation.assigned" => &["assigned_by", "assignee"],
            "turn.changed" => &["assignee", "previous", "turn"],
            "draft.approved" => &["approved_by", "drafted_by", "edited", "message_id"],
            "message.sent" => &["author", "mailbox_id", "message_id", "secure"],
            "scout.held" => &[],
            other => panic!("{other} is not expected here"),
        };
        let mut names = [own, &["conversation_id", "summary", "url"]].concat();
        names.sort_unstable();
        assert_eq!(fields(data), names, "{event}");
        assert_eq!(data["conversation_id"], id);
        assert_eq!(data["url"], format!("{PUBLIC_URL}/conversations/{id}"));
        let summary = text_of(data, "summary");
        assert!(!summary.is_empty() && summary.chars().count() <= 200, "{summary}");
    }
    let robo = json!({ "type": "agent", "id": told.robo });
    let robo_named = json!({ "type": "agent", "id": told.robo, "name": "Robo" });
    let olive = json!({
        "type": "user", "id": user(&app.owner).as_str(), "name": "Olive Owner",
    });
    let support = app.support.id.as_str();
    let own: Vec<(String, Value)> = events.iter().map(without_common).collect();
    let expected = [
        ("turn.changed", json!({ "turn": "ours", "previous": null, "assignee": null })),
        ("conversation.assigned", json!({ "assignee": robo_named, "assigned_by": robo_named })),
        (
            "draft.approved",
            json!({
                "message_id": told.reply, "drafted_by": robo, "approved_by": olive,
                "edited": true,
            }),
        ),
        ("turn.changed", json!({ "turn": "theirs", "previous": "ours", "assignee": robo_named })),
        (
            "message.sent",
            json!({
                "message_id": told.reply, "mailbox_id": support, "author": robo,
                "secure": false,
            }),
        ),
        ("turn.changed", json!({ "turn": "ours", "previous": "theirs", "assignee": robo_named })),
        (
            "client.replied",
            json!({
                "message_id": told.second, "mailbox_id": support, "secure": false,
            }),
        ),
        ("conversation.assigned", json!({ "assignee": null, "assigned_by": robo_named })),
        ("scout.held", json!({})),
        (
            "client.replied",
            json!({
                "message_id": told.held, "mailbox_id": support, "secure": false,
            }),
        ),
        ("turn.changed", json!({ "turn": "done", "previous": "ours", "assignee": null })),
    ];
    let expected: Vec<(String, Value)> =
        expected.into_iter().map(|(kind, data)| (kind.to_owned(), data)).collect();
    assert_eq!(own, expected);
}

async fn no_word_of_the_customer_or_the_team_is_in_any_event(app: TestApp) {
    eventful(&app).await;
    for event in app.events().await {
        let body = event.to_string().to_lowercase();
        for word in WORDS {
            assert!(!body.contains(&word.to_lowercase()), "{word} in {body}");
        }
    }
}

async fn the_summary_names_who_did_it_in_at_most_200_characters(app: TestApp) {
    let key = app.key_of(&app.owner, &"R".repeat(100), "write", true).await;
    let long = app.key_of(&app.owner, &"Ö".repeat(100), "read", true).await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let to = json!({ "to": format!("agent:{}", long.id) });
    app.on(&key, &mail.conversation, "assign", to).await.is(200);
    let summary = text_of(&app.events().await.pop().unwrap()["data"], "summary");
    assert_eq!(summary.chars().count(), 200);
    assert!(summary.starts_with(&"R".repeat(100)) && summary.ends_with('Ö'), "{summary}");
}

async fn an_event_is_planned_for_the_webhooks_of_its_circle_alone(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let team = app.webhook(&app.owner, false, true).await;
    let also_team = app.webhook(&ann, false, true).await;
    let mine = app.webhook(&app.owner, true, true).await;
    let hers = app.webhook(&ann, true, true).await;
    let test = app.webhook(&app.owner, false, false).await;
    let other = app.other_workspace("Globex").await;
    app.webhook(&other, false, true).await;
    let my_inbox = app.private_inbox(&app.owner).await;
    let her_inbox = app.private_inbox(&ann).await;
    let ben = app.person("Ben").await;
    let bens = app.private_inbox(&ben).await;
    let (team, also_team) = (team.to_string(), also_team.to_string());
    for (inbox, hooks) in [
        (&app.support, vec![team, also_team]),
        (&my_inbox, vec![mine.to_string()]),
        (&her_inbox, vec![hers.to_string()]),
        (&bens, vec![]),
        (&app.sandbox, vec![test.to_string()]),
    ] {
        let before = app.deliveries().await.len();
        app.deliver(inbox, letter("a@x.test", "Lamp", "text")).await;
        let planned = app.deliveries().await.split_off(before);
        let expected: Vec<_> = hooks
            .into_iter()
            .map(|hook| (hook, "turn.changed".to_owned(), "waiting".to_owned()))
            .collect();
        assert_eq!(planned, expected, "{}", inbox.address);
    }
}

async fn while_a_webhook_is_paused_or_off_its_events_are_kept_as_skipped(app: TestApp) {
    let hook = app.webhook(&app.owner, false, true).await.to_string();
    for (state, planned) in [("paused", "skipped"), ("off", "skipped"), ("active", "waiting")] {
        app.exec(&format!("UPDATE webhooks SET state = '{state}'")).await;
        app.mail("a@x.example", state, "text").await;
        let last = app.deliveries().await.pop().unwrap();
        assert_eq!(last, (hook.clone(), "turn.changed".into(), planned.into()), "{state}");
    }
}

async fn on_the_free_plan_nothing_is_sent(app: TestApp) {
    app.webhook(&app.owner, false, true).await;
    for (plan, planned) in
        [(Plan::Free, "skipped"), (Plan::Pro, "waiting"), (Plan::Team, "waiting")]
    {
        app.set_plan(plan).await;
        app.mail("a@x.example", plan.as_str(), "text").await;
        assert_eq!(app.deliveries().await.pop().unwrap().2, planned, "{plan:?}");
    }
}

async fn a_webhook_hears_nothing_of_before_it_was_made(app: TestApp) {
    app.mail("a@x.example", "Before", "text").await;
    app.webhook(&app.owner, false, true).await;
    assert_eq!(app.deliveries().await, []);
    app.mail("a@x.example", "After", "text").await;
    assert_eq!(app.deliveries().await.len(), 1);
}

async fn what_fails_half_way_leaves_nothing_behind(app: TestApp) {
    let key = app.key("write").await;
    app.webhook(&app.owner, false, true).await;
    let attachments = vec![file("scan.pdf", b"1")];
    let mail = Mail { attachments, ..letter("a@x.example", "Lamp", "treasure") };
    let incoming = app.incoming(&app.support, mail);
    let (service, inbox) = (app.service(&app.support), app.support.clone());
    app.expect_refusal(&service, move |tx, cx| {
        inbound::receive::receive(tx, cx, &inbox, &incoming)?;
        Err::<(), _>(Error::NotFound("end of the story"))
    })
    .await;
    assert_eq!(app.events().await, Vec::<Value>::new());
    assert_eq!(app.deliveries().await, []);
    assert!(app.list(&key, "view=all").await.is_empty());
    assert!(app.search_subjects(&key, "treasure").await.is_empty());
    assert_eq!(app.get(&key, "/documents?q=scan").await.json(), json!([]));
    assert_eq!(app.get(&key, "/mailboxes").await.json()[0]["open"], 0);
    let mail = app.mail("a@x.example", "Lamp", "treasure").await;
    let before = app.read(&key, &mail.conversation).await;
    let body = json!({ "to": "agent:agt_00000000000000000000000000" });
    app.on(&key, &mail.conversation, "assign", body).await.is(400);
    assert_eq!(app.read(&key, &mail.conversation).await, before);
    assert_eq!(app.event_types().await, ["turn.changed"]);
    assert_eq!(app.deliveries().await.len(), 1);
}

/// Words that are said somewhere in [`eventful`] and belong in no event.
const WORDS: [&str; 14] = [
    "okapi@customer.example",
    "Okapi Zebrowitz",
    "Zebrowitz",
    "Quaggasubject",
    "Tapirtext",
    "Lemurfile",
    "Lionnote",
    "Gnutag",
    "Ibexreply",
    "Civetsummary",
    "Dingolabel",
    "Koalaedit",
    "Fossatext",
    "Numbatreason",
];

/// What came of a conversation in which everything happens that is told today.
struct Told {
    conversation: String,
    robo: String,
    reply: String,
    second: String,
    held: String,
}

async fn eventful(app: &TestApp) -> Told {
    let key = app.key("write draft").await;
    let from = "okapi@customer.example Okapi Zebrowitz";
    let attachments = vec![file("Lemurfile.pdf", b"1")];
    let first = Mail { attachments, ..letter(from, "Quaggasubject", "Tapirtext") };
    let id = app.deliver(&app.support, first).await.conversation;
    app.advance(SECOND);
    app.on(&key, &id, "notes", json!({ "body": "Lionnote" })).await.is(201);
    app.on(&key, &id, "tags", json!({ "add": ["Gnutag"] })).await.is(200);
    app.on(&key, &id, "assign", json!({ "to": "me" })).await.is(200);
    let documents = json!([{ "label": "Dingolabel" }]);
    let reply = json!({ "body": "Ibexreply", "summary": "Civetsummary", "documents": documents });
    let reply = app.on(&key, &id, "replies", reply).await.is(201).json();
    let reply = text_of(&reply, "messageId");
    let message = MessageId::parse(&reply).unwrap();
    app.act(&app.owner, move |tx, cx| testing::approve_draft(tx, cx, &message, 1, "Koalaedit"))
        .await;
    app.advance(SECOND);
    app.mark_sent(&app.support, &reply).await;
    app.advance(SECOND);
    let second = app.mail(from, "Quaggasubject", "Fossatext").await;
    app.on(&key, &id, "assign", json!({ "to": "none" })).await.is(200);
    app.advance(SECOND);
    let mut warning = held_warning();
    if let Some(warning) = &mut warning {
        warning.reasons = vec!["Numbatreason".into()];
    }
    let held = Mail { warning, ..letter(from, "Quaggasubject", "Tapirtext") };
    let held = app.deliver(&app.support, held).await;
    app.release(&id).await;
    app.on(&key, &id, "status", json!({ "status": "closed" })).await.is(200);
    Told {
        conversation: id.to_string(),
        robo: key.id.to_string(),
        reply,
        second: second.message.to_string(),
        held: held.message.to_string(),
    }
}

/// An event's type and the data that only its kind has.
fn without_common(event: &Value) -> (String, Value) {
    let mut data = event["data"].clone();
    for name in ["summary", "url", "conversation_id"] {
        data.as_object_mut().unwrap().remove(name);
    }
    (text_of(event, "type"), data)
}
