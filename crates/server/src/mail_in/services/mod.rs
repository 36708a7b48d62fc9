//! The webhook endpoint for e-mail-sending services, which report the mail they sent for an app
//! (API section 4.13.4). Each connection has an unguessable URL, and every call is authenticated:
//! Resend signs by the Standard Webhooks scheme, Postmark uses HTTP basic authentication.

mod formats;
mod reader;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use inbox::api::wire::ErrorBody;
use inbox::base::ids::ServiceId;
use inbox::model::services::{self, Service, ServiceConnection};
use inbox::model::webhook_signing;
use inbox::{App, Error};
use serde_json::{Value, json};

use crate::http::request_body::RequestBody;
use crate::http::slots::Slots;
use crate::node::vault::{Vault, service_purpose};
pub use reader::HttpReader;

/// The largest call, in bytes.
const CALL_BYTES: usize = 1024 * 1024;
/// A call must have arrived by then.
const CALL_TIME: Duration = Duration::from_secs(30);
/// Calls of some size that are read at one time.
const LARGE_CALLS: usize = 16;
/// The user that Postmark is to name.
pub const POSTMARK_USER: &str = "mailroom";

/// What a connection's key or secret is sealed for.
pub fn purpose(what: &str, connection: &ServiceId) -> String {
    service_purpose(what, connection.as_str())
}

#[derive(Clone)]
struct ServicesApi {
    app: App,
    vault: Vault,
    large_bodies: Arc<Slots>,
}

pub fn router(app: App, vault: Vault) -> Router {
    let services = ServicesApi { app, vault, large_bodies: Slots::new(LARGE_CALLS) };
    Router::new().route("/hooks/{service}/{token}", post(call)).with_state(services)
}

type Refusal = (StatusCode, &'static str);

const UNKNOWN: Refusal = (StatusCode::NOT_FOUND, "There is no such connection.");
const FAILED: Refusal =
    (StatusCode::INTERNAL_SERVER_ERROR, "Something failed on our side. Try again shortly.");

async fn call(
    State(services): State<ServicesApi>,
    Path((service, token)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    match services.take(&service, &token, &head.headers, body).await {
        Ok(()) => answer(StatusCode::OK, &json!({ "ok": true })),
        Err((status, sentence)) => answer(status, &json!(ErrorBody { error: sentence.into() })),
    }
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
        let connection = found.map_err(failed)?.ok_or(UNKNOWN)?;
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
        if !self.is_genuine(&connection, headers, &body) {
            return Err((
                StatusCode::UNAUTHORIZED,
                "This call is not signed with the secret of the connection.",
            ));
        }
        let call: Value = serde_json::from_slice(&body)
            .map_err(|_| (StatusCode::BAD_REQUEST, "body: must be valid JSON"))?;
        self.note(connection, &call).await
    }

    fn is_genuine(&self, connection: &ServiceConnection, headers: &HeaderMap, body: &[u8]) -> bool {
        let Some(sealed) = &connection.secret else { return false };
        let Ok(secret) = self.vault.unseal(&purpose("secret", &connection.id), sealed) else {
            tracing::error!(id = %connection.id, "the secret of a connection cannot be opened");
            return false;
        };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        match connection.service {
            Service::Resend => {
                let named = |name: &str| {
                    header(&format!("svix-{name}")).or_else(|| header(&format!("webhook-{name}")))
                };
                let [id, timestamp, signatures] = ["id", "timestamp", "signature"].map(named);
                let call = webhook_signing::Signed {
                    id: id.unwrap_or_default(),
                    timestamp: timestamp.unwrap_or_default(),
                    signatures: signatures.unwrap_or_default(),
                    body,
                };
                webhook_signing::is_genuine(&call, &secret, self.app.clock.now())
            }
            Service::Postmark => {
                let given = header(AUTHORIZATION.as_str()).and_then(|value| {
                    let (scheme, rest) = value.split_once(' ')?;
                    let decoded = STANDARD.decode(rest.trim()).ok()?;
                    scheme.eq_ignore_ascii_case("basic").then_some(decoded)
                });
                let wanted = format!("{POSTMARK_USER}:{secret}");
                given.is_some_and(|given| webhook_signing::are_same(&given, wanted.as_bytes()))
            }
        }
    }

    /// Records the mail that a call reports. Other calls get a success status as well, because the
    /// service would retry them otherwise.
    async fn note(&self, connection: ServiceConnection, call: &Value) -> Result<(), Refusal> {
        let sent = formats::sent_mail(connection.service, call, &connection.reference_tag);
        let Some(sent) = sent else { return Ok(()) };
        let (actor, id) = (connection.actor(), connection.id.clone());
        let noted =
            self.app.act(&actor, move |tx, cx| services::note_sent(tx, cx, &connection, &sent));
        match noted.await {
            Err(Error::Invalid(problems)) => {
                tracing::warn!(%id, %problems, "a service told of a mail that cannot be noted");
                Ok(())
            }
            noted => noted.map_err(failed),
        }
    }
}

fn failed(error: Error) -> Refusal {
    tracing::error!(cause = ?error, "a service's call was not taken");
    FAILED
}

fn answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = axum::http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
