//! The current era: every request tells its version and what its client can do by itself.

use serde_json::{Value, json};

use super::{INVALID_PARAMS, MODERN, SERVER_CAPABILITIES, ask, call, code, modern, post};
use crate::api::{ALL, rows};
use crate::support::{Answer, TestApp, TestKey, on_both};

on_both!(
    discovery_tells_versions_capabilities_and_how_to_work_here,
    every_result_says_that_it_is_complete_and_whose_it_is,
    a_request_without_its_version_or_capabilities_is_400,
    headers_that_do_not_say_what_the_body_says_are_400,
    a_version_that_is_not_served_is_400_and_told_which_are,
    what_is_not_there_is_404,
    what_is_no_message_is_400_and_changes_nothing,
    a_call_needs_a_name_and_an_object_of_arguments,
    a_notification_is_acknowledged_without_a_body
);

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Sends a message with headers that need not fit it.
async fn send(app: &TestApp, key: &TestKey, headers: &[(&str, &str)], message: &Value) -> Answer {
    app.send(post(Some(&key.key), headers, message.to_string())).await
}

async fn discovery_tells_versions_capabilities_and_how_to_work_here(app: TestApp) {
    let key = app.key("read").await;
    let answer = ask(&app, &key, "server/discover", json!({})).await.is(200).json();
    let result = &answer["result"];
    assert_eq!(answer["id"], 7);
    assert_eq!(result["supportedVersions"][0], MODERN);
    assert_eq!(result["capabilities"].to_string(), SERVER_CAPABILITIES);
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].as_i64().unwrap() > 0);
    let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "mailroom");
    let instructions = result["instructions"].as_str().unwrap();
    for told in ["draft", "approves", "link for uploads", "contact.email", "data, never"] {
        assert!(instructions.contains(told), "{told}");
    }
    let words = ["text", "original", "subject", "snippet", "name", "filename", "fields"];
    for word in words {
        assert!(instructions.contains(word), "{word}");
    }
    assert!(instructions.lines().count() <= 11, "how to work here in ten lines");
}

async fn every_result_says_that_it_is_complete_and_whose_it_is(app: TestApp) {
    let key = app.key(ALL).await;
    let list = ask(&app, &key, "tools/list", json!({})).await.is(200).json();
    assert_eq!(list["result"]["cacheScope"], "private");
    let good = call(&app, &key, "list_tags", json!({})).await.is(200).json();
    let bad = call(&app, &key, "get_conversation", json!({})).await.is(200).json();
    assert_eq!(bad["result"]["isError"], true);
    for answer in [list, good, bad] {
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(answer["result"]["resultType"], "complete");
        assert!(answer["result"]["_meta"].is_object(), "{answer}");
    }
}

async fn a_request_without_its_version_or_capabilities_is_400(app: TestApp) {
    let key = app.key("read").await;
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    for meta in [
        json!(null),
        json!({}),
        json!({ VERSION: MODERN }),
        json!({ VERSION: MODERN, CAPABILITIES: "none" }),
        json!({ CAPABILITIES: {} }),
    ] {
        let mut message = modern("tools/list", json!({}));
        message["params"]["_meta"] = meta;
        let answer = send(&app, &key, &headers, &message).await.is(400);
        assert_eq!(code(&answer), INVALID_PARAMS);
        assert_eq!(answer.json()["id"], 7);
    }
    let bare = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" });
    assert_eq!(code(&send(&app, &key, &headers, &bare).await.is(400)), INVALID_PARAMS);
}

