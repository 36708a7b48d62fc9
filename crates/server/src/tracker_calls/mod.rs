//! The webhook endpoint for issue trackers, which tell how linked items stand. Each workspace has an unguessable
//! address for each tracker, and every call is proven by the scheme of its tracker (`proofs`). A caller that is not
//! the tracker learns nothing: whatever is wrong, there is no such address.

mod payloads;
mod proofs;

use std::sync::Arc;
use std::time::Duration;

use api::wire::ErrorBody;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::post;
use base::app::App;
use base::error::{Error, OUTAGE_RETRY_SECONDS};
use base::limits::RATE_WINDOW_MS;
use model::linked_items::Tracker;
use model::linked_items::tracker_webhooks::{self, TrackerWebhook};
use proofs::TrackerCall;
use serde_json::{Value, json};
use tracing::Span;
use transport::http::request_body::RequestBody;
use transport::http::request_log::RequestLog;
use transport::http::slots::Slots;

/// The largest call, in bytes.
const CALL_BYTES: usize = 1024 * 1024;
/// A call must have arrived by then.
const CALL_TIME: Duration = Duration::from_secs(30);
/// Calls of some size that are read at one time.
const LARGE_CALLS: usize = 16;

#[derive(Clone)]
struct TrackerCalls {
    app: App,
    large_bodies: Arc<Slots>,
}

pub fn router(app: App) -> Router {
    let calls = TrackerCalls { app, large_bodies: Slots::new(LARGE_CALLS) };
    Router::new().route("/hooks/items/{tracker}/{token}", post(call)).with_state(calls)
}

type Refusal = (StatusCode, &'static str);

const UNKNOWN: Refusal = (StatusCode::NOT_FOUND, "There is no such connection.");
const TOO_MANY: Refusal =
    (StatusCode::TOO_MANY_REQUESTS, "Too many calls in a minute. Try again later.");
const TOO_LARGE: Refusal = (StatusCode::PAYLOAD_TOO_LARGE, "A call has at most 1 MiB.");
const NOT_WHOLE: Refusal = (StatusCode::BAD_REQUEST, "The call did not arrive whole.");
const NO_JSON: Refusal = (StatusCode::BAD_REQUEST, "The call is not JSON.");
const CLOSED: Refusal =
    (StatusCode::SERVICE_UNAVAILABLE, "This is closed for now. Try again later.");
const FAILED: Refusal =
    (StatusCode::INTERNAL_SERVER_ERROR, "Something failed on our side. Try again shortly.");

async fn call(
    State(calls): State<TrackerCalls>,
    Path((tracker, token)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let log = RequestLog::begin(&calls.app.ids, &request);
    let (head, body) = request.into_parts();
    let taken = log.run(calls.take(&tracker, token, &head, body)).await;
    let mut response = match taken {
        Ok(()) => answer(StatusCode::OK, &json!({ "ok": true })),
        Err((status, sentence)) => answer(status, &json!(ErrorBody::new(sentence))),
    };
    let retry = match response.status() {
        StatusCode::SERVICE_UNAVAILABLE => Some(HeaderValue::from(OUTAGE_RETRY_SECONDS)),
        StatusCode::TOO_MANY_REQUESTS => Some(HeaderValue::from(RATE_WINDOW_MS / 1_000)),
        _ => None,
    };
    if let Some(retry) = retry {
        response.headers_mut().insert(RETRY_AFTER, retry);
    }
    log.name_in(&mut response);
    response
}

impl TrackerCalls {
    async fn take(
        &self,
        tracker: &str,
        token: String,
        head: &Parts,
        body: Body,
    ) -> Result<(), Refusal> {
        let tracker = Tracker::parse(tracker).ok_or(UNKNOWN)?;
        let found =
            self.app.store.read(move |tx| tracker_webhooks::with_token(tx, tracker, &token));
        let webhook = found.await.map_err(refusal)?.ok_or(UNKNOWN)?;
        Span::current().record("workspace", webhook.ws);
        if self.app.limiter.take_tracker_call(webhook.ws, self.app.clock.now()).over {
            return Err(TOO_MANY);
        }
        self.app.limiter.announce_tracker_call(webhook.ws);
        let body = RequestBody::new(&head.headers, body, CALL_BYTES, CALL_TIME);
        let body = body.rest(&self.large_bodies, &[]).await.map_err(|status| match status {
            StatusCode::PAYLOAD_TOO_LARGE => TOO_LARGE,
            _ => NOT_WHOLE,
        })?;
        let parsed = serde_json::from_slice::<Value>(&body);
        let call = TrackerCall {
            headers: &head.headers,
            query: head.uri.query().unwrap_or_default(),
            body: &body,
            json: parsed.as_ref().unwrap_or(&Value::Null),
        };
        if !self.is_genuine(&webhook, &call)? {
            return Err(UNKNOWN);
        }
        let json = parsed.map_err(|_| NO_JSON)?;
        let report = payloads::item_report(tracker, &head.headers, &json);
        let actor = webhook.actor();
        let noted = self.app.act(&actor, move |tx, cx| {
            tracker_webhooks::note_call(tx, cx, tracker, report.as_ref())
        });
        noted.await.map_err(refusal)
    }

    fn is_genuine(
        &self,
        webhook: &TrackerWebhook,
        call: &TrackerCall<'_>,
    ) -> Result<bool, Refusal> {
        let secret = webhook.secret(&*self.app.sealer).map_err(refusal)?;
        let now = self.app.clock.now();
        Ok(secret.is_some_and(|secret| call.is_genuine(webhook.kind, &secret, now)))
    }
}

fn refusal(error: Error) -> Refusal {
    if error.is_outage() {
        return (StatusCode::SERVICE_UNAVAILABLE, FAILED.1);
    }
    if let Error::ClosedForNow = error {
        return CLOSED;
    }
    tracing::error!(cause = ?error, "a call of an issue tracker failed");
    FAILED
}

fn answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
