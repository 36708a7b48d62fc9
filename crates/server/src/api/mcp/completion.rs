//! Completion: what somebody may mean who begins to type an argument of a prompt or the variable of an address.
//! Ids are found by the operations that list what they name, so a key is offered what it sees elsewhere.

use api::operations::{OPERATIONS, OperationOutput};
use base::error::Error;
use base::limits::{COMPLETIONS, QUERY_CHARS};
use base::security::api_key::KeyHash;
use base::security::scopes::Scopes;
use serde_json::{Map, Value, json};

use super::arguments::ArgumentKind;
use super::call::call_by_name;
use super::json_rpc_error::JsonRpcError;
use super::{ApiResponse, Asked, McpServer, prompts, resources, with_key, with_operation};

/// `completion/complete`.
pub async fn complete(
    server: &McpServer,
    key: KeyHash,
    asked: &Asked,
    params: &Map<String, Value>,
) -> ApiResponse {
    let (kind, typed) = match parse(params) {
        Ok(parsed) => parsed,
        Err(failure) => return with_key(server, key, asked, |_| Err(failure)).await,
    };
    let (operation, arguments) = match kind {
        ArgumentKind::Conversation => ("list_conversations", conversation_query(&typed)),
        ArgumentKind::Answer => ("search_answers", answer_query(&typed)),
        ArgumentKind::Mailbox => ("list_mailboxes", json!({})),
        ArgumentKind::Tool => {
            let answer = |scopes: &Scopes| Ok(result(&tool_names(scopes, &typed), false));
            return with_key(server, key, asked, answer).await;
        }
        ArgumentKind::Count => {
            return with_key(server, key, asked, |_| Ok(result(&[], false))).await;
        }
    };
    let call = call_by_name(operation, key, arguments);
    let answer = |output: &OperationOutput| Ok(ids(kind, &typed, output));
    let refuse = |error: &Error| JsonRpcError::invalid_params(&error.to_string());
    with_operation(server, asked, call, answer, refuse).await
}

/// What is completed, and what was typed so far.
fn parse(params: &Map<String, Value>) -> Result<(ArgumentKind, String), JsonRpcError> {
    let (Some(argument), Some(typed)) =
        (text(params, "argument", "name"), text(params, "argument", "value"))
    else {
        let sentence = "argument must have a name and a value, which are strings";
        return Err(JsonRpcError::invalid_params(sentence));
    };
    let named = |member: &str| {
        let sentence = format!("ref.{member} must be a string");
        text(params, "ref", member).ok_or_else(|| JsonRpcError::invalid_params(&sentence))
    };
    let kind = match text(params, "ref", "type") {
        Some("ref/prompt") => prompts::argument_kind(named("name")?, argument)?,
        Some("ref/resource") => resources::variable_kind(named("uri")?, argument)?,
        _ => {
            let sentence = "ref.type must be ref/prompt or ref/resource";
            return Err(JsonRpcError::invalid_params(sentence));
        }
    };
    Ok((kind, typed.trim().chars().take(QUERY_CHARS).collect()))
}

fn text<'a>(params: &'a Map<String, Value>, owner: &str, member: &str) -> Option<&'a str> {
    params.get(owner)?.get(member)?.as_str()
}

/// By words of subject, contact and text; open ones while nothing is typed.
fn conversation_query(typed: &str) -> Value {
    if typed.is_empty() {
        json!({ "view": "open", "limit": COMPLETIONS })
    } else if begins_as_id(ArgumentKind::Conversation, typed) {
        json!({ "view": "all", "limit": COMPLETIONS })
    } else {
        json!({ "view": "all", "limit": COMPLETIONS, "q": typed })
    }
}

fn answer_query(typed: &str) -> Value {
    let words = if begins_as_id(ArgumentKind::Answer, typed) { "" } else { typed };
    json!({ "limit": COMPLETIONS, "q": words })
}

fn begins_as_id(kind: ArgumentKind, typed: &str) -> bool {
    kind.id_prefix().is_some_and(|prefix| typed.starts_with(prefix))
}

/// The ids of the rows that fit. A page of answers that is full may have others behind it.
fn ids(kind: ArgumentKind, typed: &str, output: &OperationOutput) -> String {
    let rows: Vec<Value> = serde_json::from_slice(&output.body).expect("a list");
    let fitting = rows.iter().filter(|row| fits(kind, typed, row));
    let ids: Vec<&str> = fitting.filter_map(|row| row["id"].as_str()).collect();
    let is_full = kind == ArgumentKind::Answer && rows.len() >= COMPLETIONS;
    let is_cut = output.next.is_some() || is_full;
    result(&ids, is_cut)
}

/// Whether a row fits what was typed. The operation looked for words already, but not among inboxes.
fn fits(kind: ArgumentKind, typed: &str, row: &Value) -> bool {
    let member = |name: &str| row[name].as_str().unwrap_or_default();
    if kind == ArgumentKind::Mailbox {
        let names = [member("id"), member("name"), member("address")].join(" ").to_lowercase();
        return typed.to_lowercase().split_whitespace().all(|word| names.contains(word));
    }
    !begins_as_id(kind, typed) || member("id").starts_with(typed)
}

/// The tools that a key of these scopes has.
fn tool_names(scopes: &Scopes, typed: &str) -> Vec<&'static str> {
    let typed = typed.to_lowercase();
    OPERATIONS
        .iter()
        .filter(|operation| operation.scope.is_met_at_all(scopes))
        .filter_map(|operation| operation.tool.as_ref())
        .map(|tool| tool.name)
        .filter(|name| name.contains(&typed))
        .collect()
}

fn result(values: &[&str], is_cut: bool) -> String {
    let shown = &values[..values.len().min(COMPLETIONS)];
    let has_more = is_cut || shown.len() < values.len();
    format!("\"completion\":{}", json!({ "values": shown, "hasMore": has_more }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_bounded_and_says_when_there_is_more() {
        let values = vec!["x"; COMPLETIONS + 1];
        for (count, has_more) in [(0, false), (COMPLETIONS, false), (COMPLETIONS + 1, true)] {
            let body = format!("{{{}}}", result(&values[..count], false));
            let body: Value = serde_json::from_str(&body).expect("JSON");
            let completion = &body["completion"];
            let shown = completion["values"].as_array().expect("a list");
            assert_eq!(shown.len(), count.min(COMPLETIONS));
            assert_eq!(completion["hasMore"], has_more);
        }
    }

    #[test]
    fn an_inbox_is_found_by_its_name_and_address() {
        let row = json!({ "id": "mbx_1", "name": "Support", "address": "help@acme.example" });
        for typed in ["", "supp", "HELP@", "support acme", "mbx_1"] {
            assert!(fits(ArgumentKind::Mailbox, typed, &row), "{typed}");
        }
        assert!(!fits(ArgumentKind::Mailbox, "sales", &row));
    }
}
