//! The REST door: HTTP in, a call to an operation, HTTP out. Its routes are the operation table.
//! What every request has to pass, its origin and its key, and what every answer carries are
//! settled here for the MCP door as well.

mod headers;
mod route;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use inbox::api::fields::{check_body, check_query, one_problem};
use inbox::api::idempotency::IdempotencyKey;
use inbox::api::operations::{self, Operation};
use inbox::api::wire::ErrorBody;
use inbox::base::api_key::KeyHash;
use inbox::{ApiCall, App, Error, RateStatus};
use metrics::{counter, histogram};
use serde_json::{Map, Value};

pub use crate::api::openapi::document as openapi_document;
use route::Route;

use crate::api::openapi;

use crate::api::mcp::{self, ToolSet};
use crate::http::request_body::{LARGE_BODIES_EACH, RequestBody};
use crate::http::slots::{SlotOwner, Slots};

/// Where the API lives.
pub const PREFIX: &str = "/api/v1";
/// The largest request body, in bytes.
const BODY_BYTES: usize = 1024 * 1024;
/// A request's body must have arrived by then.
const BODY_TIME: Duration = Duration::from_secs(30);

/// What the door needs beside the app.
pub struct ApiServer {
    pub(crate) app: App,
    /// The two origins a browser may call from: the service's own and the developer site's.
    own_origin: String,
    developer_site: Option<String>,
    openapi: Bytes,
    pub(crate) tools: ToolSet,
    /// Bodies of some size that are being read.
    large_bodies: Arc<Slots>,
}

impl ApiServer {
    pub fn new(
        app: App,
        developer_site: Option<String>,
        large_bodies: Arc<Slots>,
    ) -> Arc<ApiServer> {
        let own_origin = app.public_url.to_string();
        let openapi = Bytes::from(openapi::document().to_string());
        let tools = ToolSet::new();
        Arc::new(ApiServer { app, own_origin, developer_site, openapi, tools, large_bodies })
    }
}

pub fn router(server: Arc<ApiServer>) -> Router {
    Router::new().fallback(handle).with_state(server)
}

/// An answer before its headers.
pub(crate) struct ApiResponse {
    pub status: StatusCode,
    pub body: Bytes,
    pub rate: RateStatus,
    pub extra: Vec<(header::HeaderName, String)>,
}

async fn handle(State(server): State<Arc<ApiServer>>, request: Request<Body>) -> Response<Body> {
    let started = Instant::now();
    let id = server.app.ids.token(20);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let origin = headers::Origin::of(&server, request.headers());
    let reply = match origin {
        headers::Origin::Foreign => refuse(
            &server,
            StatusCode::FORBIDDEN,
            "Browsers may call this API from the service's own developer site only.",
        ),
        _ if headers::is_preflight(&request) => headers::preflight(&server, &origin),
        _ => answer(&server, request).await,
    };
    let route = route::shape(&path);
    counter!("mailroom_requests_total", "route" => route, "status" => reply.status.as_u16().to_string())
        .increment(1);
    histogram!("mailroom_request_seconds", "route" => route).record(started.elapsed());
    tracing::info!(
        request = id,
        %method,
        route,
        status = reply.status.as_u16(),
        micros = started.elapsed().as_micros() as u64,
        "request"
    );
    headers::finish(reply, &id, &origin)
}

async fn answer(server: &ApiServer, request: Request<Body>) -> ApiResponse {
    let path = request.uri().path();
    if path == mcp::PATH {
        return mcp::answer(server, request).await;
    }
    let Some(inside) = path.strip_prefix(PREFIX).filter(|rest| rest.starts_with('/')) else {
        return refuse(server, StatusCode::NOT_FOUND, "There is nothing at this address.");
    };
    let is_head = request.method() == Method::HEAD;
    let method = if is_head { &Method::GET } else { request.method() };
    match route::find(inside, method) {
        Route::Nothing => {
            refuse(server, StatusCode::NOT_FOUND, "There is nothing at this address.")
        }
        Route::Other { allow } => {
            let sentence = format!("This address takes {allow}.");
            let mut reply = refuse(server, StatusCode::METHOD_NOT_ALLOWED, &sentence);
            reply.extra.push((header::ALLOW, allow));
            reply
        }
        Route::Specification => ok(server, StatusCode::OK, server.openapi.clone()),
        Route::Operation { operation, id } => run(server, operation, id, request).await,
    }
}

/// 401 comes before a body is waited for. The call checks the key once more, in its transaction.
async fn run(
    server: &ApiServer,
    operation: &'static Operation,
    id: Option<String>,
    request: Request<Body>,
) -> ApiResponse {
    let Some(key) = bearer(&request) else {
        return refuse_error(server, &Error::Unauthorized, server.app.limiter.untouched());
    };
    let idempotency_key = idempotency_key(operation, &request);
    let query = request.uri().query().unwrap_or("").to_owned();
    let (raw, input) = match operation.method {
        operations::Method::Get => {
            let pairs: Vec<(String, String)> =
                url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            (Value::Null, check_query(operation.fields, &pairs))
        }
        operations::Method::Post => match read_body(server, key, request).await {
            Ok(bytes) => parse_body(operation, &bytes),
            Err(UnreadBody::Body(status)) => return refuse(server, status, body_sentence(status)),
            Err(UnreadBody::Key(error)) => {
                return refuse_error(server, &error, server.app.limiter.untouched());
            }
        },
    };
    let (input, idempotency_key) = match idempotency_key {
        Ok(key) => (input, key),
        Err(problems) => (Err(input.err().unwrap_or_default().and(problems)), None),
    };
    let call = ApiCall { operation, key, id, raw, input, idempotency_key };
    finish_call(server, operation, call, &query).await
}

