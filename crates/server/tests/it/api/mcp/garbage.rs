//! Whatever is thrown at the door, it answers: a result, or what is wrong and nothing done.

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MODERN, modern, post};
use crate::api::garbage::{mutated, operation, text, throw, value};
use crate::api::{ALL, a_conversation, rows};
use crate::support::{Answer, TestApp, TestKey, on_both};

on_both!(no_arguments_are_a_failure_or_half_done, no_message_is_a_failure);

/// A call of a tool with the example's arguments, some of them changed.
fn tool_call() -> impl Strategy<Value = Value> {
    let id = prop_oneof![4 => Just(None), 1 => value().prop_map(Some)];
    let word = prop_oneof![2 => Just(None), 1 => value().prop_map(Some)];
    (operation(true), id, word).prop_flat_map(|(operation, id, word)| {
        mutated(operation).prop_map(move |mut arguments| {
            if let Value::Object(arguments) = &mut arguments {
                arguments.insert("id".into(), id.clone().unwrap_or_else(|| json!("HERE")));
                arguments.extend(word.clone().map(|word| ("idempotencyKey".to_owned(), word)));
            }
            let params = json!({ "name": operation, "arguments": arguments });
            json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
        })
    })
}

/// A message in which some part is anything.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec!["jsonrpc", "id", "method", "params"]);
    let changed = (part, value(), any::<bool>()).prop_map(|(part, value, is_modern)| {
        let mut message = match is_modern {
            true => modern("tools/list", json!({})),
            false => json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" }),
        };
        message[part] = value;
        message
    });
    let meta = (text(), value()).prop_map(|(name, value)| {
        let mut message = modern("server/discover", json!({}));
        message["params"]["_meta"][name] = value;
        message
    });
    prop_oneof![
        3 => prop_oneof![changed, meta, value()].prop_map(|body| body.to_string().into_bytes()),
        1 => vec(any::<u8>(), 0..200),
    ]
}

/// True for a success, false for a refusal that says why; anything else is wrong.
fn succeeded(answer: &Answer) -> Result<bool, String> {
    if answer.status == 202 {
        return Ok(true);
    }
    let body: Value = serde_json::from_slice(&answer.bytes).map_err(|error| error.to_string())?;
    let is_sentence = |text: &Value| text.as_str().is_some_and(|text| !text.is_empty());
    match (answer.status, &body["result"], &body["error"]) {
        (200, result, Value::Null) => match result["isError"] == true {
            true if is_sentence(&result["content"][0]["text"]) => Ok(false),
            true => Err(format!("no sentence in {body}")),
            false => Ok(true),
        },
        (200 | 400 | 404, Value::Null, error) if is_sentence(&error["message"]) => Ok(false),
        (status, ..) => Err(format!("{status} {body}")),
    }
}

async fn answers(
    app: &TestApp,
    key: &TestKey,
    id: &str,
    asked: Request<Body>,
) -> Result<(), String> {
    let state = async || (rows(app).await, app.read(key, &id).await);
    let before = state().await;
    let answer = app.send(asked).await;
    if !succeeded(&answer)? && state().await != before {
        return Err(format!("{} and something was done", answer.status));
    }
    Ok(())
}

async fn no_arguments_are_a_failure_or_half_done(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    throw(tool_call(), async |call| {
        let body = call.to_string().replace("\"HERE\"", &format!("\"{id}\""));
        answers(&app, &key, &id, post(Some(&key.key), &[], body)).await
    })
    .await;
}

async fn no_message_is_a_failure(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let headers = prop::sample::select(vec![None, Some(MODERN), Some("2025-06-18"), Some("x")]);
    throw((message(), headers), async |(body, version)| {
        let mut asked = post(Some(&key.key), &[("mcp-method", "tools/list")], body);
        if let Some(version) = version {
            let version = HeaderValue::from_static(version);
            asked.headers_mut().insert("mcp-protocol-version", version);
        }
        answers(&app, &key, &id, asked).await
    })
    .await;
}
