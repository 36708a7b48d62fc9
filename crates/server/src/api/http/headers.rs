//! The headers of every response, and which origins a browser may call from.

use axum::body::{Body, Bytes};
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use base::rate_limit::RateStatus;
use transport::http::request_log::REQUEST_ID;

use super::response::ApiResponse;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// How many things a list has; and where they were not counted to the end, how many at least.
pub const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");
pub const TOTAL_AT_LEAST: HeaderName = HeaderName::from_static("x-total-at-least");
/// What a script of the developer site may read beside the body.
const EXPOSED: &str = "Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, \
                       X-Request-Id, X-Total-At-Least, X-Total-Count";
/// How long a browser may remember a preflight, in seconds.
const PREFLIGHT_SECONDS: &str = "600";

/// Where a request's page comes from.
pub enum Origin {
    /// No page, or one of this service's own.
    None,
    DeveloperSite(HeaderValue),
    Foreign,
    /// Any page, where it does not matter which.
    Any,
}

impl Origin {
    pub fn of(headers: &HeaderMap, own_origin: &str, developer_site: Option<&str>) -> Origin {
        let Some(origin) = headers.get(header::ORIGIN) else { return Origin::None };
        match origin.to_str() {
            Ok(text) if text == own_origin => Origin::None,
            Ok(text) if developer_site == Some(text) => Origin::DeveloperSite(origin.clone()),
            _ => Origin::Foreign,
        }
    }
}

pub fn is_preflight(request: &Request<Body>) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
        && request.headers().contains_key(header::ORIGIN)
}

/// Answered before authentication: a browser sends no key with it.
pub fn preflight(origin: &Origin, rate: RateStatus) -> ApiResponse {
    let (status, body) = (StatusCode::NO_CONTENT, Bytes::new());
    let mut reply = ApiResponse { status, body, rate, extra: Vec::new() };
    if let Origin::DeveloperSite(_) | Origin::Any = origin {
        reply.extra.extend([
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE".into()),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, idempotency-key, mcp-method, mcp-name, \
                 mcp-protocol-version"
                    .into(),
            ),
            (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS.into()),
        ]);
    }
    reply
}

/// The response with the headers that every one carries.
pub fn finish(reply: ApiResponse, id: &str, origin: &Origin) -> Response<Body> {
    let has_body = !reply.body.is_empty();
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    if has_body {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REQUEST_ID, value(id));
    let rate = reply.rate;
    headers.insert(RATE_LIMIT_POLICY, value(&format!("\"default\";q={};w=60", rate.limit)));
    let rate = format!("\"default\";r={};t={}", rate.remaining, rate.resets_in);
    headers.insert(RATE_LIMIT, value(&rate));
    let allowed = match origin {
        Origin::DeveloperSite(origin) => Some(origin.clone()),
        Origin::Any => Some(HeaderValue::from_static("*")),
        Origin::None | Origin::Foreign => None,
    };
    if let Some(allowed) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
    for (name, text) in reply.extra {
        headers.insert(name, value(&text));
    }
    response
}

/// A header value from text that we wrote.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}
