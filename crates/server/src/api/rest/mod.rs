//! REST: HTTP in, a call to an operation, HTTP out. The routes are the operation table.

mod route;

use std::sync::Arc;

use actions::documents::files::StoredFile;
use api::calls::ApiCall;
use api::fields::{check_body, check_query, one_problem};
use api::idempotency::IdempotencyKey;
use api::operations::{self, FileOutput, ListCount, Operation, OperationOutput};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderName, Method, Request, Response, StatusCode, header};
use base::error::Error;
use base::rate_limit::RateStatus;
use serde_json::{Map, Value};
use transport::http::download::disposition;

use crate::api::http::{
    ApiContext, ApiResponse, TOTAL_AT_LEAST, TOTAL_COUNT, UnreadBody, bearer, body_sentence,
};
use crate::api::openapi;
use route::Route;

pub use crate::api::http::PREFIX;
pub use crate::api::openapi::document as openapi_document;

/// Everything that REST responds with.
struct RestServer {
    context: ApiContext,
    openapi: Bytes,
}

/// Serves the operations below [`PREFIX`], and 404 as JSON everywhere else.
pub fn router(context: ApiContext) -> Router {
    let openapi = Bytes::from(openapi::document().to_string());
    Router::new().fallback(handle).with_state(Arc::new(RestServer { context, openapi }))
}

async fn handle(State(server): State<Arc<RestServer>>, request: Request<Body>) -> Response<Body> {
    let route = route::shape(request.uri().path());
    server.context.respond(route, request, |request| answer(&server, request)).await
}

async fn answer(server: &RestServer, request: Request<Body>) -> ApiResponse {
    let RestServer { context, openapi } = server;
    let path = request.uri().path();
    let Some(inside) = path.strip_prefix(PREFIX).filter(|rest| rest.starts_with('/')) else {
        return context.refuse(StatusCode::NOT_FOUND, "There is nothing at this address.");
    };
    let is_head = request.method() == Method::HEAD;
    let method = if is_head { &Method::GET } else { request.method() };
    match route::find(inside, method) {
        Route::Nothing => {
            context.refuse(StatusCode::NOT_FOUND, "There is nothing at this address.")
        }
        Route::Other { allow } => {
            let sentence = format!("This address takes {allow}.");
            let mut reply = context.refuse(StatusCode::METHOD_NOT_ALLOWED, &sentence);
            reply.extra.push((header::ALLOW, allow));
            reply
        }
        Route::Specification => context.ok(StatusCode::OK, openapi.clone()),
        Route::Operation { operation, id } => run(context, operation, id, request).await,
    }
}

/// 401 comes before a body is waited for. The call checks the key once more, in its transaction.
async fn run(
    context: &ApiContext,
    operation: &'static Operation,
    id: Option<String>,
    request: Request<Body>,
) -> ApiResponse {
    let Some(key) = bearer(&request) else {
        return context.refuse_error(&Error::Unauthorized, context.app.limiter.full_status());
    };
    let idempotency_key = idempotency_key(operation, &request);
    let query = request.uri().query().unwrap_or("").to_owned();
    let (raw, input) = match operation.method {
        operations::Method::Get => {
            let pairs: Vec<(String, String)> =
                url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            (Value::Null, check_query(operation.fields, &pairs))
        }
        operations::Method::Delete => (Value::Null, Ok(Map::new())),
        operations::Method::Post => match context.read_body(key, request).await {
            Ok(bytes) => parse_body(operation, &with_since(operation, &query, bytes)),
            Err(UnreadBody::Body(status)) => return context.refuse(status, &body_sentence(status)),
            Err(UnreadBody::Key(error)) => {
                return context.refuse_error(&error, context.app.limiter.full_status());
            }
        },
    };
    let (input, idempotency_key) = match idempotency_key {
        Ok(key) => (input, key),
        Err(problems) => (Err(input.err().unwrap_or_default().and(problems)), None),
    };
    let call = ApiCall { operation, key, id, raw, input, idempotency_key };
    finish_call(context, operation, call, &query).await
}

/// The body of an operation that takes `since` in the address, too.
fn with_since(operation: &Operation, query: &str, body: Bytes) -> Bytes {
    if operation.name != "undo_agent" || !body.iter().all(u8::is_ascii_whitespace) {
        return body;
    }
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    match pairs.find(|(name, _)| name == "since") {
        Some((name, since)) => serde_json::json!({ name: since }).to_string().into(),
        None => body,
    }
}

async fn finish_call(
    context: &ApiContext,
    operation: &'static Operation,
    call: ApiCall,
    query: &str,
) -> ApiResponse {
    let (result, rate) = context.call(call).await;
    match result {
        Ok(OperationOutput { file: Some(FileOutput::Download(file)), .. }) => download(file, rate),
        Ok(answer) => {
            let status = StatusCode::from_u16(operation.success).unwrap_or(StatusCode::OK);
            let link = answer.next.map(|cursor| {
                let url = next_url(context, operation, query, &cursor);
                (header::LINK, format!("<{url}>; rel=\"next\""))
            });
            let count = answer.count.map(|count| (count_header(count), count.n.to_string()));
            ApiResponse {
                status,
                body: answer.body.into(),
                rate,
                extra: link.into_iter().chain(count).collect(),
            }
        }
        Err(error) => context.refuse_error(&error, rate),
    }
}

/// The header that says how long a list is.
fn count_header(count: ListCount) -> HeaderName {
    if count.is_exact { TOTAL_COUNT } else { TOTAL_AT_LEAST }
}

/// A file, which no browser shows or runs.
fn download(file: StoredFile, rate: RateStatus) -> ApiResponse {
    let extra = vec![
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, disposition("attachment", &file.filename)),
    ];
    ApiResponse { status: StatusCode::OK, body: file.bytes.into(), rate, extra }
}

/// The same request, going on where this answer ends.
fn next_url(context: &ApiContext, operation: &Operation, query: &str, cursor: &str) -> String {
    let kept = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "cursor");
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .append_pair("cursor", cursor)
        .finish();
    format!("{}{PREFIX}{}?{query}", context.own_origin, operation.path)
}

fn idempotency_key(
    operation: &Operation,
    request: &Request<Body>,
) -> Result<Option<IdempotencyKey>, base::error::ValidationErrors> {
    let Some(value) = request.headers().get("idempotency-key") else { return Ok(None) };
    if !operation.takes_idempotency_key() {
        return Ok(None);
    }
    let key = value.to_str().ok().and_then(IdempotencyKey::parse);
    key.map(Some).ok_or_else(|| one_problem("Idempotency-Key", IdempotencyKey::RULE))
}

type Input = Result<Map<String, Value>, base::error::ValidationErrors>;

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
            let sentence = if bytes.is_empty() {
                "is required".into()
            } else {
                format!("is not valid JSON ({error})")
            };
            (Value::Null, Err(one_problem("body", &sentence)))
        }
    }
}
