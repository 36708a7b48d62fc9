//! JSON-RPC errors.

use axum::http::StatusCode;
use base::error::Error;
use serde_json::{Value, json};

use super::protocol_version::{ProtocolVersion, VERSIONS};

/// A JSON-RPC error. What a tool could not do is none: it is a result that says so.
pub struct JsonRpcError {
    pub code: i32,
    pub message: String,
    pub data: Option<Box<Value>>,
}

const NOT_JSON: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const UNKNOWN_METHOD: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
/// In the legacy era; in the modern one nothing at an address is a wrong parameter.
const RESOURCE_NOT_FOUND: i32 = -32002;
const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED_VERSION: i32 = -32022;
/// The key, its rate or its plan; the HTTP status tells which.
const REFUSED: i32 = -32000;

impl JsonRpcError {
    pub fn not_json(error: &serde_json::Error) -> JsonRpcError {
        JsonRpcError::new(NOT_JSON, format!("The body is not valid JSON ({error})."))
    }

    pub fn invalid_request(sentence: &str) -> JsonRpcError {
        JsonRpcError::new(INVALID_REQUEST, sentence.into())
    }

    pub fn unknown_method() -> JsonRpcError {
        let sentence =
            "This server has no such method: it offers tools, resources, prompts and completion.";
        JsonRpcError::new(UNKNOWN_METHOD, sentence.into())
    }

    pub fn invalid_params(sentence: &str) -> JsonRpcError {
        JsonRpcError::new(INVALID_PARAMS, sentence.into())
    }

    /// Nothing is at an address, or nothing that the key can see.
    pub fn resource_not_found(version: ProtocolVersion, uri: &str, sentence: &str) -> JsonRpcError {
        let code = match version {
            ProtocolVersion::Modern => INVALID_PARAMS,
            ProtocolVersion::Legacy => RESOURCE_NOT_FOUND,
        };
        let data = Some(Box::new(json!({ "uri": uri })));
        JsonRpcError { data, ..JsonRpcError::new(code, sentence.into()) }
    }

    pub fn header_mismatch(header: &str) -> JsonRpcError {
        let sentence = format!("The header {header} must say once what the body says.");
        JsonRpcError::new(HEADER_MISMATCH, sentence)
    }

    pub fn unsupported_version(requested: &str) -> JsonRpcError {
        let data = json!({ "supported": VERSIONS, "requested": requested });
        let sentence = "This version of the protocol is not served.".into();
        JsonRpcError {
            data: Some(Box::new(data)),
            ..JsonRpcError::new(UNSUPPORTED_VERSION, sentence)
        }
    }

    pub fn from_error(error: &Error) -> JsonRpcError {
        JsonRpcError::new(REFUSED, error.to_string())
    }

    fn new(code: i32, message: String) -> JsonRpcError {
        JsonRpcError { code, message, data: None }
    }

    /// In the legacy era a request that can be read is answered 200, whatever the answer is.
    pub fn status(&self, version: ProtocolVersion) -> StatusCode {
        match (version, self.code) {
            (ProtocolVersion::Legacy, UNKNOWN_METHOD | INVALID_PARAMS | RESOURCE_NOT_FOUND) => {
                StatusCode::OK
            }
            (ProtocolVersion::Modern, UNKNOWN_METHOD) => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}
