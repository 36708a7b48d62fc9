//! What every request has to pass, as for REST: its origin, its key, its rate, its plan, its size.

use axum::body::Body;
use axum::http::Request;
use base::actor::Plan;
use serde_json::{Value, json};

use super::{MODERN, ask, ask_legacy, call, modern, post};
use crate::api::{ALL, rows, with_header};
use crate::support::{Answer, DEVELOPER_SITE, MINUTE, PUBLIC_URL, TestApp, TestKey, on_both};

on_both!(
    without_a_key_that_is_one_everything_is_401,
    the_rate_is_one_for_both_doors,
    on_the_free_plan_everything_is_403,
    pages_of_others_may_not_ask,
    only_post_is_taken_and_there_are_no_sessions,
    a_client_that_takes_json_is_served_and_one_that_does_not_is_told,
    a_body_over_a_megabyte_is_413_and_changes_nothing,
    other_ways_to_sign_in_are_missing_in_json,
    an_id_comes_back_as_it_was_sent
);

fn list(key: Option<&str>) -> Request<Body> {
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    post(key, &headers, modern("tools/list", json!({})).to_string())
}

fn sentence(answer: &Answer) -> String {
    answer.json()["error"]["message"].as_str().unwrap().to_owned()
}

/// One message of each kind that the server answers.
async fn each_kind(app: &TestApp, key: &TestKey) -> Vec<Answer> {
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    vec![
        ask(app, key, "server/discover", json!({})).await,
        ask(app, key, "tools/list", json!({})).await,
        ask(app, key, "no/such", json!({})).await,
        call(app, key, "list_conversations", json!({})).await,
        call(app, key, "add_note", json!({ "id": "cnv_0", "body": "x" })).await,
        call(app, key, "no_such_tool", json!({})).await,
        ask(app, key, "resources/read", json!({ "uri": "mailroom://policy" })).await,
        ask(app, key, "resources/read", json!({ "uri": "mailroom://nowhere" })).await,
        ask(app, key, "resources/list", json!({})).await,
        ask(app, key, "prompts/get", json!({ "name": "triage" })).await,
        ask_legacy(app, key, "initialize", json!({ "protocolVersion": "2025-11-25" })).await,
        ask_legacy(app, key, "ping", json!({})).await,
        app.send(post(Some(&key.key), &[], notice)).await,
        app.send(post(Some(&key.key), &[], "{")).await,
    ]
}

async fn without_a_key_that_is_one_everything_is_401(app: TestApp) {
    let gone = app.key(ALL).await;
    app.revoke(&gone).await;
    for answer in each_kind(&app, &gone).await {
        let answer = answer.is(401);
        assert!(answer.header("www-authenticate").starts_with("Bearer error=\"invalid_token\","));
        assert!(sentence(&answer).contains("valid API key"));
    }
    let guess = format!("rk_{}", "g".repeat(48));
    for key in [None, Some(""), Some("rk_live_x"), Some(guess.as_str())] {
        let answer = app.send(list(key)).await.is(401);
        assert!(answer.header("www-authenticate").starts_with("Bearer "));
        assert_eq!(answer.json()["jsonrpc"], "2.0");
    }
    let huge = Body::from(vec![b' '; 2_000_000]);
    app.send(post(None, &[], huge)).await.is(401);
}

async fn the_rate_is_one_for_both_doors(app: TestApp) {
    let key = app.key("read").await;
    let app = app.with_rate(16);
    let kinds = each_kind(&app, &key).await;
    for (answer, left) in kinds.iter().zip((0..16).rev()) {
        assert!(answer.header("ratelimit").starts_with(&format!("\"default\";r={left};")));
    }
    app.get(&key, "/me").await.is(200);
    app.get(&key, "/me").await.is(200);
    app.get(&key, "/me").await.is(429);
    for answer in each_kind(&app, &key).await {
        let answer = answer.is(429);
        assert_eq!(answer.header("retry-after"), "60");
        assert!(sentence(&answer).contains("16 a minute"), "{}", sentence(&answer));
    }
    app.advance(MINUTE);
    call(&app, &key, "list_tags", json!({})).await.is(200);
}