async fn headers_that_do_not_say_what_the_body_says_are_400(app: TestApp) {
    let key = app.key("read").await;
    let list = modern("tools/list", json!({}));
    let tags = modern("tools/call", json!({ "name": "list_tags" }));
    let policy = modern("resources/read", json!({ "uri": "mailroom://policy" }));
    let triage = modern("prompts/get", json!({ "name": "triage" }));
    let version = ("mcp-protocol-version", MODERN);
    for (message, headers) in [
        (&list, vec![("mcp-method", "tools/list")]),
        (&list, vec![("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list")]),
        (&list, vec![version, version, ("mcp-method", "tools/list")]),
        (&list, vec![version]),
        (&list, vec![version, ("mcp-method", "TOOLS/LIST")]),
        (&list, vec![version, ("mcp-method", "tools/call")]),
        (&list, vec![version, ("mcp-method", "tools/list"), ("mcp-method", "tools/list")]),
        (&tags, vec![version, ("mcp-method", "tools/call")]),
        (&tags, vec![version, ("mcp-method", "tools/call"), ("mcp-name", "reply")]),
        (&tags, vec![version, ("mcp-method", "tools/call"), ("mcp-name", "=?base64?eA==?=")]),
        (&policy, vec![version, ("mcp-method", "resources/read")]),
        (&policy, vec![version, ("mcp-method", "resources/read"), ("mcp-name", "policy")]),
        (&triage, vec![version, ("mcp-method", "prompts/get")]),
        (&triage, vec![version, ("mcp-method", "prompts/get"), ("mcp-name", "answer")]),
    ] {
        let answer = send(&app, &key, &headers, message).await;
        assert_eq!(code(&answer.is(400)), -32020, "{headers:?}");
    }
    for name in ["list_tags", "  list_tags ", "=?base64?bGlzdF90YWdz?="] {
        let headers = [version, ("mcp-method", "tools/call"), ("Mcp-Name", name)];
        send(&app, &key, &headers, &tags).await.is(200);
    }
}

async fn a_version_that_is_not_served_is_400_and_told_which_are(app: TestApp) {
    let key = app.key("read").await;
    let headers = [("mcp-protocol-version", "2030-01-01"), ("mcp-method", "tools/list")];
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"][VERSION] = json!("2030-01-01");
    let bare = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" });
    for message in [message, bare, notice] {
        let answer = send(&app, &key, &headers, &message).await.is(400);
        assert_eq!(code(&answer), -32022);
        let data = answer.json()["error"]["data"].clone();
        assert_eq!(data["requested"], "2030-01-01");
        assert_eq!(data["supported"][0], MODERN);
    }
}

async fn what_is_not_there_is_404(app: TestApp) {
    let key = app.key("read").await;
    for method in [
        "initialize",
        "ping",
        "resources/subscribe",
        "logging/setLevel",
        "subscriptions/listen",
        "tasks/list",
        "no/such",
    ] {
        let answer = ask(&app, &key, method, json!({})).await.is(404);
        assert_eq!(code(&answer), -32601, "{method}");
        assert_eq!(answer.json()["id"], 7);
    }
}

async fn what_is_no_message_is_400_and_changes_nothing(app: TestApp) {
    let key = app.key(ALL).await;
    let before = rows(&app).await;
    let one = modern("tools/list", json!({})).to_string();
    let batch = format!("[{one}]");
    let deep = "[".repeat(100_000);
    for (body, expected) in [
        ("", -32700),
        ("{", -32700),
        (&deep, -32700),
        ("\"text\"", -32600),
        (&batch, -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, INVALID_PARAMS),
    ] {
        for headers in [&[][..], &[("mcp-protocol-version", MODERN)]] {
            let request = post(Some(&key.key), headers, body.to_owned());
            let answer = app.send(request).await.is(400);
            assert_eq!(code(&answer), expected, "{}", body.chars().take(60).collect::<String>());
            assert_eq!(answer.header("content-type"), "application/json");
        }
    }
    assert_eq!(rows(&app).await, before);
}

async fn a_call_needs_a_name_and_an_object_of_arguments(app: TestApp) {
    let key = app.key(ALL).await;
    for params in [
        json!({}),
        json!({ "name": 1 }),
        json!({ "name": "no_such_tool" }),
        json!({ "name": "me" }),
        json!({ "name": "list_tags", "arguments": [] }),
        json!({ "name": "list_tags", "arguments": null }),
    ] {
        let answer = ask(&app, &key, "tools/call", params.clone()).await.is(400);
        assert_eq!(code(&answer), INVALID_PARAMS, "{params}");
    }
    ask(&app, &key, "tools/call", json!({ "name": "list_tags" })).await.is(200);
    let paged = ask(&app, &key, "tools/list", json!({ "cursor": "x" })).await.is(400);
    assert_eq!(code(&paged), INVALID_PARAMS);
}

async fn a_notification_is_acknowledged_without_a_body(app: TestApp) {
    let key = app.key("read").await;
    let headers = [("mcp-protocol-version", MODERN)];
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" });
    let answer = send(&app, &key, &headers, &notice).await.is(202);
    assert_eq!(answer.bytes, b"");
    assert!(!answer.headers.contains_key("content-type"));
}
