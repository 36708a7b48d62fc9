//! What REST and MCP share over HTTP: the origin rule, the key, the body, refusals and the headers
//! of every response.

mod headers;
mod response;

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::calls::ApiCall;
use api::operations::OperationOutput;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response, StatusCode, header};
use base::app::App;
use base::error::{Error, ValidationErrors};
use base::limits::megabytes;
use base::rate_limit::RateStatus;
use base::security::api_key::KeyHash;
use base::security::scopes::Scope;
use document_reader::DocumentTexts;
use metrics::{counter, histogram};
use transport::http::request_body::{LARGE_BODIES_EACH, RequestBody};
use transport::http::request_log::RequestLog;
use transport::http::slots::{SlotOwner, Slots};
use transport::net::ssrf_guard::SsrfGuard;

use headers::Origin;

pub(crate) use headers::{TOTAL_AT_LEAST, TOTAL_COUNT};
pub(crate) use response::{ApiResponse, log_cause};

/// The path under which REST is served.
pub const PREFIX: &str = "/api/v1";
/// The largest request body, in bytes.
const BODY_BYTES: usize = 1024 * 1024;
/// A request's body must have arrived by then.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The app, with what both protocols check before they call it.
#[derive(Clone)]
pub struct ApiContext {
    pub(crate) app: App,
    /// The two origins a browser may call from: the service's own and the developer site's.
    pub(crate) own_origin: String,
    developer_site: Option<String>,
    /// Large bodies that are being read.
    large_bodies: Arc<Slots>,
    document_texts: Arc<DocumentTexts>,
    ssrf_guard: SsrfGuard,
}

/// Why a body was not read.
pub(crate) enum UnreadBody {
    /// The key is unknown, or could not be looked up.
    Key(Error),
    Body(StatusCode),
}

impl ApiContext {
    pub fn new(
        app: App,
        developer_site: Option<String>,
        large_bodies: Arc<Slots>,
        document_texts: Arc<DocumentTexts>,
        ssrf_guard: SsrfGuard,
    ) -> ApiContext {
        let own_origin = app.public_url.to_string();
        ApiContext { app, own_origin, developer_site, large_bodies, document_texts, ssrf_guard }
    }

    /// Makes a call.
    pub(crate) async fn call(
        &self,
        mut call: ApiCall,
    ) -> (Result<OperationOutput, Error>, RateStatus) {
        if let Some(problems) = self.find_address_problems(&call).await {
            call.input = Err(problems);
        }
        self.document_texts.call(&self.app, call).await
    }

    /// What is wrong with the address of a webhook that a key is about to add, if the key may. The call
    /// itself checks the key again, in its transaction.
    async fn find_address_problems(&self, call: &ApiCall) -> Option<ValidationErrors> {
        if call.operation.name != "create_webhook" {
            return None;
        }
        let url = call.input.as_ref().ok()?.get("url")?.as_str()?;
        // Nobody else can make the server look up a name.
        let scopes = ::api::calls::scopes(&self.app, call.key).await.ok()?;
        if !scopes.has(Scope::Admin) {
            return None;
        }
        match self.ssrf_guard.vet(url).await {
            Err(Error::Invalid(problems)) => Some(problems),
            _ => None,
        }
    }

    /// Checks the origin, lets `answer` respond, and adds what every response carries. `route` is
    /// the path's shape for log and metrics.
    pub(crate) async fn respond<F>(
        &self,
        route: &'static str,
        request: Request<Body>,
        answer: impl FnOnce(Request<Body>) -> F,
    ) -> Response<Body>
    where
        F: Future<Output = ApiResponse>,
    {
        let origin =
            Origin::of(request.headers(), &self.own_origin, self.developer_site.as_deref());
        self.respond_to(origin, route, request, answer).await
    }

    /// The same for what pages of any site may ask for: nothing there depends on cookies.
    pub(crate) async fn respond_to_anybody<F>(
        &self,
        route: &'static str,
        request: Request<Body>,
        answer: impl FnOnce(Request<Body>) -> F,
    ) -> Response<Body>
    where
        F: Future<Output = ApiResponse>,
    {
        self.respond_to(Origin::Any, route, request, answer).await
    }

    async fn respond_to<F>(
        &self,
        origin: Origin,
        route: &'static str,
        request: Request<Body>,
        answer: impl FnOnce(Request<Body>) -> F,
    ) -> Response<Body>
    where
        F: Future<Output = ApiResponse>,
    {
        let started = Instant::now();
        let log = RequestLog::begin(&self.app.ids, &request);
        let method = request.method().clone();
        let reply = match origin {
            Origin::Foreign => self.refuse(
                StatusCode::FORBIDDEN,
                "Browsers may call this API from the service's own developer site only.",
            ),
            _ if headers::is_preflight(&request) => {
                headers::preflight(&origin, self.app.limiter.full_status())
            }
            _ => log.run(answer(request)).await,
        };
        let status = reply.status.as_u16();
        counter!("mailroom_requests_total", "route" => route, "status" => status.to_string())
            .increment(1);
        histogram!("mailroom_request_seconds", "route" => route).record(started.elapsed());
        log.span.in_scope(|| {
            tracing::info!(%method, route, status, micros = log.micros(), "request");
        });
        headers::finish(reply, &log.id, &origin)
    }

    /// A response that no rate was counted for.
    pub(crate) fn ok(&self, status: StatusCode, body: Bytes) -> ApiResponse {
        ApiResponse { status, body, rate: self.app.limiter.full_status(), extra: Vec::new() }
    }

    pub(crate) fn refuse(&self, status: StatusCode, sentence: &str) -> ApiResponse {
        response::refusal(status, sentence, self.app.limiter.full_status())
    }

    pub(crate) fn refuse_error(&self, error: &Error, rate: RateStatus) -> ApiResponse {
        response::of_error(error, rate)
    }

    /// Reads a body up to its limit. What did not arrive with the headers is waited for only if the
    /// key is valid.
    pub(crate) async fn read_body(
        &self,
        key: KeyHash,
        request: Request<Body>,
    ) -> Result<Bytes, UnreadBody> {
        let (head, body) = request.into_parts();
        let mut body = RequestBody::new(&head.headers, body, BODY_BYTES, BODY_TIME);
        if let Some(whole) = body.came_along().await.map_err(UnreadBody::Body)? {
            return Ok(whole);
        }
        ::api::calls::check_key(&self.app, key).await.map_err(UnreadBody::Key)?;
        let share = [(SlotOwner::Key(key), LARGE_BODIES_EACH)];
        body.rest(&self.large_bodies, &share).await.map_err(UnreadBody::Body)
    }
}

/// The key of `Authorization: Bearer`.
pub(crate) fn bearer(request: &Request<Body>) -> Option<KeyHash> {
    KeyHash::of(bearer_text(request)?)
}

/// The same, or an access token of OAuth.
pub(crate) fn bearer_or_token(request: &Request<Body>) -> Option<KeyHash> {
    let text = bearer_text(request)?;
    KeyHash::of(text).or_else(|| KeyHash::of_access_token(text))
}

fn bearer_text(request: &Request<Body>) -> Option<&str> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

pub(crate) fn body_sentence(status: StatusCode) -> String {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            format!("The body is larger than {} MB.", megabytes(BODY_BYTES as i64))
        }
        StatusCode::REQUEST_TIMEOUT => "The body took too long to arrive.".into(),
        _ => "body: ended before it was whole".into(),
    }
}
