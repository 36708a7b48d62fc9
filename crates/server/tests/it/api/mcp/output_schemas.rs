//! What each tool gives, told to programs that ask for it, and held against what it does give.

use serde_json::{Value, json};

use super::{MODERN, modern, names, tools_of};
use crate::api::schema::problems;
use crate::api::{ALL, OPS, SENDING, a_conversation};
use crate::support::{Answer, TestApp, TestKey, on_both};

on_both!(nobody_is_told_output_schemas_unasked, every_result_fits_the_schema_of_its_tool);

/// Asks as a program does that reads what each tool gives.
async fn ask_described(app: &TestApp, key: &TestKey, method: &str, params: Value) -> Answer {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut request = axum::http::Request::builder()
        .method("POST")
        .uri(server::api::mcp::PATH)
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", method)
        .header("authorization", format!("Bearer {}", key.key))
        .header("mailroom-structured-content", "described")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if method == "tools/call" {
        request = request.header("mcp-name", &name);
    }
    let body = modern(method, params).to_string();
    app.send(request.body(axum::body::Body::from(body)).unwrap()).await
}

async fn nobody_is_told_output_schemas_unasked(app: TestApp) {
    let key = app.key(ALL).await;
    for tool in tools_of(&app, &key).await {
        assert_eq!(tool.get("outputSchema"), None, "{}", tool["name"]);
    }
}

async fn every_result_fits_the_schema_of_its_tool(app: TestApp) {
    let key = app.key(ALL).await;
    let listed = ask_described(&app, &key, "tools/list", json!({})).await.is(200).json();
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert_eq!(names(&tools), names(&tools_of(&app, &key).await));
    let conversation = a_conversation(&app).await;
    let message = app.draft(&key, &conversation, "It left.").await;
    for op in OPS.iter().chain(SENDING) {
        let id = if op.is_of_message() { &message } else { &conversation };
        let mut arguments = if op.method == "GET" { json!({}) } else { op.json() };
        if op.has_id() {
            arguments["id"] = json!(id);
        }
        let call = json!({ "name": op.tool(), "arguments": arguments });
        let answer = ask_described(&app, &key, "tools/call", call).await.is(200).json();
        let structured = answer["result"]["structuredContent"].clone();
        assert!(structured.is_object(), "{}: {answer}", op.name);
        let tool = tools.iter().find(|tool| tool["name"] == op.tool()).expect(op.name);
        let document = &tool["outputSchema"];
        assert_eq!(document["type"], "object", "{}", op.name);
        let mut schema = document.clone();
        schema.as_object_mut().unwrap().shift_remove("$defs");
        let found = problems(document, &schema, &structured);
        assert!(found.is_empty(), "{}: {found:?}", op.name);
    }
}
