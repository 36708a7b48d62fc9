//! `GET /events`: what happened, for an app that was down.

use std::sync::mpsc;

use actions::integrations::delivery_log;
use base::actor::Role;
use base::ids::WebhookId;
use serde_json::{Value, json};
use testing::{
    Backend, DAY, HOUR, SECOND, TestApp, TestKey, UNDO, eventually, letter, on_both, run, text_of,
    texts,
};

on_both!(
    events_are_listed_oldest_first_exactly_as_webhooks_are_told,
    pages_lead_from_one_to_the_next_and_pass_nothing_over,
    the_last_cursor_goes_on_with_what_happens_after_it,
    without_events_there_is_an_empty_list_and_no_cursor,
    a_key_is_told_of_what_it_can_see,
    events_of_two_circles_are_merged_in_their_order,
    an_event_is_listed_for_30_days,
    a_test_event_is_listed_where_its_webhook_hears,
    a_cursor_is_one_that_was_given_out
);

/// Every event from a place on, as pages lead there; and the place after the last.
async fn walk(app: &TestApp, key: &TestKey, from: &str) -> (Vec<Value>, Option<String>) {
    app.settle().await;
    let (mut events, mut place) = (Vec::new(), None);
    let mut next = Some(from.to_owned());
    while let Some(path) = next {
        let answer = app.get(key, &path).await.is(200);
        let page = answer.json().as_array().unwrap().clone();
        next = answer.next().filter(|_| !page.is_empty());
        place = answer.next().or(place);
        events.extend(page);
    }
    (events, place)
}

/// The conversations that the key's events are about.
async fn told_of(app: &TestApp, key: &TestKey) -> Vec<String> {
    let (events, _) = walk(app, key, "/events").await;
    events.iter().map(|event| text_of(&event["data"], "conversation_id")).collect()
}

