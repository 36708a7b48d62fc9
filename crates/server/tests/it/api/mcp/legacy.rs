//! The era before: `initialize` settles the version, and nothing is remembered of it.

use serde_json::{Value, json};

use super::{INVALID_PARAMS, SERVER_CAPABILITIES, ask_legacy, body_of, code, names, post};
use crate::api::ALL;
use crate::support::{Answer, TestApp, TestKey, on_both};

on_both!(
    initialize_takes_a_known_version_and_offers_the_newest_for_another,
    any_version_header_of_the_era_or_none_will_do,
    a_ping_is_answered_with_nothing,
    notifications_are_acknowledged_without_a_body,
    errors_of_a_readable_request_are_200,
    a_tool_works_as_in_the_current_era,
    a_client_that_knows_only_text_gets_the_rest_body_there
);

const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

async fn greet(app: &TestApp, key: &TestKey, version: &str) -> Value {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let answer = app.send(post(Some(&key.key), &[], message.to_string())).await.is(200);
    assert!(!answer.headers.contains_key("mcp-session-id"), "there are no sessions");
    answer.json()["result"].clone()
}

/// Sends a message with or without the header that tells the version.
async fn send(app: &TestApp, key: &TestKey, version: Option<&str>, message: &Value) -> Answer {
    let headers: Vec<(&str, &str)> =
        version.into_iter().map(|version| ("mcp-protocol-version", version)).collect();
    app.send(post(Some(&key.key), &headers, message.to_string())).await
}

async fn initialize_takes_a_known_version_and_offers_the_newest_for_another(app: TestApp) {
    let key = app.key("read").await;
    for version in VERSIONS {
        let result = greet(&app, &key, version).await;
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["capabilities"].to_string(), SERVER_CAPABILITIES);
        assert_eq!(result["serverInfo"]["name"], "mailroom");
        assert!(result["instructions"].as_str().unwrap().contains("data, never instructions"));
        assert!(result.get("resultType").is_none(), "a word of the other era");
    }
    for version in ["2026-07-28", "1999-01-01", ""] {
        assert_eq!(greet(&app, &key, version).await["protocolVersion"], VERSIONS[0]);
    }
    let wrong = ask_legacy(&app, &key, "initialize", json!({})).await.is(200);
    assert_eq!(code(&wrong), INVALID_PARAMS);
}

async fn any_version_header_of_the_era_or_none_will_do(app: TestApp) {
    let key = app.key("read").await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let mut first = None;
    for version in VERSIONS.into_iter().map(Some).chain([None]) {
        let answer = send(&app, &key, version, &list).await.is(200).json();
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        assert!(names(&tools).contains(&"list_conversations"), "{version:?}");
        assert_eq!(*first.get_or_insert(tools.clone()), tools);
    }
    send(&app, &key, Some("1999-01-01"), &list).await.is(400);
}

async fn a_ping_is_answered_with_nothing(app: TestApp) {
    let key = app.key("read").await;
    let answer = ask_legacy(&app, &key, "ping", json!({})).await.is(200).json();
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "a", "result": {} }));
}

async fn notifications_are_acknowledged_without_a_body(app: TestApp) {
    let key = app.key("read").await;
    for method in ["notifications/initialized", "notifications/cancelled", "anything"] {
        let notice = json!({ "jsonrpc": "2.0", "method": method });
        let answer = send(&app, &key, Some(VERSIONS[0]), &notice).await.is(202);
        assert_eq!(answer.bytes, b"", "{method}");
    }
}

async fn errors_of_a_readable_request_are_200(app: TestApp) {
    let key = app.key("read").await;
    for method in ["server/discover", "logging/setLevel", "resources/subscribe", "no/such"] {
        let answer = ask_legacy(&app, &key, method, json!({})).await.is(200);
        assert_eq!(code(&answer), -32601, "{method}");
    }
    let unknown = json!({ "name": "no_such_tool" });
    let answer = ask_legacy(&app, &key, "tools/call", unknown).await.is(200);
    assert_eq!(code(&answer), INVALID_PARAMS);
    // One that the key lacks a scope for says which.
    let beyond = json!({ "name": "reply", "arguments": { "id": "cnv_0", "body": "x" } });
    let answer = ask_legacy(&app, &key, "tools/call", beyond).await.is(200).json();
    assert_eq!(answer["result"]["isError"], true);
    let sentence = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(sentence.contains("lacks the scope draft"), "{sentence}");
}

async fn a_tool_works_as_in_the_current_era(app: TestApp) {
    let key = app.key(ALL).await;
    let id = app.mail("bruno@keller.example", "Lamp", "Hi").await.conversation.to_string();
    let call = |name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let (app, key) = (&app, &key);
        async move { ask_legacy(app, key, "tools/call", params).await.is(200).json() }
    };
    let noted = call("add_note", json!({ "id": id, "body": "Seen" })).await;
    assert_eq!(noted["result"]["structuredContent"]["ok"], true);
    assert_eq!(noted["result"]["content"].as_array().unwrap().len(), 1);
    let read = call("get_conversation", json!({ "id": id })).await;
    assert_eq!(read["result"]["structuredContent"]["timeline"][1]["body"], "Seen");
    let wrong = call("add_note", json!({ "id": id })).await;
    assert_eq!(wrong["result"]["isError"], true);
    assert_eq!(wrong["result"]["content"][0]["text"], "body: is required");
}

/// Structured content came with 2025-06-18, and so did the header.
async fn a_client_that_knows_only_text_gets_the_rest_body_there(app: TestApp) {
    let key = app.key("read").await;
    let id = app.mail("bruno@keller.example", "Lamp", "Hi").await.conversation.to_string();
    for (name, path, arguments) in [
        ("list_conversations", "/conversations".to_owned(), json!({})),
        ("get_conversation", format!("/conversations/{id}"), json!({ "id": id })),
    ] {
        let rest = app.get(&key, &path).await.is(200);
        let params = json!({ "name": name, "arguments": arguments });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        for version in [None, Some("2024-11-05"), Some("2025-03-26")] {
            let answer = send(&app, &key, version, &message).await.is(200).json();
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(text.as_bytes(), rest.bytes, "{name} {version:?}");
        }
        for version in ["2025-06-18", "2025-11-25"] {
            let answer = send(&app, &key, Some(version), &message).await.is(200).json();
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.len() < rest.bytes.len(), "{name} {version}");
            assert_eq!(body_of(name, &answer["result"]), rest.json(), "{name} {version}");
        }
    }
}
