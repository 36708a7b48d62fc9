//! The MCP door (API section 4.16): both eras of the protocol, and the same operations behind it.

mod completion;
mod garbage;
mod guards;
mod legacy;
mod modern;
mod originals;
mod output_schemas;
mod progress;
mod prompts;
mod resources;
mod same_as_rest;
mod scopes;
mod tools;
mod transcript;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use server::api::mcp::PATH;

use crate::support::{Answer, TestApp, TestKey, texts};

pub const MODERN: &str = "2026-07-28";
pub const INVALID_PARAMS: i64 = -32602;
/// All that the server says it can do.
pub const SERVER_CAPABILITIES: &str = r#"{"completions":{},"extensions":{"io.modelcontextprotocol/ui":{}},"prompts":{},"resources":{},"tools":{}}"#;

/// A request to the MCP server with these headers.
pub fn post(key: Option<&str>, headers: &[(&str, &str)], body: impl Into<Body>) -> Request<Body> {
    let mut request = Request::builder().method("POST").uri(PATH);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    request
        .header("mailroom-structured-content", "full")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(body.into())
        .unwrap()
}

/// A message of the current era, with all that it has to carry.
pub fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// Asks as a client of the current era does.
pub async fn ask(app: &TestApp, key: &TestKey, method: &str, params: Value) -> Answer {
    let member = if method == "resources/read" { "uri" } else { "name" };
    let name = params[member].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
    if ["tools/call", "prompts/get", "resources/read"].contains(&method) {
        headers.push(("mcp-name", &name));
    }
    app.send(post(Some(&key.key), &headers, modern(method, params).to_string())).await
}

/// Asks as a client of the era before does, once it has been greeted.
pub async fn ask_legacy(app: &TestApp, key: &TestKey, method: &str, params: Value) -> Answer {
    let message = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
    let headers = [("mcp-protocol-version", "2025-11-25")];
    app.send(post(Some(&key.key), &headers, message.to_string())).await
}

pub async fn call(app: &TestApp, key: &TestKey, tool: &str, arguments: Value) -> Answer {
    ask(app, key, "tools/call", json!({ "name": tool, "arguments": arguments })).await
}

/// The result of a method that must succeed.
pub async fn result(app: &TestApp, key: &TestKey, method: &str, params: Value) -> Value {
    ask(app, key, method, params).await.is(200).json()["result"].clone()
}

/// What each call of a key was, as its own record tells it, in alphabetical order.
pub async fn recorded(app: &TestApp, key: &TestKey) -> Vec<String> {
    app.app.background.finish().await;
    let calls = app.get(key, "/calls").await.is(200).json();
    let mut operations = texts(calls.as_array().unwrap(), "operation");
    operations.sort_unstable();
    operations
}

/// The structured result of a call that must succeed.
pub async fn done(app: &TestApp, key: &TestKey, tool: &str, arguments: Value) -> Value {
    let answer = call(app, key, tool, arguments).await.is(200).json();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    answer["result"]["structuredContent"].clone()
}

/// The REST body inside the structured content of a result.
pub fn body_of(operation: &str, result: &Value) -> Value {
    let mut structured = result["structuredContent"].clone();
    let members = structured.as_object_mut().expect("an object");
    for beside in ["warning", "ignored", "nextCursor", "count", "countAtLeast"] {
        members.shift_remove(beside);
    }
    let operation = api::operations::find_by_name(operation).expect("an operation");
    match operation.tool.as_ref().and_then(|tool| tool.list) {
        Some(list) => structured[list].take(),
        None => structured,
    }
}

/// The code of a JSON-RPC error, which has a sentence too.
pub fn code(answer: &Answer) -> i64 {
    let json = answer.json();
    assert!(json["error"]["message"].as_str().is_some_and(|text| text.len() > 10), "{json}");
    json["error"]["code"].as_i64().unwrap()
}

pub async fn tools_of(app: &TestApp, key: &TestKey) -> Vec<Value> {
    let answer = ask(app, key, "tools/list", json!({})).await.is(200).json();
    answer["result"]["tools"].as_array().unwrap().clone()
}

pub fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}
