//! The webhook endpoint for e-mail-sending services, which report the mail they sent for an app
//! (API section 4.13.4). Each connection has an unguessable URL, and every call is authenticated by
//! the scheme of its service (`signatures`, `sns`).

mod certificate;
mod formats;
mod reader;
pub(crate) mod signatures;
mod sns;

use std::sync::Arc;
use std::time::Duration;

use api::wire::ErrorBody;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use base::app::App;
use base::error::Error;
use base::error::OUTAGE_RETRY_SECONDS;
use base::ids::ServiceId;
use node::vault::{Vault, service_purpose};
use outbound::services::{self, Service, ServiceConnection};
use serde_json::{Value, json};
use tracing::Span;
use tracing::field::display;
use transport::http::request_body::RequestBody;
use transport::http::request_log::RequestLog;
use transport::http::slots::Slots;

pub use outbound::services::POSTMARK_USER;
pub use reader::HttpReader;
pub use sns::{PAGE_TIME, SnsCalls, SnsPages};

/// The largest call, in bytes.
const CALL_BYTES: usize = 1024 * 1024;
/// A call must have arrived by then.
const CALL_TIME: Duration = Duration::from_secs(30);
/// Calls of some size that are read at one time.
const LARGE_CALLS: usize = 16;

/// What a connection's key or secret is sealed for.
pub fn purpose(what: &str, connection: &ServiceId) -> String {
    service_purpose(what, connection.as_str())
}

#[derive(Clone)]
struct ServicesApi {
    app: App,
    vault: Vault,
    sns: SnsCalls,
    large_bodies: Arc<Slots>,
}

pub fn router(app: App, vault: Vault, sns: SnsCalls) -> Router {
    let services = ServicesApi { app, vault, sns, large_bodies: Slots::new(LARGE_CALLS) };
    Router::new().route("/hooks/{service}/{token}", post(call)).with_state(services)
}

type Refusal = (StatusCode, &'static str);

const UNKNOWN: Refusal = (StatusCode::NOT_FOUND, "There is no such connection.");
const FAILED: Refusal =
    (StatusCode::INTERNAL_SERVER_ERROR, "Something failed on our side. Try again shortly.");

/// Services try again for hours or days.
const CLOSED: Refusal =
    (StatusCode::SERVICE_UNAVAILABLE, "This is closed for now. Try again later.");

async fn call(
    State(services): State<ServicesApi>,
    Path((service, token)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let log = RequestLog::begin(&services.app.ids, &request);
    let (head, body) = request.into_parts();
    let taken = log.run(services.take(&service, &token, &head.headers, body)).await;
    let mut response = match taken {
        Ok(()) => answer(StatusCode::OK, &json!({ "ok": true })),
        Err((status, sentence)) => answer(status, &json!(ErrorBody::new(sentence))),
    };
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, OUTAGE_RETRY_SECONDS.into());
    }
    log.name_in(&mut response);
    response
}

impl ServicesApi {
    async fn take(
        &self,
        service: &str,
        token: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(), Refusal> {
        let service = Service::parse(service).ok_or(UNKNOWN)?;
        let token = token.to_owned();
        let found = self.app.store.read(move |tx| services::with_token(tx, service, &token)).await;
        let connection = found.map_err(refusal)?.ok_or(UNKNOWN)?;
        let span = Span::current();
        span.record("workspace", connection.ws).record("actor", display(&connection.id));
        if !connection.plan.has_api() {
            return Err((
                StatusCode::FORBIDDEN,
                "Connections are part of the Pro and Team plans; this workspace is on Free.",
            ));
        }
        let body = RequestBody::new(headers, body, CALL_BYTES, CALL_TIME);
        let body = body.rest(&self.large_bodies, &[]).await.map_err(|status| match status {
            StatusCode::PAYLOAD_TOO_LARGE => (status, "A call has at most 1 MiB."),
            status => (status, "The call did not arrive whole."),
        })?;
        let parsed: Result<Value, Refusal> = serde_json::from_slice(&body)
            .map_err(|_| (StatusCode::BAD_REQUEST, "body: must be valid JSON"));
        let call = parsed.as_ref().unwrap_or(&Value::Null);
        if !self.is_genuine(&connection, headers, &body, call).await {
            return Err((
                StatusCode::UNAUTHORIZED,
                "This call is not signed with the secret of the connection.",
            ));
        }
        let call = parsed?;
        if service == Service::AmazonSes && call["Type"] == "SubscriptionConfirmation" {
            return match self.sns.confirm(&call).await {
                true => Ok(()),
                false => Err((StatusCode::BAD_GATEWAY, "The subscription was not confirmed.")),
            };
        }
        self.note(connection, &call).await
    }

    async fn is_genuine(
        &self,
        connection: &ServiceConnection,
        headers: &HeaderMap,
        body: &[u8],
        call: &Value,
    ) -> bool {
        let Some(sealed) = &connection.secret else { return false };
        let Ok(secret) = self.vault.unseal(&purpose("secret", &connection.id), sealed) else {
            tracing::error!(id = %connection.id, "the webhook secret of a sending service could not be decrypted");
            return false;
        };
        let now = self.app.clock.now();
        match connection.service {
            Service::Resend => signatures::by_resend(headers, body, &secret, now),
            Service::Postmark => signatures::by_postmark(headers, &secret),
            Service::Mailgun => signatures::by_mailgun(call, &secret, now),
            Service::SendGrid => signatures::by_sendgrid(headers, body, &secret, now),
            Service::AmazonSes => self.sns.is_genuine(call, &secret, now).await,
        }
    }

    /// Records the mails that a call reports. Other calls get a success status as well, because the
    /// service would retry them otherwise.
    async fn note(&self, connection: ServiceConnection, call: &Value) -> Result<(), Refusal> {
        let sent = formats::sent_mails(connection.service, call, &connection.reference_tag);
        for mail in sent {
            let (actor, id) = (connection.actor(), connection.id.clone());
            let connection = connection.clone();
            let noted =
                self.app.act(&actor, move |tx, cx| services::note_sent(tx, cx, &connection, &mail));
            match noted.await {
                Err(Error::Invalid(problems)) => {
                    tracing::warn!(%id, %problems, "mail reported by a sending service is invalid and was not recorded");
                }
                noted => noted.map_err(refusal)?,
            }
        }
        Ok(())
    }
}

fn refusal(error: Error) -> Refusal {
    if error.is_outage() {
        return (StatusCode::SERVICE_UNAVAILABLE, FAILED.1);
    }
    if let Error::ClosedForNow = error {
        return CLOSED;
    }
    tracing::error!(cause = ?error, "a webhook call of a sending service failed");
    FAILED
}

fn answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = axum::http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
