//! The order in which a request's mistakes are told: 401, 429, 403, 400, 404.

use actions::inboxes::setup;
use axum::body::Body;
use base::actor::Plan;

use super::{ALL, CREATING, OPS, Op, a_conversation, every_op, rows, with_header};
use crate::support::{TestApp, TestKey, nowhere, on_both, request};

on_both!(
    of_several_mistakes_the_first_in_order_is_told,
    the_rate_comes_after_the_key_and_before_everything_else,
    the_plan_comes_after_the_rate_and_before_the_input,
    a_query_is_checked_after_the_key_and_the_rate,
    a_malformed_idempotency_key_is_a_mistake_of_the_input,
    without_a_key_even_a_huge_body_is_401,
    an_assignee_that_does_not_exist_is_told_after_the_conversation
);

/// Operations about a conversation that take something in: all five checks apply to them.
fn checked() -> impl Iterator<Item = &'static Op> {
    OPS.iter().filter(|op| op.has_id() && op.method == "POST")
}

/// A body in which nothing is right, also where nothing is asked for.
fn wrong(op: &Op) -> &'static str {
    if op.body == "{}" { "[]" } else { WRONG }
}

const WRONG: &str = r#"{
    "body": 1, "status": 1, "add": 1, "remove": 1, "to": 1, "send": 1, "summary": 1, "documents": 1
}"#;

/// A key that is none, over the rate, without the scope, with a wrong body, of no conversation.
async fn status(
    app: &TestApp,
    op: &Op,
    key: Option<&TestKey>,
    body: &'static str,
    id: &str,
) -> u16 {
    let key = key.map(|key| key.key.as_str());
    app.send(request(op.method, &op.at(&id), key, Body::from(body))).await.status
}

async fn of_several_mistakes_the_first_in_order_is_told(app: TestApp) {
    let (reads, does, gone) = (app.key("read").await, app.key(ALL).await, app.key("read").await);
    app.revoke(&gone).await;
    let (nowhere, id) = (nowhere(), a_conversation(&app).await);
    let before = rows(&app).await;
    for op in checked() {
        for id in [&nowhere, &id] {
            assert_eq!(status(&app, op, None, wrong(op), id).await, 401, "{}", op.name);
            assert_eq!(status(&app, op, Some(&gone), wrong(op), id).await, 401, "{}", op.name);
            assert_eq!(status(&app, op, Some(&reads), wrong(op), id).await, 403, "{}", op.name);
            assert_eq!(status(&app, op, Some(&reads), "{", id).await, 403, "{}", op.name);
            assert_eq!(status(&app, op, Some(&does), wrong(op), id).await, 400, "{}", op.name);
            assert_eq!(status(&app, op, Some(&does), "{", id).await, 400, "{}", op.name);
        }
        assert_eq!(status(&app, op, Some(&reads), op.body, &nowhere).await, 403, "{}", op.name);
        assert_eq!(status(&app, op, Some(&does), op.body, &nowhere).await, 404, "{}", op.name);
    }
    assert_eq!(rows(&app).await, before);
}

async fn the_rate_comes_after_the_key_and_before_everything_else(app: TestApp) {
    let (reads, does, gone) = (app.key("read").await, app.key(ALL).await, app.key("read").await);
    let (nowhere, id) = (nowhere(), a_conversation(&app).await);
    let app = app.with_rate(1);
    for key in [&reads, &does, &gone] {
        app.get(key, "/me").await.is(200);
    }
    app.revoke(&gone).await;
    for op in checked() {
        assert_eq!(status(&app, op, None, wrong(op), &nowhere).await, 401, "{}", op.name);
        assert_eq!(status(&app, op, Some(&gone), wrong(op), &nowhere).await, 401, "{}", op.name);
        for (key, body, id) in
            [(&reads, wrong(op), &nowhere), (&does, "{", &nowhere), (&does, op.body, &id)]
        {
            assert_eq!(status(&app, op, Some(key), body, id).await, 429, "{}", op.name);
        }
    }
}

async fn the_plan_comes_after_the_rate_and_before_the_input(app: TestApp) {
    let key = app.key(ALL).await;
    let nowhere = nowhere();
    let app = app.with_rate(1 + checked().count() as u32);
    app.get(&key, "/me").await.is(200);
    app.act(&app.owner, |tx, cx| setup::set_plan(tx, cx, Plan::Free)).await;
    for op in checked() {
        assert_eq!(status(&app, op, None, wrong(op), &nowhere).await, 401, "{}", op.name);
        assert_eq!(status(&app, op, Some(&key), wrong(op), &nowhere).await, 403, "{}", op.name);
    }
    for op in checked() {
        assert_eq!(status(&app, op, Some(&key), wrong(op), &nowhere).await, 429, "{}", op.name);
    }
}

async fn a_query_is_checked_after_the_key_and_the_rate(app: TestApp) {
    let key = app.key("read").await;
    let app = app.with_rate(2);
    for (path, key, status) in [
        ("/conversations?limit=0", None, 401),
        ("/conversations?limit=0", Some(&key), 400),
        ("/documents?kind=x", Some(&key), 400),
        ("/documents?kind=x", Some(&key), 429),
    ] {
        let key = key.map(|key| key.key.as_str());
        let answer = app.send(request("GET", path, key, Body::empty())).await;
        assert_eq!(answer.status, status, "{path}");
    }
}

async fn a_malformed_idempotency_key_is_a_mistake_of_the_input(app: TestApp) {
    let (reads, does) = (app.key("read").await, app.key(ALL).await);
    for op in checked().filter(|op| CREATING.contains(&op.name)) {
        let sent =
            |key: Option<&str>| with_header(op.request(key, &nowhere()), "idempotency-key", "?");
        app.send(sent(None)).await.is(401);
        app.send(sent(Some(&reads.key))).await.is(403);
        app.send(sent(Some(&does.key))).await.is(400);
    }
}

async fn without_a_key_even_a_huge_body_is_401(app: TestApp) {
    for op in every_op().filter(|op| op.method == "POST") {
        let body = Body::from(vec![b' '; 2 * 1024 * 1024]);
        app.send(request("POST", &op.at(&nowhere()), None, body)).await.is(401);
    }
}

async fn an_assignee_that_does_not_exist_is_told_after_the_conversation(app: TestApp) {
    let key = app.key(ALL).await;
    let to = serde_json::json!({ "to": "user:usr_0" });
    let path = |id: &str| format!("/conversations/{id}/assign");
    app.post(&key, &path(&nowhere()), to.clone()).await.is(404);
    app.post(&key, &path(&a_conversation(&app).await), to).await.is(400);
}
