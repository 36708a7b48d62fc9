//! API section 5.10: the API is part of the Pro and Team plans.

use actions::inboxes::setup;
use axum::body::Body;
use base::actor::{Actor, Plan};

use super::{ALL, OPS, SENDING, a_conversation, a_test_conversation, op, rows};
use crate::support::{TestApp, on_both, request};

on_both!(
    on_the_free_plan_every_operation_is_403_and_afterwards_works_again,
    a_workspace_starts_on_a_plan_with_the_api,
    the_plan_of_one_workspace_is_not_that_of_another,
    the_free_plan_changes_nothing_for_who_has_no_key
);

async fn set_plan(app: &TestApp, owner: &Actor, plan: Plan) {
    app.act(owner, move |tx, cx| setup::set_plan(tx, cx, plan)).await;
}

async fn on_the_free_plan_every_operation_is_403_and_afterwards_works_again(app: TestApp) {
    let sandboxed = a_test_conversation(&app).await;
    let live = a_conversation(&app).await;
    let keys = [(app.key(ALL).await, live), (app.test_key(ALL).await, sandboxed)];
    for (paid, free) in [(Plan::Team, Plan::Free), (Plan::Pro, Plan::Free)] {
        set_plan(&app, &app.owner, free).await;
        let before = rows(&app).await;
        for (key, id) in &keys {
            for op in OPS.iter().chain(SENDING) {
                let answer = op.ask(&app, key, id).await;
                assert_eq!(answer.status, 403, "{}", op.name);
                assert!(answer.error().to_lowercase().contains("plan"), "{}", answer.error());
            }
        }
        assert_eq!(rows(&app).await, before);
        set_plan(&app, &app.owner, paid).await;
        for (key, id) in &keys {
            for op in OPS.iter().chain(SENDING) {
                assert_eq!(op.ask(&app, key, id).await.status, op.success, "{}", op.name);
            }
        }
    }
}

async fn a_workspace_starts_on_a_plan_with_the_api(app: TestApp) {
    app.get(&app.key("read").await, "/me").await.is(200);
}

async fn the_plan_of_one_workspace_is_not_that_of_another(app: TestApp) {
    let other = app.other_workspace("Umbra").await;
    let (ours, theirs) = (app.key("read").await, app.key_of(&other, "Robo", "read", true).await);
    set_plan(&app, &other, Plan::Free).await;
    app.get(&ours, "/me").await.is(200);
    app.get(&theirs, "/me").await.is(403);
    set_plan(&app, &other, Plan::Pro).await;
    app.get(&theirs, "/me").await.is(200);
}

async fn the_free_plan_changes_nothing_for_who_has_no_key(app: TestApp) {
    set_plan(&app, &app.owner, Plan::Free).await;
    app.send(op("me").request(None, &"")).await.is(401);
    app.send(request("GET", "/openapi.json", None, Body::empty())).await.is(200);
}
