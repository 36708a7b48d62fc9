//! How long an inbox keeps closed conversations.

use actions::workspace::deletion;
use base::actor::{Actor, Role};
use base::error::Error;
use model::mailboxes::Mailbox;
use serde_json::json;
use testing::{DAY, TestApp, letter, on_both};

on_both!(
    closed_conversations_that_nobody_touches_go_into_the_trash_and_are_erased,
    what_would_go_is_counted_before_anything_goes,
    whoever_may_delete_an_inbox_says_how_long_it_keeps_mail
);

async fn keep_for(app: &TestApp, by: &Actor, inbox: &Mailbox, days: Option<i64>) {
    let id = inbox.id.clone();
    app.act(by, move |tx, cx| deletion::set_retention(tx, cx, &id, days)).await;
}

async fn untouched(app: &TestApp, days: i64) -> i64 {
    let id = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| deletion::count_untouched(tx, cx, &id, days)).await
}

async fn closed_conversations_that_nobody_touches_go_into_the_trash_and_are_erased(app: TestApp) {
    let key = app.key("write").await;
    let closed = json!({ "status": "closed" });
    let old = app.mail("ann@x.example", "Old", "text").await;
    let noted = app.mail("bo@x.example", "Noted", "text").await;
    app.mail("cy@x.example", "Open", "text").await;
    for mail in [&old, &noted] {
        app.on(&key, &mail.conversation, "status", closed.clone()).await.is(200);
    }
    app.pass(5 * DAY).await;
    app.on(&key, &noted.conversation, "notes", json!({ "body": "A word" })).await.is(201);
    let other = app.team_inbox("billing@acme.example", "Billing").await;
    let elsewhere = app.deliver(&other, letter("di@x.example", "Elsewhere", "text")).await;
    app.on(&key, &elsewhere.conversation, "status", closed).await.is(200);
    keep_for(&app, &app.owner, &app.support, Some(10)).await;
    app.pass(4 * DAY).await;
    assert_eq!(app.subjects(&key, "view=trash").await, Vec::<String>::new());
    app.pass(2 * DAY).await;
    assert_eq!(app.subjects(&key, "view=trash").await, ["Old"]);
    app.pass(5 * DAY).await;
    assert_eq!(app.subjects(&key, "view=trash").await, ["Noted", "Old"]);
    app.pass(40 * DAY).await;
    assert_eq!(app.count("conversations WHERE subject IN ('Old', 'Noted')").await, 0);
    assert_eq!(app.subjects(&key, "view=open").await, ["Open"]);
    assert_eq!(app.subjects(&key, "view=closed").await, ["Elsewhere"]);
    assert_eq!(super::deletion::faults(&app).await, Vec::<String>::new());
}

async fn what_would_go_is_counted_before_anything_goes(app: TestApp) {
    let key = app.key("write").await;
    for name in ["a", "b", "c"] {
        let mail = app.mail(&format!("{name}@x.example"), name, "text").await;
        app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
        app.pass(20 * DAY).await;
    }
    assert_eq!((untouched(&app, 15).await, untouched(&app, 30).await), (3, 2));
    app.pass(400 * DAY).await;
    assert_eq!(app.subjects(&key, "view=closed").await.len(), 3, "it is off unless it is set");
    keep_for(&app, &app.owner, &app.support, Some(30)).await;
    keep_for(&app, &app.owner, &app.support, None).await;
    app.pass(DAY).await;
    assert_eq!(app.subjects(&key, "view=closed").await.len(), 3);
    keep_for(&app, &app.owner, &app.support, Some(430)).await;
    app.pass(DAY).await;
    assert_eq!(app.subjects(&key, "view=closed").await, ["c"]);
}

async fn whoever_may_delete_an_inbox_says_how_long_it_keeps_mail(app: TestApp) {
    let bo = app.person_with("Bo", Role::Admin).await;
    let set = |app: &TestApp, by: &Actor, inbox: &Mailbox, days: i64| {
        let (inner, by, id) = (app.app.clone(), by.clone(), inbox.id.clone());
        async move {
            inner.act(&by, move |tx, cx| deletion::set_retention(tx, cx, &id, Some(days))).await
        }
    };
    let refused = set(&app, &bo, &app.support, 30).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let private = app.private_inbox(&bo).await;
    set(&app, &bo, &private, 30).await.unwrap();
    let stranger = set(&app, &app.owner, &private, 30).await;
    assert!(matches!(stranger, Err(Error::NotFound(_))), "{stranger:?}");
    for days in [0, 6, 36_501] {
        let wrong = set(&app, &app.owner, &app.support, days).await;
        assert!(matches!(wrong, Err(Error::Invalid(_))), "{days}: {wrong:?}");
    }
}
