//! One JSON-RPC message, read from the body of a request.

use serde_json::{Map, Value};

use super::json_rpc_error::JsonRpcError;
use super::protocol_version::ProtocolVersion;
use super::routing::Routing;

pub enum JsonRpcMessage {
    Request { id: Value, version: ProtocolVersion, method: String, params: Map<String, Value> },
    Notification { method: String, params: Map<String, Value> },
}

/// An invalid message, with the id for the error response.
pub struct JsonRpcParseError {
    /// Null when it could not be made out.
    pub id: Value,
    pub failure: JsonRpcError,
}

/// Reads a message and settles its era.
pub fn parse(routing: &Routing, body: &[u8]) -> Result<JsonRpcMessage, JsonRpcParseError> {
    let nobody = |failure| JsonRpcParseError { id: Value::Null, failure };
    let message: Value =
        serde_json::from_slice(body).map_err(|error| nobody(JsonRpcError::not_json(&error)))?;
    let Value::Object(mut message) = message else {
        return Err(nobody(JsonRpcError::invalid_request(match message {
            Value::Array(_) => "send one message at a time: batches are not taken",
            _ => "the body must be a JSON-RPC message, which is an object",
        })));
    };
    let id = message.remove("id");
    if id.as_ref().is_some_and(|id| !id.is_string() && !id.is_i64() && !id.is_u64()) {
        return Err(nobody(JsonRpcError::invalid_request("id must be a string or a whole number")));
    }
    let answer_to = id.clone().unwrap_or_default();
    let wrong = |failure| JsonRpcParseError { id: answer_to, failure };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong(JsonRpcError::invalid_request("jsonrpc must be \"2.0\"")));
    }
    let Some(Value::String(method)) = message.remove("method") else {
        return Err(wrong(JsonRpcError::invalid_request(
            "method must be a string: this server asks nothing, so it expects no answers",
        )));
    };
    let Some(id) = id else {
        return match routing.check_notification() {
            Ok(()) => {
                let params = match message.remove("params") {
                    Some(Value::Object(params)) => params,
                    _ => Map::new(),
                };
                Ok(JsonRpcMessage::Notification { method, params })
            }
            Err(failure) => Err(wrong(failure)),
        };
    };
    let params = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(wrong(JsonRpcError::invalid_params("params must be an object"))),
    };
    let version = routing.version(&params);
    if version == ProtocolVersion::Modern
        && let Err(failure) = routing.check(&method, &params)
    {
        return Err(JsonRpcParseError { id, failure });
    }
    Ok(JsonRpcMessage::Request { id, version, method, params })
}
