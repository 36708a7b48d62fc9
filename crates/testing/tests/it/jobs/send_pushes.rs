//! Browsers that take notices: their push services, and the sessions that they end with.

use actions::people::{notifications, removal};
use actions::sign_in::sessions;
use base::actor::{Actor, Role};
use base::ids::ConversationId;
use jobs::PushResponse;
use model::people::notifications::push;
use serde_json::json;
use testing::*;

on_both!(
    a_browser_that_is_gone_is_removed,
    a_busy_push_service_is_tried_again_and_not_for_ever,
    what_a_push_service_refuses_is_dropped,
    a_subscription_ends_with_its_session_and_its_person,
    a_session_without_private_access_shows_nothing_of_private_inboxes,
    a_browser_belongs_to_whoever_subscribed_last,
    all_nodes_and_workspaces_have_one_sealed_key
);

async fn assign(app: &TestApp, id: &ConversationId, to: &Actor) {
    let key = app.key("write").await;
    app.on(&key, id, "assign", json!({ "to": format!("user:{}", user(to)) })).await.is(200);
}

async fn something_for(app: &TestApp, person: &Actor, subject: &str) {
    let id = app.mail("zed@shop.example", subject, "Hello").await.conversation;
    assign(app, &id, person).await;
    app.work().await;
}

async fn browsers_of(app: &TestApp, person: &Actor) -> usize {
    let own = app.act(person, notifications::own_notifications).await;
    own.browsers.len()
}

async fn a_browser_that_is_gone_is_removed(app: TestApp) {
    let ann = app.person("Ann").await;
    for code in [404, 410] {
        let browser = app.subscribe(&ann, "one").await;
        app.outside.push_service.answers_status(&browser.endpoint, code);
        something_for(&app, &ann, &format!("Lamps {code}")).await;
        assert_eq!(browsers_of(&app, &ann).await, 0);
    }
    app.pass(DAY).await;
    assert_eq!(app.outside.push_service.requests().len(), 2);
}

async fn a_busy_push_service_is_tried_again_and_not_for_ever(app: TestApp) {
    let ann = app.person("Ann").await;
    let browser = app.subscribe(&ann, "one").await;
    let busy = PushResponse::Status { code: 429, retry_after: Some(600) };
    app.outside.push_service.answers(&browser.endpoint, busy);
    something_for(&app, &ann, "Lamps").await;
    app.pass(10 * MINUTE - 1).await;
    assert_eq!(app.pushed_to(&browser).len(), 1, "it waits as long as it was told to");
    app.outside.push_service.answers_status(&browser.endpoint, 201);
    app.pass(1).await;
    assert_eq!(app.pushed_to(&browser).len(), 2);
    app.pass(DAY).await;
    assert_eq!(app.pushed_to(&browser).len(), 2);
    let listed = app.act(&ann, notifications::own_notifications).await;
    assert!(listed.browsers[0].used_at.is_some());

    app.outside.push_service.answers(&browser.endpoint, PushResponse::Failed("slow".into()));
    something_for(&app, &ann, "Chairs").await;
    app.pass(DAY).await;
    // At once, after 1, 5, 15 and 60 minutes; then it is too old.
    assert_eq!(app.pushed_to(&browser).len(), 2 + 5);
    assert_eq!(browsers_of(&app, &ann).await, 1);
}

async fn what_a_push_service_refuses_is_dropped(app: TestApp) {
    let ann = app.person("Ann").await;
    let browser = app.subscribe(&ann, "one").await;
    for (n, answer) in [
        PushResponse::Status { code: 413, retry_after: None },
        PushResponse::Refused("private".into()),
    ]
    .into_iter()
    .enumerate()
    {
        app.outside.push_service.answers(&browser.endpoint, answer);
        something_for(&app, &ann, &format!("Lamps {n}")).await;
    }
    app.pass(DAY).await;
    assert_eq!(app.pushed_to(&browser).len(), 2);
    assert_eq!(browsers_of(&app, &ann).await, 1);
}

