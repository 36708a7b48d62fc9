//! The JSON around an answer. It is put together as text, because the answer inside it is JSON
//! already and a list would otherwise be read and written once more.

use std::sync::LazyLock;

use axum::body::Bytes;
use serde_json::{Value, json};

use super::Asked;
use super::json_rpc_error::JsonRpcError;
use super::protocol_version::ProtocolVersion;

/// How a client may keep the list of tools, which depends on its key: for itself, five minutes.
pub const KEPT: &str = r#""ttlMs":300000,"cacheScope":"private""#;
/// The same of what may have changed a moment later.
pub const NOT_KEPT: &str = r#""ttlMs":0,"cacheScope":"private""#;

/// Bytes of a response around its id and members, and a few more.
const FRAME_BYTES: usize = 64;

/// A successful response, whose result's members are written between [`Response::begin`] and
/// [`Response::end`] as JSON without the braces.
pub struct Response {
    pub members: Vec<u8>,
    begins: usize,
    ending: &'static str,
}

impl Response {
    /// With room for members of about so many bytes.
    pub fn begin(asked: &Asked, bytes: usize) -> Response {
        let ending = match asked.version {
            ProtocolVersion::Modern => MODERN_MEMBERS.as_str(),
            ProtocolVersion::Legacy => "",
        };
        let id = asked.id.to_string();
        let mut members = Vec::with_capacity(bytes + id.len() + ending.len() + FRAME_BYTES);
        for part in [r#"{"jsonrpc":"2.0","id":"#, &id, r#","result":{"#] {
            members.extend_from_slice(part.as_bytes());
        }
        Response { begins: members.len(), members, ending }
    }

    pub fn end(mut self) -> Bytes {
        let is_empty = self.members.len() == self.begins;
        let comma = if is_empty || self.ending.is_empty() { "" } else { "," };
        for part in [comma, self.ending, "}}"] {
            self.members.extend_from_slice(part.as_bytes());
        }
        self.members.into()
    }
}

pub fn result_body(asked: &Asked, members: &str) -> Bytes {
    let mut response = Response::begin(asked, members.len());
    response.members.extend_from_slice(members.as_bytes());
    response.end()
}

/// A result that asks the client for something, after which it sends the same request once more with the state.
pub fn input_required_body(asked: &Asked, requests: &Value, state: &str) -> Bytes {
    let meta = json!({ "io.modelcontextprotocol/serverInfo": server_info() });
    let result = json!({
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": state,
        "_meta": meta,
    });
    json!({ "jsonrpc": "2.0", "id": asked.id, "result": result }).to_string().into()
}

/// The members of a tool's result that is one sentence.
pub fn text_result_members(sentence: &str) -> String {
    let content = json!([{ "type": "text", "text": sentence }]);
    format!("\"content\":{content},\"isError\":false")
}

pub fn error_body(id: &Value, failure: &JsonRpcError) -> Bytes {
    let mut error = json!({ "code": failure.code, "message": failure.message });
    if let Some(data) = &failure.data {
        error["data"] = data.as_ref().clone();
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into()
}

pub fn server_info() -> Value {
    json!({ "name": "mailroom", "title": "Mailroom", "version": env!("CARGO_PKG_VERSION") })
}

/// What every modern result ends with.
static MODERN_MEMBERS: LazyLock<String> = LazyLock::new(|| {
    let meta = json!({ "io.modelcontextprotocol/serverInfo": server_info() });
    format!(r#""resultType":"complete","_meta":{meta}"#)
});