async fn events_are_listed_oldest_first_exactly_as_webhooks_are_told(app: TestApp) {
    let key = app.key("write send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.on(&key, &mail.conversation, "assign", json!({ "to": "me" })).await.is(200);
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.pass(UNDO).await;
    app.mail("mara@customer.example", "Re: Lamp", "Thank you").await;
    let (events, _) = walk(&app, &key, "/events").await;
    assert_eq!(events, app.events().await);
    assert_eq!(
        texts(&events, "type"),
        [
            "turn.changed",
            "conversation.assigned",
            "turn.changed",
            "message.sent",
            "turn.changed",
            "client.replied",
        ]
    );
}

async fn pages_lead_from_one_to_the_next_and_pass_nothing_over(app: TestApp) {
    let key = app.key("read").await;
    for number in 0..60 {
        app.mail(&format!("n{number}@x.example"), "Lamp", "text").await;
        app.advance(i64::from(number % 3));
    }
    for path in ["/events", "/events?limit=1", "/events?limit=7", "/events?limit=100"] {
        let (events, _) = walk(&app, &key, path).await;
        assert_eq!(events, app.events().await, "{path}");
    }
    let answer = app.get(&key, "/events").await.is(200);
    assert_eq!(answer.json().as_array().unwrap().len(), 25);
}

async fn the_last_cursor_goes_on_with_what_happens_after_it(app: TestApp) {
    let key = app.key("read").await;
    app.mail("one@x.example", "Lamp", "text").await;
    let (events, place) = walk(&app, &key, "/events").await;
    assert_eq!(events.len(), 1);
    let place = place.expect("every answer with events leads on");
    assert_eq!(walk(&app, &key, &place).await.0, Vec::<Value>::new());
    app.advance(DAY);
    app.mail("two@x.example", "Lamp", "text").await;
    app.mail("three@x.example", "Lamp", "text").await;
    let (later, _) = walk(&app, &key, &place).await;
    assert_eq!(later, app.events_since(1).await);
}

async fn without_events_there_is_an_empty_list_and_no_cursor(app: TestApp) {
    let answer = app.get(&app.key("read").await, "/events").await.is(200);
    assert_eq!(answer.json(), json!([]));
    assert_eq!(answer.next(), None);
}

async fn a_key_is_told_of_what_it_can_see(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let other = app.other_workspace("Globex").await;
    let keys = [
        app.key("read").await,
        app.key_of(&ann, "Annie", "read", true).await,
        app.test_key("read").await,
        app.key_of(&other, "Their", "read", true).await,
        app.key_of(&other, "Their", "read", false).await,
    ];
    let mut told = Vec::new();
    let inboxes = [
        app.support.clone(),
        app.private_inbox(&app.owner).await,
        app.private_inbox(&ann).await,
        app.sandbox.clone(),
    ];
    for inbox in &inboxes {
        let mail = app.deliver(inbox, letter("a@x.test", "Lamp", "text")).await;
        told.push(mail.conversation.to_string());
        app.advance(SECOND);
    }
    let seen: [&[usize]; 5] = [&[0, 1], &[0, 2], &[3], &[], &[]];
    for (key, seen) in keys.iter().zip(seen) {
        let expected: Vec<String> = seen.iter().map(|place| told[*place].clone()).collect();
        assert_eq!(told_of(&app, key).await, expected);
    }
}

async fn events_of_two_circles_are_merged_in_their_order(app: TestApp) {
    let key = app.key("read").await;
    let private = app.private_inbox(&app.owner).await;
    for number in 0..20 {
        let inbox = if number % 3 == 0 { &private } else { &app.support };
        let from = format!("n{number}@x.example");
        app.deliver(inbox, letter(&from, "Lamp", "text")).await;
    }
    for path in ["/events?limit=1", "/events?limit=6", "/events"] {
        assert_eq!(walk(&app, &key, path).await.0, app.events().await, "{path}");
    }
}

async fn an_event_is_listed_for_30_days(app: TestApp) {
    let key = app.key("read").await;
    app.mail("one@x.example", "Lamp", "text").await;
    app.pass(15 * DAY).await;
    app.mail("two@x.example", "Lamp", "text").await;
    app.pass(15 * DAY - 1).await;
    assert_eq!(walk(&app, &key, "/events").await.0.len(), 2);
    app.pass(1).await;
    assert_eq!(walk(&app, &key, "/events").await.0.len(), 1);
    app.pass(2 * HOUR).await;
    assert_eq!(walk(&app, &key, "/events").await.0, app.events().await);
    assert_eq!(app.events().await.len(), 1);
}

async fn a_test_event_is_listed_where_its_webhook_hears(app: TestApp) {
    let (key, test) = (app.key("read").await, app.test_key("read").await);
    let hook = app.webhook(&app.owner, false, false).await;
    send_test_event(&app, &hook).await;
    assert_eq!(walk(&app, &key, "/events").await.0.len(), 0);
    let (events, _) = walk(&app, &test, "/events").await;
    assert_eq!(texts(&events, "type"), ["webhook.test"]);
}

async fn a_cursor_is_one_that_was_given_out(app: TestApp) {
    let key = app.key("read").await;
    for wrong in ["", "x", "1", "1.2", "1.2.A", "evt_0", "-1.0.a", "1.1.a%00"] {
        let answer = app.get(&key, &format!("/events?cursor={wrong}")).await.is(400);
        assert!(answer.error().starts_with("cursor: "), "{wrong}: {}", answer.error());
    }
}

async fn send_test_event(app: &TestApp, hook: &WebhookId) {
    let hook = hook.clone();
    app.act(&app.owner, move |tx, cx| delivery_log::send_test_event(tx, cx, &hook)).await;
}

#[test]
fn nothing_is_passed_over_when_transactions_commit_in_another_order_than_they_began() {
    run(Backend::Postgres, out_of_order);
}

async fn out_of_order(app: TestApp) {
    let key = app.key("read").await;
    let hook = app.webhook(&app.owner, false, true).await;
    let (started, has_started) = mpsc::channel();
    let (finish, may_finish) = mpsc::channel::<()>();
    let (first, owner, domain) = (hook.clone(), app.owner.clone(), app.app.clone());
    let slow = tokio::spawn(async move {
        let work = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            let event = delivery_log::send_test_event(tx, cx, &first)?;
            // Nobody listens or asks any more when the closure is run once more.
            let _ = started.send(());
            let _ = may_finish.recv();
            Ok(event)
        };
        domain.act(&owner, work).await.unwrap()
    });
    eventually(async || has_started.try_recv().is_ok()).await;
    send_test_event(&app, &hook).await;
    let quick = app.events().await.pop().unwrap();
    let answer = app.get(&key, "/events").await.is(200);
    assert_eq!(answer.json(), json!([]), "an event that began earlier may yet come");
    drop(finish);
    let slow = slow.await.unwrap();
    let (events, _) = walk(&app, &key, "/events").await;
    assert_eq!(texts(&events, "id"), [slow.to_string(), text_of(&quick, "id")]);
}