async fn a_subscription_ends_with_its_session_and_its_person(app: TestApp) {
    let ann = app.person("Ann").await;
    let (one, two) = (app.subscribe(&ann, "one").await, app.subscribe(&ann, "two").await);
    let session = one.session.clone();
    app.act(&ann, move |tx, cx| sessions::end_session(tx, cx, &session)).await;
    something_for(&app, &ann, "Lamps").await;
    assert_eq!((app.pushed_to(&one).len(), app.pushed_to(&two).len()), (0, 1));
    let kept = two.session.clone();
    let three = app.subscribe(&ann, "three").await;
    app.act(&ann, move |tx, cx| sessions::end_other_sessions(tx, cx, &kept)).await;
    assert_eq!(browsers_of(&app, &ann).await, 1);
    // Somebody else cannot end hers.
    let (bo, id) = (app.person("Bo").await, two.id.clone());
    app.expect_refusal(&bo, move |tx, cx| notifications::end_subscription(tx, cx, &id)).await;
    // What is on its way to a browser ends with it.
    app.outside.push_service.answers_status(&two.endpoint, 503);
    something_for(&app, &ann, "Chairs").await;
    let before = app.outside.push_service.requests().len();
    let person = user(&ann);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    app.pass(DAY).await;
    assert_eq!(app.outside.push_service.requests().len(), before);
    assert!(app.pushed_to(&three).is_empty());
    for table in ["push_subscriptions", "push_messages", "notice_facts", "notice_pace"] {
        let count = app
            .app
            .store
            .read(move |tx| {
                let sql = format!("SELECT CAST(count(*) AS BIGINT) FROM {table}");
                Ok::<(i64,), base::error::Error>(tx.one(&sql, &[])?)
            })
            .await
            .unwrap();
        assert_eq!(count, (0,), "{table}");
    }
}

async fn a_session_without_private_access_shows_nothing_of_private_inboxes(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    let open = app.subscribe(&ann, "open").await;
    let shut = app.subscribed_in(&ann, "shut", false).await;
    let id = app.deliver(&inbox, letter("zed@shop.example", "Secrets", "Hello")).await.conversation;
    let key = app.key_of(&ann, "Helper", "write", true).await;
    app.on(&key, &id, "assign", json!({ "to": format!("user:{}", user(&ann)) })).await.is(200);
    app.work().await;
    assert_eq!((app.pushed_to(&open).len(), app.pushed_to(&shut).len()), (1, 0));
    something_for(&app, &ann, "For everybody").await;
    assert_eq!((app.pushed_to(&open).len(), app.pushed_to(&shut).len()), (2, 1));
}

async fn a_browser_belongs_to_whoever_subscribed_last(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    app.subscribe(&ann, "shared").await;
    let shared = app.subscribe(&bo, "shared").await;
    something_for(&app, &ann, "For Ann").await;
    assert!(app.pushed_to(&shared).is_empty());
    something_for(&app, &bo, "For Bo").await;
    assert_eq!(app.read_push(&shared)["body"], "For Bo");
    assert_eq!((browsers_of(&app, &ann).await, browsers_of(&app, &bo).await), (0, 1));
}

async fn all_nodes_and_workspaces_have_one_sealed_key(app: TestApp) {
    let key = app.act(&app.owner, notifications::push_public_key).await;
    let other = app.other_workspace("Other").await;
    let node = app.on_another_node();
    let again = node.act(&other, |tx, cx| Ok(push::vapid_key(tx, cx)?.public_key())).await.unwrap();
    assert_eq!(key, again);
    let kept: (String,) = app
        .app
        .store
        .read(|tx| Ok::<_, base::error::Error>(tx.one("SELECT secret FROM push_keys", &[])?))
        .await
        .unwrap();
    assert!(kept.0.starts_with("v1."), "{}", kept.0);
}
