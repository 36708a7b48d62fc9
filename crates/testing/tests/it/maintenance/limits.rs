//! What a workspace may hold and do, and what happens at its limits.

use actions::inboxes::setup;
use actions::workspace::limits;
use base::actor::{Actor, Circle, Role};
use base::error::Error;
use base::usage::{self, UsageKind};
use inbound::Ingested;
use quotas::{LimitInput, LimitKind};
use serde_json::json;
use testing::{HOUR, TestApp, file, letter, on_both, raw, text_of};

on_both!(
    what_is_held_is_counted_with_its_rows_and_goes_with_them,
    mail_beyond_a_hard_limit_is_put_off_and_comes_again,
    agents_are_refused_more_messages_than_the_workspace_may_hold,
    mails_are_limited_in_an_hour_and_go_on_in_the_next,
    calls_are_limited_in_an_hour_for_all_keys_together,
    people_are_limited,
    owners_are_warned_once_past_the_soft_limit,
    nothing_is_limited_by_default_and_only_the_operator_sets_limits
);

fn operator(of: &Actor) -> Actor {
    Actor::system(of.ws, of.workspace.clone(), Circle::team())
}

async fn limit(app: &TestApp, what: LimitKind, text: &str) {
    let set = vec![(what, LimitInput::parse(what, text).unwrap())];
    app.act(&operator(&app.owner), move |tx, cx| limits::set_limits(tx, cx, &set)).await;
}

async fn held(app: &TestApp, what: UsageKind) -> i64 {
    let ws = app.owner.ws;
    app.app.store.read(move |tx| usage::amount_held(tx, ws, what)).await.unwrap()
}

/// What is counted is what is there.
async fn is_exact(app: &TestApp) {
    let (ws, messages, bytes) =
        (app.owner.ws, held(app, UsageKind::Messages).await, held(app, UsageKind::Bytes).await);
    assert_eq!(app.count(&format!("messages WHERE ws = {ws}")).await, messages);
    let sum = format!(
        "(SELECT coalesce(sum(size), 0) AS n FROM blobs WHERE ws = {ws}) AS x WHERE n = {bytes}"
    );
    assert_eq!(app.count(&sum).await, 1, "{bytes}");
}

async fn what_is_held_is_counted_with_its_rows_and_goes_with_them(app: TestApp) {
    let key = app.key("read write send").await;
    let mut mail = letter("ann@x.example Ann", "Invoice", "Total 12.00");
    mail.attachments = vec![file("invoice.txt", b"Total 12.00 EUR")];
    let mail = app.deliver(&app.support, mail).await;
    app.send_reply(&key, &mail.conversation, "Thank you").await;
    app.mail("kim@x.example", "Bench", "It wobbles").await;
    assert_eq!(held(&app, UsageKind::Messages).await, 3);
    assert!(held(&app, UsageKind::DocumentBytes).await >= 15);
    is_exact(&app).await;
    app.exec(&format!(
        "UPDATE conversations SET removed = 'trash', view = 'trash', erase_at = 1 WHERE id = '{}'",
        mail.conversation
    ))
    .await;
    app.pass(HOUR).await;
    assert_eq!(held(&app, UsageKind::Messages).await, 1);
    assert_eq!(held(&app, UsageKind::DocumentBytes).await, 0);
    is_exact(&app).await;
}

async fn mail_beyond_a_hard_limit_is_put_off_and_comes_again(app: TestApp) {
    app.mail("ann@x.example", "Lamp", "It is broken").await;
    limit(&app, LimitKind::Messages, "1").await;
    let mail = raw("kim@x.example", "Bench", "It wobbles");
    let taken = app.ingest(&["support@acme.example"], &mail).await;
    assert_eq!(taken, [Ok(Ingested::Deferred)]);
    limit(&app, LimitKind::Messages, "none").await;
    let taken = app.ingest(&["support@acme.example"], &mail).await;
    assert!(matches!(taken[0], Ok(Ingested::Filed(_))), "{taken:?}");
}

async fn agents_are_refused_more_messages_than_the_workspace_may_hold(app: TestApp) {
    let key = app.key("read write send").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    limit(&app, LimitKind::Messages, "1").await;
    let send = json!({ "body": "Sorry", "send": true });
    let refused = app.on(&key, &mail.conversation, "replies", send).await.is(403).json();
    assert_eq!(refused["code"], "limit_reached");
    assert!(text_of(&refused, "error").contains("may hold 1 messages"), "{refused}");
    assert_eq!(app.count("messages").await, 1);
}

async fn mails_are_limited_in_an_hour_and_go_on_in_the_next(app: TestApp) {
    let key = app.key("read write send").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    limit(&app, LimitKind::MailsPerHour, "1").await;
    app.schedule(&key, &mail.conversation, "One").await;
    let send = json!({ "body": "Two", "send": true });
    let refused = app.on(&key, &mail.conversation, "replies", send.clone()).await.is(429).json();
    assert_eq!(refused["code"], "rate_limited");
    assert_eq!(app.count("messages").await, 2);
    app.pass(HOUR).await;
    app.on(&key, &mail.conversation, "replies", send).await.is(201);
}

async fn calls_are_limited_in_an_hour_for_all_keys_together(app: TestApp) {
    let (one, two) = (app.key("read").await, app.key("read").await);
    limit(&app, LimitKind::CallsPerHour, "3").await;
    for key in [&one, &two, &one] {
        app.get(key, "/conversations").await.is(200);
    }
    let refused = app.get(&two, "/conversations").await.is(429).json();
    assert_eq!(refused["code"], "rate_limited");
    app.advance(HOUR);
    app.get(&two, "/conversations").await.is(200);
}

async fn people_are_limited(app: TestApp) {
    limit(&app, LimitKind::People, "2").await;
    app.person("Ann").await;
    let refused = app
        .expect_refusal(&app.owner, |tx, cx| {
            setup::add_person(tx, cx, "kim@acme.example", "Kim", Role::Member)
        })
        .await;
    assert!(matches!(refused, Error::LimitReached(_)), "{refused:?}");
}

async fn owners_are_warned_once_past_the_soft_limit(app: TestApp) {
    limit(&app, LimitKind::Messages, "1:10").await;
    for n in 0..4 {
        let mail = raw(&format!("ann{n}@x.example"), "Lamp", "It is broken");
        let taken = app.ingest(&["support@acme.example"], &mail).await;
        assert!(matches!(taken[0], Ok(Ingested::Filed(_))), "{taken:?}");
    }
    assert_eq!(app.count("notices WHERE subject LIKE '%a limit is near'").await, 1);
    let near = app.act(&app.owner, limits::limits_near).await;
    assert_eq!(near.len(), 1);
    assert_eq!((near[0].what, near[0].used), (LimitKind::Messages, Some(4)));
}

async fn nothing_is_limited_by_default_and_only_the_operator_sets_limits(app: TestApp) {
    let uses = app.act(&app.owner, limits::limits_in_use).await;
    assert!(uses.iter().all(|one| one.hard.is_none() && one.soft.is_none()));
    let set = vec![(LimitKind::People, LimitInput { soft: None, hard: Some(1) })];
    let refused =
        app.expect_refusal(&app.owner, move |tx, cx| limits::set_limits(tx, cx, &set)).await;
    assert!(matches!(refused, Error::Forbidden(_)), "{refused:?}");
}
