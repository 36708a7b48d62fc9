//! Calls of the API in a test: straight to the operation, or however the crate above makes them.

use api::calls::ApiCall;
use api::fields::{check_body, check_query};
use api::operations::{Method, OPERATIONS, Operation};
use api::wire::ErrorBody;
use base::app::App;
use base::error::Error;
use base::ids::AgentId;
use base::security::api_key::KeyHash;
use http::HeaderMap;
use jobs::BoxFuture;
use serde_json::Value;
use url::form_urlencoded;

/// A key, and the agent it acts as.
#[derive(Clone)]
pub struct TestKey {
    pub id: AgentId,
    pub key: String,
}

/// What is asked of the API.
pub struct TestCall {
    pub method: Method,
    /// Path and query, below the prefix.
    pub path: String,
    pub key: String,
    pub body: Value,
}

/// What came back.
pub struct Answer {
    pub status: u16,
    /// None, where the call did not go over HTTP.
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    /// The path and query of the next page.
    pub next: Option<String>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("not JSON: {:?}", String::from_utf8_lossy(&self.bytes)))
    }

    /// The sentence of an error, which is all that an error's body holds.
    pub fn error(&self) -> String {
        let json = self.json();
        assert_eq!(json.as_object().map(|o| o.len()), Some(1), "{json}");
        json["error"].as_str().expect("a sentence").to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Insists on a status; a surprise shows the body.
    pub fn is(self, status: u16) -> Answer {
        let body = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status, status, "{body}");
        self
    }

    /// Every header but those that differ by request, in order.
    pub fn header_list(&self) -> Vec<(String, String)> {
        let pairs = self.headers.iter().filter(|(name, _)| *name != "x-request-id");
        pairs.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    /// The path and query of the next page.
    pub fn next(&self) -> Option<String> {
        self.next.clone()
    }
}

/// How a test calls the API.
pub trait ApiClient: Send + Sync {
    fn call<'a>(&'a self, app: &'a App, call: TestCall) -> BoxFuture<'a, Answer>;
}

/// Finds the operation in the table and calls it, with the checks that every call goes through.
pub struct DirectClient;

impl ApiClient for DirectClient {
    fn call<'a>(&'a self, app: &'a App, call: TestCall) -> BoxFuture<'a, Answer> {
        Box::pin(call_operation(app, call))
    }
}

async fn call_operation(app: &App, call: TestCall) -> Answer {
    let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
    let (operation, id) = operation_at(call.method, path);
    let Some(key) = KeyHash::of(&call.key) else { return refusal(&Error::Unauthorized) };
    let input = match call.method {
        Method::Get => {
            let pairs: Vec<(String, String)> =
                form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            check_query(operation.fields, &pairs)
        }
        Method::Delete => Ok(serde_json::Map::new()),
        Method::Post => check_body(operation.fields, &call.body),
    };
    let call = ApiCall { operation, key, id, raw: call.body, input, idempotency_key: None };
    match api::calls::call(app, call).await.0 {
        Ok(output) => Answer {
            status: operation.success,
            headers: HeaderMap::new(),
            bytes: output.body,
            next: output.next.map(|cursor| next_page(path, query, &cursor)),
        },
        Err(error) => refusal(&error),
    }
}

fn operation_at(method: Method, path: &str) -> (&'static Operation, Option<String>) {
    OPERATIONS
        .iter()
        .filter(|operation| operation.method == method)
        .find_map(|operation| Some((operation, operation.match_path(path)?)))
        .unwrap_or_else(|| panic!("no operation is at {} {path}", method.name()))
}

fn next_page(path: &str, query: &str, cursor: &str) -> String {
    let kept = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "cursor");
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .append_pair("cursor", cursor)
        .finish();
    format!("{path}?{query}")
}

/// The status codes of API section 7.
fn refusal(error: &Error) -> Answer {
    let status = match error {
        Error::Invalid(_) => 400,
        Error::Unauthorized => 401,
        Error::Forbidden(_)
        | Error::Lacks { .. }
        | Error::PolicyRefused { .. }
        | Error::AgentPaused
        | Error::Suspended { .. }
        | Error::LimitReached(_) => 403,
        Error::NotFound(_) => 404,
        Error::Conflict(_) => 409,
        Error::KeyReused => 422,
        Error::TooMany(_) | Error::Throttled { .. } => 429,
        Error::ClosedForNow => 503,
        Error::Store(_) | Error::Files(_) | Error::LostFile => 500,
    };
    let body = ErrorBody::from(error);
    let bytes = serde_json::to_vec(&body).unwrap();
    Answer { status, headers: HeaderMap::new(), bytes, next: None }
}