async fn on_the_free_plan_everything_is_403(app: TestApp) {
    let key = app.key(ALL).await;
    app.set_plan(Plan::Free).await;
    for answer in each_kind(&app, &key).await {
        assert!(sentence(&answer.is(403)).contains("Pro and Team plans"));
    }
    app.set_plan(Plan::Pro).await;
    call(&app, &key, "list_tags", json!({})).await.is(200);
}

async fn pages_of_others_may_not_ask(app: TestApp) {
    let key = app.key(ALL).await;
    for origin in ["https://evil.example", "null", "http://localhost:6274"] {
        for key in [Some(key.key.as_str()), None] {
            app.send(with_header(list(key), "origin", origin)).await.is(403).error();
        }
    }
    for origin in [PUBLIC_URL, DEVELOPER_SITE] {
        app.send(with_header(list(Some(&key.key)), "origin", origin)).await.is(200);
    }
    let mut preflight = list(None);
    *preflight.method_mut() = axum::http::Method::OPTIONS;
    let preflight = with_header(preflight, "access-control-request-method", "POST");
    let answer = app.send(with_header(preflight, "origin", DEVELOPER_SITE)).await.is(204);
    let allowed = answer.header("access-control-allow-headers").to_owned();
    for name in ["mcp-protocol-version", "mcp-method", "mcp-name", "authorization"] {
        assert!(allowed.contains(name), "{name}");
    }
}

async fn only_post_is_taken_and_there_are_no_sessions(app: TestApp) {
    let key = app.key(ALL).await;
    for method in ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"] {
        let mut request = list(Some(&key.key));
        *request.method_mut() = method.parse().unwrap();
        let answer = app.send(request).await.is(405);
        assert_eq!(answer.header("allow"), "POST", "{method}");
    }
    let with_session = with_header(list(Some(&key.key)), "mcp-session-id", "x");
    app.send(with_session).await.is(200);
}

async fn a_client_that_takes_json_is_served_and_one_that_does_not_is_told(app: TestApp) {
    let key = app.key(ALL).await;
    for accept in
        ["application/json", "*/*", "application/*;q=0.5", "text/event-stream, Application/JSON"]
    {
        app.send(with_header(list(Some(&key.key)), "accept", accept)).await.is(200);
    }
    let mut silent = list(Some(&key.key));
    silent.headers_mut().remove("accept");
    app.send(silent).await.is(200);
    for accept in ["text/event-stream", "text/html"] {
        app.send(with_header(list(Some(&key.key)), "accept", accept)).await.is(406).error();
    }
}

async fn a_body_over_a_megabyte_is_413_and_changes_nothing(app: TestApp) {
    let key = app.key(ALL).await;
    let before = rows(&app).await;
    let id = "x".repeat(1024 * 1024);
    let answer = call(&app, &key, "add_note", json!({ "id": id, "body": "x" })).await;
    assert!(answer.is(413).error().contains("1 MB"));
    assert_eq!(rows(&app).await, before);
}

async fn other_ways_to_sign_in_are_missing_in_json(app: TestApp) {
    for path in ["/.well-known/openid-configuration", "/.well-known/jwks.json", "/mcp/"] {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        app.send(request).await.is(404).error();
    }
}

async fn an_id_comes_back_as_it_was_sent(app: TestApp) {
    let key = app.key("read").await;
    for id in [json!(0), json!(-1), json!(u64::MAX), json!("é\"\\"), json!("")] {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
        let answer = app.send(post(Some(&key.key), &[], message)).await.is(200);
        assert_eq!(answer.json()["id"], id);
        assert_eq!(answer.json()["result"], Value::Object(Default::default()));
    }
}
