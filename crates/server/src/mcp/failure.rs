use axum::http::StatusCode;
use inbox::Error;
use serde_json::{Value, json};

use super::era::{Era, VERSIONS};

/// A JSON-RPC error. What a tool could not do is none: it is a result that says so.
pub struct Failure {
    pub code: i32,
    pub message: String,
    pub data: Option<Box<Value>>,
}

const NOT_JSON: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const UNKNOWN_METHOD: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED_VERSION: i32 = -32022;
/// The key, its rate or its plan; the HTTP status tells which.
const REFUSED: i32 = -32000;

impl Failure {
    pub fn not_json(error: &serde_json::Error) -> Failure {
        Failure::new(NOT_JSON, format!("The body is not valid JSON ({error})."))
    }

    pub fn invalid_request(sentence: &str) -> Failure {
        Failure::new(INVALID_REQUEST, sentence.into())
    }

    pub fn unknown_method() -> Failure {
        Failure::new(UNKNOWN_METHOD, "This server has no such method: it offers tools.".into())
    }

    pub fn invalid_params(sentence: &str) -> Failure {
        Failure::new(INVALID_PARAMS, sentence.into())
    }

    pub fn header_mismatch(header: &str) -> Failure {
        let sentence = format!("The header {header} must say once what the body says.");
        Failure::new(HEADER_MISMATCH, sentence)
    }

    pub fn unsupported_version(requested: &str) -> Failure {
        let data = json!({ "supported": VERSIONS, "requested": requested });
        let sentence = "This version of the protocol is not served.".into();
        Failure { data: Some(Box::new(data)), ..Failure::new(UNSUPPORTED_VERSION, sentence) }
    }

    pub fn refused(error: &Error) -> Failure {
        Failure::new(REFUSED, error.to_string())
    }

    fn new(code: i32, message: String) -> Failure {
        Failure { code, message, data: None }
    }

    /// In the legacy era a request that can be read is answered 200, whatever the answer is.
    pub fn status(&self, era: Era) -> StatusCode {
        match (era, self.code) {
            (Era::Legacy, UNKNOWN_METHOD | INVALID_PARAMS) => StatusCode::OK,
            (Era::Modern, UNKNOWN_METHOD) => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}
