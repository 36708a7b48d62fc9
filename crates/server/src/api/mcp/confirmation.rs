//! Asking the person in front of a client to confirm a message that the limits of its key made a draft. The client opens
//! the draft's page in the browser of that person, who is signed in there: what a client or its model answers approves
//! nothing. Clients that do not declare elicitation by address get the draft as a result, like before.

use ::api::operations::OperationOutput;
use axum::http::StatusCode;
use base::ids::{ConversationId, MessageId};
use base::rate_limit::RateStatus;
use base::security::api_key::KeyHash;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::call_by_name;
use super::envelope::{input_required_body, text_result_members};
use super::json_rpc_error::JsonRpcError;
use super::protocol_version::ProtocolVersion;
use super::{ApiResponse, Asked, McpServer, with_operation};

/// The one thing that is asked for.
const APPROVAL: &str = "approval";
/// Bytes of an answer in which a draft is looked for; longer ones are lists and timelines.
const DRAFT_BYTES: usize = 4_096;
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// True for a client that opens addresses for its user, as each of its requests says.
pub fn opens_addresses(version: ProtocolVersion, params: &Map<String, Value>) -> bool {
    let capabilities = params.get("_meta").and_then(|meta| meta.get(META_CAPABILITIES));
    let by_address = capabilities.and_then(|known| known.get("elicitation")?.get("url"));
    version == ProtocolVersion::Modern && by_address.is_some_and(Value::is_object)
}

/// A message that became a draft, as the answer of its call says it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MadeDraft {
    message_id: String,
    policy: PolicySentence,
}

#[derive(Deserialize)]
struct PolicySentence {
    sentence: String,
}

/// The question about a draft that the limits of a key made of a message; `None` for every other answer.
pub fn question(
    server: &McpServer,
    asked: &Asked,
    conversation: Option<&str>,
    output: &OperationOutput,
    rate: RateStatus,
) -> Option<ApiResponse> {
    if !asked.opens_addresses || output.body.len() > DRAFT_BYTES {
        return None;
    }
    let made: MadeDraft = serde_json::from_slice(&output.body).ok()?;
    let begun: Value = serde_json::from_slice(&output.body).ok()?;
    let conversation = begun["conversationId"].as_str().or(conversation)?;
    let url = format!("{}/approvals/{}", server.context.own_origin, made.message_id);
    let message = format!(
        "{} Look at the draft and decide about it in Mailroom, where you are signed in.",
        made.policy.sentence
    );
    let requests = json!({ APPROVAL: {
        "method": "elicitation/create",
        "params": { "mode": "url", "message": message, "url": url, "elicitationId": made.message_id },
    } });
    let state = format!("{conversation} {}", made.message_id);
    let body = input_required_body(asked, &requests, &state);
    Some(ApiResponse { status: StatusCode::OK, body, rate, extra: Vec::new() })
}

/// The draft that a repeated call is about, which its client was asked to confirm; the call is not made again.
pub fn draft_of_repetition(params: &Map<String, Value>) -> Option<(ConversationId, MessageId)> {
    params.get("inputResponses")?.as_object()?.get(APPROVAL)?;
    let (conversation, message) = params.get("requestState")?.as_str()?.split_once(' ')?;
    Some((ConversationId::parse(conversation)?, MessageId::parse(message)?))
}

/// What has become of a draft, as the key sees it.
pub async fn outcome(
    server: &McpServer,
    key: KeyHash,
    asked: &Asked,
    (conversation, message): (ConversationId, MessageId),
) -> ApiResponse {
    let call = call_by_name("get_conversation", key, json!({ "id": conversation.as_str() }));
    let answer = |output: &OperationOutput| {
        let read: Value = serde_json::from_slice(&output.body).expect("a conversation");
        let mut items = read["timeline"].as_array().into_iter().flatten();
        let found = items.find(|item| item["id"] == message.as_str());
        Ok(text_result_members(&outcome_sentence(&message, found)))
    };
    let gone = |_: &base::error::Error| JsonRpcError::invalid_params("requestState names no draft");
    with_operation(server, asked, call, answer, gone).await
}

fn outcome_sentence(message: &MessageId, found: Option<&Value>) -> String {
    let status = found.and_then(|item| item["status"].as_str());
    match status {
        Some("draft") => format!(
            "The draft {message} waits for a person: nothing was sent. Do not write it again."
        ),
        Some("scheduled") => {
            let at = found.and_then(|item| item["sendsAt"].as_str()).unwrap_or("soon");
            format!("A person approved {message}. It leaves at {at} unless somebody stops it.")
        }
        Some(status) => format!("A person approved {message}: it is {status}."),
        None => format!("The draft {message} was discarded, or you cannot see it any more."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_of_the_current_era_that_says_so_opens_addresses() {
        let params = |capabilities: Value| {
            let params = json!({ "_meta": { META_CAPABILITIES: capabilities } });
            params.as_object().expect("an object").clone()
        };
        let opens = params(json!({ "elicitation": { "url": {} } }));
        assert!(opens_addresses(ProtocolVersion::Modern, &opens));
        assert!(!opens_addresses(ProtocolVersion::Legacy, &opens));
        for other in
            [json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "form": {} } })]
        {
            assert!(!opens_addresses(ProtocolVersion::Modern, &params(other)));
        }
    }

    #[test]
    fn a_repetition_names_the_draft_that_it_was_asked_about() {
        let params = |state: &str| {
            let params = json!({ "requestState": state, "inputResponses": { APPROVAL: {} } });
            params.as_object().expect("an object").clone()
        };
        assert!(draft_of_repetition(&params("cnv_1 msg_1")).is_some());
        for wrong in ["", "cnv_1", "msg_1 cnv_1", "cnv_1 msg_"] {
            assert!(draft_of_repetition(&params(wrong)).is_none(), "{wrong}");
        }
        assert!(draft_of_repetition(&Map::new()).is_none());
    }
}
