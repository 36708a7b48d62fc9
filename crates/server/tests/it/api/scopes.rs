//! API sections 5.5 and 5.6.

use serde_json::json;

use super::{
    ALL, IN_SANDBOX, OPS, Op, SCOPES, SENDING, a_conversation, a_test_conversation, op, rows,
};
use crate::support::{Answer, TestApp, on_both};

on_both!(
    an_operation_is_allowed_exactly_with_its_scope,
    what_a_key_may_not_do_is_not_done,
    me_tells_the_chosen_scopes_and_read,
    me_tells_the_agent_and_its_mode,
    a_test_key_needs_the_same_scopes,
    only_a_readable_true_asks_for_send,
    send_alone_sends_and_draft_alone_drafts
);

/// Every choice of scopes but none.
fn choices() -> Vec<Vec<&'static str>> {
    let chosen = |bits: u32| {
        let scopes = SCOPES.iter().enumerate().filter(move |(place, _)| bits & (1 << place) != 0);
        scopes.map(|(_, scope)| *scope).collect()
    };
    (1..1 << SCOPES.len()).map(chosen).collect()
}

fn every_request() -> impl Iterator<Item = &'static Op> {
    OPS.iter().chain(SENDING)
}

/// The scopes that a sentence names.
fn scopes_named(answer: &Answer) -> Vec<String> {
    let error = answer.error();
    let words = error.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| SCOPES.contains(&word.as_str())).collect()
}

async fn an_operation_is_allowed_exactly_with_its_scope(app: TestApp) {
    let id = a_conversation(&app).await;
    for scopes in choices() {
        let key = app.key(&scopes.join(" ")).await;
        for op in every_request() {
            let asked = format!("{} for {} with {scopes:?}", op.name, op.scope);
            let answer = op.ask(&app, &key, &id).await;
            if op.scope == "read" || scopes.contains(&op.scope) {
                assert_eq!(answer.status, op.success, "{asked}");
            } else {
                assert_eq!(answer.status, 403, "{asked}");
                assert_eq!(scopes_named(&answer), [op.scope], "{asked}");
            }
        }
    }
}

async fn what_a_key_may_not_do_is_not_done(app: TestApp) {
    let id = a_conversation(&app).await;
    let key = app.key("read").await;
    let before = rows(&app).await;
    for op in every_request().filter(|op| op.scope != "read") {
        op.ask(&app, &key, &id).await.is(403);
    }
    assert_eq!(rows(&app).await, before);
}

async fn me_tells_the_chosen_scopes_and_read(app: TestApp) {
    for scopes in choices() {
        let key = app.key(&scopes.join(" ")).await;
        let me = app.get(&key, "/me").await.is(200).json();
        let mut expected = scopes.clone();
        expected.push("read");
        expected.sort_unstable();
        expected.dedup();
        let told = me["scopes"].as_array().unwrap().iter();
        let mut told: Vec<&str> = told.map(|scope| scope.as_str().unwrap()).collect();
        told.sort_unstable();
        assert_eq!(told, expected);
    }
}

async fn me_tells_the_agent_and_its_mode(app: TestApp) {
    for (key, name, livemode) in
        [(app.key("write").await, "Robo", true), (app.test_key("write").await, "Testo", false)]
    {
        let me = app.get(&key, "/me").await.is(200).json();
        assert_eq!(me["agent"], json!({ "id": key.id.to_string(), "name": name }));
        assert_eq!(me["livemode"], json!(livemode));
    }
}

async fn a_test_key_needs_the_same_scopes(app: TestApp) {
    let id = a_test_conversation(&app).await;
    let (reads, does) = (app.test_key("read").await, app.test_key(ALL).await);
    for op in every_request().chain(IN_SANDBOX) {
        let expected = if op.scope == "read" { op.success } else { 403 };
        assert_eq!(op.ask(&app, &reads, &id).await.status, expected, "{}", op.name);
        assert_eq!(op.ask(&app, &does, &id).await.status, op.success, "{}", op.name);
    }
}

async fn only_a_readable_true_asks_for_send(app: TestApp) {
    let id = a_conversation(&app).await;
    let (draft, send) = (app.key("draft").await, app.key("send").await);
    for name in ["reply", "start_conversation", "request_documents"] {
        for value in [json!("true"), json!(1), json!(null), json!([true]), json!({})] {
            let mut body = op(name).json();
            body["send"] = value.clone();
            let answer = op(name).ask_with(&app, &send, &id, body.to_string()).await.is(403);
            assert_eq!(scopes_named(&answer), ["draft"], "{name} {value}");
            let answer = op(name).ask_with(&app, &draft, &id, body.to_string()).await.is(400);
            assert!(answer.error().starts_with("send: "), "{}", answer.error());
        }
        let mut missing = op(name).json();
        missing.as_object_mut().unwrap().remove("send");
        let missing = missing.to_string();
        let answer = op(name).ask_with(&app, &send, &id, missing.clone()).await.is(403);
        assert_eq!(scopes_named(&answer), ["draft"]);
        op(name).ask_with(&app, &draft, &id, missing).await.is(201);
        for unreadable in ["", "{", "[]", "{\"send\": true"] {
            let answer = op(name).ask_with(&app, &send, &id, unreadable).await.is(403);
            assert_eq!(scopes_named(&answer), ["draft"], "{name} {unreadable}");
        }
    }
}

async fn send_alone_sends_and_draft_alone_drafts(app: TestApp) {
    let id = a_conversation(&app).await;
    let (draft, send) = (app.key("draft").await, app.key("send").await);
    for (sending, name) in SENDING.iter().zip(["reply", "start_conversation", "request_documents"])
    {
        let answer = sending.ask(&app, &send, &id).await.is(201).json();
        assert_eq!(answer["status"], "scheduled", "{name}");
        let answer = op(name).ask(&app, &draft, &id).await.is(201).json();
        assert_eq!(answer["status"], "draft", "{name}");
    }
}