async fn finish_call(
    server: &ApiServer,
    operation: &'static Operation,
    call: ApiCall,
    query: &str,
) -> ApiResponse {
    let (result, rate) = server.app.call(call).await;
    match result {
        Ok(answer) => {
            let status = StatusCode::from_u16(operation.success).unwrap_or(StatusCode::OK);
            let link = answer.next.map(|cursor| {
                let url = next_url(server, operation, query, &cursor);
                (header::LINK, format!("<{url}>; rel=\"next\""))
            });
            ApiResponse {
                status,
                body: answer.body.into(),
                rate,
                extra: link.into_iter().collect(),
            }
        }
        Err(error) => refuse_error(server, &error, rate),
    }
}

/// The same request, going on where this answer ends.
fn next_url(server: &ApiServer, operation: &Operation, query: &str, cursor: &str) -> String {
    let kept = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "cursor");
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .append_pair("cursor", cursor)
        .finish();
    format!("{}{PREFIX}{}?{query}", server.own_origin, operation.path)
}

pub(crate) fn bearer(request: &Request<Body>) -> Option<KeyHash> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| KeyHash::of(key.trim()))?
}

fn idempotency_key(
    operation: &Operation,
    request: &Request<Body>,
) -> Result<Option<IdempotencyKey>, inbox::ValidationErrors> {
    let Some(value) = request.headers().get("idempotency-key") else { return Ok(None) };
    if !operation.takes_idempotency_key() {
        return Ok(None);
    }
    let key = value.to_str().ok().and_then(IdempotencyKey::parse);
    key.map(Some).ok_or_else(|| one_problem("Idempotency-Key", IdempotencyKey::RULE))
}

/// Why a body was not read.
pub(crate) enum UnreadBody {
    /// Its sender has no key, or that could not be found out.
    Key(Error),
    Body(StatusCode),
}

/// Reads a body up to its limit. What did not come along with the head is waited for only when the
/// key is one.
pub(crate) async fn read_body(
    server: &ApiServer,
    key: KeyHash,
    request: Request<Body>,
) -> Result<Bytes, UnreadBody> {
    let (head, body) = request.into_parts();
    let mut body = RequestBody::new(&head.headers, body, BODY_BYTES, BODY_TIME);
    if let Some(whole) = body.came_along().await.map_err(UnreadBody::Body)? {
        return Ok(whole);
    }
    server.app.check_key(key).await.map_err(UnreadBody::Key)?;
    let share = [(SlotOwner::Key(key), LARGE_BODIES_EACH)];
    body.rest(&server.large_bodies, &share).await.map_err(UnreadBody::Body)
}

pub(crate) fn body_sentence(status: StatusCode) -> &'static str {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => "The body is larger than 1 MB.",
        StatusCode::REQUEST_TIMEOUT => "The body took too long to arrive.",
        _ => "body: ended before it was whole",
    }
}

type Input = Result<Map<String, Value>, inbox::ValidationErrors>;

fn parse_body(operation: &Operation, bytes: &[u8]) -> (Value, Input) {
    if bytes.is_empty() && operation.body_optional {
        return (Value::Null, Ok(Map::new()));
    }
    match serde_json::from_slice::<Value>(bytes) {
        Ok(raw) => {
            let input = check_body(operation.fields, &raw);
            (raw, input)
        }
        Err(error) => {
            let sentence = match bytes.is_empty() {
                true => "is required".into(),
                false => format!("is not valid JSON ({error})"),
            };
            (Value::Null, Err(one_problem("body", &sentence)))
        }
    }
}

fn ok(server: &ApiServer, status: StatusCode, body: Bytes) -> ApiResponse {
    ApiResponse { status, body, rate: server.app.limiter.untouched(), extra: Vec::new() }
}

pub(crate) fn refuse(server: &ApiServer, status: StatusCode, sentence: &str) -> ApiResponse {
    let body = ErrorBody { error: sentence.to_owned() };
    ok(server, status, serde_json::to_vec(&body).unwrap_or_default().into())
}

pub(crate) fn refuse_error(server: &ApiServer, error: &Error, rate: RateStatus) -> ApiResponse {
    let status = match error {
        Error::Invalid(_) => StatusCode::BAD_REQUEST,
        Error::Unauthorized => StatusCode::UNAUTHORIZED,
        Error::Forbidden(_) | Error::Lacks { .. } => StatusCode::FORBIDDEN,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
        Error::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
        Error::Store(_) | Error::Files(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    log_cause(error);
    let mut reply = refuse(server, status, &error.to_string());
    reply.rate = rate;
    if status == StatusCode::UNAUTHORIZED {
        reply.extra.push((header::WWW_AUTHENTICATE, "Bearer".into()));
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        reply.extra.push((header::RETRY_AFTER, rate.resets_in.to_string()));
    }
    reply
}

/// The caller gets a sentence, the log gets the cause.
pub(crate) fn log_cause(error: &Error) {
    match error {
        Error::Store(cause) if !cause.is_outage() => {
            tracing::error!(%cause, "an operation failed");
        }
        Error::Files(cause) => tracing::error!(%cause, "a file could not be read or written"),
        _ => {}
    }
}

/// A header value from text of our own making.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}
