//! API section 5: a request carries a key, and the key says who asks.

use axum::body::Body;
use axum::http::Request;
use base::ids::AgentId;
use base::security::api_key::KeyHash;

use super::{ALL, OPS, a_conversation, every_op, op, with_header};
use crate::support::{TestApp, TestKey, on_both, request, user};

on_both!(
    live_test_and_old_keys_work,
    an_old_key_works_on_live_data,
    every_operation_needs_a_key,
    whatever_is_wrong_with_a_key_the_answer_is_the_same,
    a_key_anywhere_else_does_not_count,
    the_case_of_bearer_does_not_matter,
    a_revoked_key_ends_at_once_and_alone
);

/// A key from before keys told their mode. Nothing makes these any more, but they still work.
pub async fn insert_old_key(app: &TestApp, key: &str) -> TestKey {
    let hash = KeyHash::of(key).expect("a key");
    let made_by = user(&app.owner);
    let id = app
        .act(&app.owner, move |tx, cx| {
            let id = AgentId::new(cx.ids, cx.now);
            tx.exec(
                "INSERT INTO agents (ws, id, name, key_hash, scopes, livemode, made_by, created_at)
                 VALUES (?1, ?2, 'Oldie', ?3, 'read write', TRUE, ?4, ?5)",
                &[&cx.actor.ws, &id, &hash, &made_by, &cx.now],
            )?;
            Ok(id)
        })
        .await;
    TestKey { id, key: key.to_owned() }
}

fn authorized(value: &str) -> Request<Body> {
    with_header(request("GET", "/me", None, Body::empty()), "authorization", value)
}

async fn live_test_and_old_keys_work(app: TestApp) {
    let old = insert_old_key(&app, &format!("rk_{}", "aB3".repeat(16))).await;
    for (key, prefix, livemode) in [
        (app.key("write").await, "rk_live_", true),
        (app.test_key("write").await, "rk_test_", false),
        (old, "rk_", true),
    ] {
        let secret = key.key.strip_prefix(prefix).expect("the prefix");
        assert_eq!(secret.len(), 48);
        assert!(secret.bytes().all(|b| b.is_ascii_alphanumeric()));
        let me = app.get(&key, "/me").await.is(200).json();
        assert_eq!(me["agent"]["id"], key.id.to_string());
        assert_eq!(me["livemode"], livemode);
    }
}

async fn an_old_key_works_on_live_data(app: TestApp) {
    let old = insert_old_key(&app, &format!("rk_{}", "Z9y".repeat(16))).await;
    let id = a_conversation(&app).await;
    op("get_conversation").ask(&app, &old, &id).await.is(200);
    op("add_note").ask(&app, &old, &id).await.is(201);
    op("reply").ask(&app, &old, &id).await.is(403);
    app.revoke(&old).await;
    op("get_conversation").ask(&app, &old, &id).await.is(401);
}

async fn every_operation_needs_a_key(app: TestApp) {
    let id = a_conversation(&app).await;
    let wrong = format!("rk_live_{}", "x".repeat(48));
    for op in every_op() {
        for key in [None, Some(wrong.as_str()), Some("rk_live_x"), Some("")] {
            let answer = app.send(op.request(key, &id)).await;
            assert_eq!(answer.status, 401, "{} {key:?}", op.name);
            assert!(answer.header("www-authenticate").starts_with("Bearer"), "{}", op.name);
            answer.error();
        }
    }
}

async fn whatever_is_wrong_with_a_key_the_answer_is_the_same(app: TestApp) {
    let right = app.key(ALL).await;
    let key = &right.key;
    let secret = key.strip_prefix("rk_live_").unwrap();
    let revoked = app.key(ALL).await;
    app.revoke(&revoked).await;
    let none = app.send(request("GET", "/me", None, Body::empty())).await.is(401);
    for value in [
        "".into(),
        "Bearer".into(),
        "Bearer ".into(),
        key.clone(),
        format!("Basic {key}"),
        "Basic cmtfbGl2ZTo=".into(),
        format!("Token {key}"),
        format!("Bearer{key}"),
        format!("Bearer: {key}"),
        format!("Bearer\t{key}"),
        format!("Bearer \"{key}\""),
        format!("Bearer {key} {key}"),
        format!("Bearer {key},"),
        format!("Bearer {}", &key[..key.len() - 1]),
        format!("Bearer {key}x"),
        format!("Bearer {}", key.to_uppercase()),
        format!("Bearer rk_{secret}"),
        format!("Bearer rk_test_{secret}"),
        format!("Bearer rk_live_{}", "0".repeat(48)),
        format!("Bearer rk_live_{}", "_".repeat(48)),
        format!("Bearer rk_live_{}", "\u{e9}".repeat(24)),
        format!("Bearer rk_live_{}", "a".repeat(5_000)),
        format!("Bearer sk_live_{secret}"),
        format!("Bearer {}", right.id),
        format!("Bearer {}", revoked.key),
    ] {
        let answer = app.send(authorized(&value)).await;
        assert_eq!(answer.status, 401, "{value}");
        assert_eq!(answer.bytes, none.bytes, "{value}");
        assert_eq!(answer.header("www-authenticate"), none.header("www-authenticate"));
    }
    app.get(&right, "/me").await.is(200);
}

async fn a_key_anywhere_else_does_not_count(app: TestApp) {
    let key = app.key(ALL).await.key;
    for path in [format!("/me?key={key}"), format!("/me?access_token={key}")] {
        app.send(request("GET", &path, None, Body::empty())).await.is(401);
    }
    for name in ["x-api-key", "cookie", "proxy-authorization"] {
        let asks = request("GET", "/me", None, Body::empty());
        app.send(with_header(asks, name, &format!("Bearer {key}"))).await.is(401);
    }
}

async fn the_case_of_bearer_does_not_matter(app: TestApp) {
    let key = app.key(ALL).await.key;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        app.send(authorized(&format!("{scheme} {key}"))).await.is(200);
    }
}

async fn a_revoked_key_ends_at_once_and_alone(app: TestApp) {
    let (gone, stays) = (app.key(ALL).await, app.key(ALL).await);
    let id = a_conversation(&app).await;
    op("add_note").ask(&app, &gone, &id).await.is(201);
    app.revoke(&gone).await;
    for op in OPS {
        assert_eq!(op.ask(&app, &gone, &id).await.status, 401, "{}", op.name);
        assert_eq!(op.ask(&app, &stays, &id).await.status, op.success, "{}", op.name);
    }
    app.revoke(&gone).await;
    app.get(&gone, "/me").await.is(401);
    let notes = app.timeline(&stays, &id, "note").await;
    assert_eq!(notes[0]["author"], "Robo");
}
