//! OAuth for MCP clients: what they need to know about us, registration, and tokens. People are asked
//! for their consent by the web app (`web/pages/consent.rs`).

mod answers;
mod metadata;
mod parameters;

use std::sync::Arc;
use std::time::Duration;

use actions::integrations::oauth_consent;
use actions::integrations::oauth_tokens::{self, CodeExchange, IssuedTokens, TokenRefusal};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use axum::routing::any_service;
use base::actor::Actor;
use db::Tx;
use model::people::oauth_clients::{ClientMetadata, MetadataProblem, find_client};
use serde_json::Value;
use transport::http::request_body::RequestBody;
use transport::http::{ClientNetwork, Peer};

use crate::api::http::{ApiContext, ApiResponse};
use answers::OauthError;
use metadata::resource;

pub use parameters::Parameters;

/// A body must have arrived by then.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Everything that OAuth clients are answered with.
struct OauthServer {
    context: ApiContext,
    /// True where clients may register themselves.
    takes_registrations: bool,
}

/// The pages for OAuth clients at their addresses; none where OAuth cannot be used.
pub fn router(context: ApiContext, takes_registrations: bool) -> Router {
    if !oauth_consent::oauth_works_at(&context.own_origin) {
        return Router::new();
    }
    let server = Arc::new(OauthServer { context, takes_registrations });
    let mut router = Router::new();
    for path in metadata::PATHS.iter().chain(&[TOKEN, REGISTER, REVOKE]) {
        let one = Router::new().fallback(handle).with_state((Arc::clone(&server), *path));
        router = router.route(path, any_service(one));
    }
    router
}

const TOKEN: &str = "/token";
const REGISTER: &str = "/register";
const REVOKE: &str = "/revoke";

async fn handle(
    State((server, path)): State<(Arc<OauthServer>, &'static str)>,
    request: Request<Body>,
) -> Response<Body> {
    let context = &server.context;
    context.respond_to_anybody(path, request, |request| answer(&server, path, request)).await
}

async fn answer(server: &OauthServer, path: &'static str, request: Request<Body>) -> ApiResponse {
    let context = &server.context;
    if let Some(document) =
        metadata::document(path, &context.own_origin, server.takes_registrations)
    {
        return match *request.method() {
            Method::GET | Method::HEAD => {
                context.ok(StatusCode::OK, Bytes::from(document.to_string()))
            }
            _ => OauthError::ONLY_GET.answer(context, false),
        };
    }
    if path == REGISTER && !server.takes_registrations {
        return OauthError::NO_REGISTRATION.answer(context, false);
    }
    if request.method() != Method::POST {
        return OauthError::ONLY_POST.answer(context, false);
    }
    let (parts, body) = request.into_parts();
    let place = match parts.extensions.get::<Peer>() {
        Some(peer) => ClientNetwork::of(peer.client(&parts.headers)).to_string(),
        None => "unknown".to_owned(),
    };
    let mut body = RequestBody::new(&parts.headers, body, BODY_BYTES, BODY_TIME);
    let answered = match body.small().await {
        Ok(Some(body)) if path == REGISTER => register(server, &body, &place).await,
        Ok(Some(body)) => with_form(server, path, &parts.headers, &body, &place).await,
        Ok(None) | Err(_) => Err(OauthError::INVALID_REQUEST),
    };
    let by_header = parts.headers.contains_key(header::AUTHORIZATION);
    answered.unwrap_or_else(|error| error.answer(context, by_header))
}

/// No request of a client is larger.
const BODY_BYTES: usize = transport::http::request_body::SMALL_BODY_BYTES;

async fn register(
    server: &OauthServer,
    body: &[u8],
    place: &str,
) -> Result<ApiResponse, OauthError> {
    let told: Value =
        serde_json::from_slice(body).map_err(|_| OauthError::INVALID_CLIENT_METADATA)?;
    let metadata = ClientMetadata::of(&told).map_err(|problem| match problem {
        MetadataProblem::RedirectUris => OauthError::INVALID_REDIRECT_URI,
        MetadataProblem::Other => OauthError::INVALID_CLIENT_METADATA,
    })?;
    let (app, place) = (server.context.app.clone(), place.to_owned());
    let store = app.store.clone();
    let work = move |tx: &mut Tx<'_>| {
        oauth_consent::register_client(tx, &app.ids, app.clock.now(), &metadata, &place)
    };
    let registered = store.write(work).await.map_err(OauthError::of)?;
    let client = registered.ok_or(OauthError::TOO_MANY)?;
    let body = Bytes::from(metadata::registration(&client).to_string());
    Ok(server.context.ok(StatusCode::CREATED, body))
}

/// Requests with a form: for tokens, and to give one back.
async fn with_form(
    server: &OauthServer,
    path: &'static str,
    headers: &HeaderMap,
    body: &[u8],
    place: &str,
) -> Result<ApiResponse, OauthError> {
    let form = Parameters::of(headers, body).ok_or(OauthError::INVALID_REQUEST)?;
    if path == REVOKE {
        let token = form.get("token").ok_or(OauthError::INVALID_REQUEST)?;
        write(server, move |tx, cx| oauth_tokens::revoke_token(tx, cx, &token)).await?;
        return Ok(server.context.ok(StatusCode::OK, Bytes::new()));
    }
    let client_id = form.client_id().ok_or(OauthError::INVALID_CLIENT)?;
    let own = resource(&server.context.own_origin);
    if form.get("resource").is_some_and(|asked| asked != own) {
        return Err(OauthError::INVALID_TARGET);
    }
    let known = client_id.clone();
    let found = server.context.app.store.read(move |tx| find_client(tx, &known)).await;
    found.map_err(OauthError::of)?.ok_or(OauthError::INVALID_CLIENT)?;
    let issued = match form.get("grant_type").as_deref() {
        Some("authorization_code") => with_code(server, &form, client_id).await?,
        Some("refresh_token") => {
            let token = form.get("refresh_token").ok_or(OauthError::INVALID_REQUEST)?;
            let place = place.to_owned();
            let refresh = move |tx: &mut Tx<'_>, cx: &base::app::Cx<'_>| {
                oauth_tokens::refresh_tokens(tx, cx, &token, &client_id, &place)
            };
            write(server, refresh).await?
        }
        Some(_) => return Err(OauthError::UNSUPPORTED_GRANT_TYPE),
        None => return Err(OauthError::INVALID_REQUEST),
    };
    let issued = issued.map_err(|refusal| match refusal {
        TokenRefusal::InvalidGrant => OauthError::INVALID_GRANT,
        TokenRefusal::TooMany => OauthError::TOO_MANY,
    })?;
    let body = Bytes::from(metadata::tokens(&issued).to_string());
    Ok(server.context.ok(StatusCode::OK, body))
}

async fn with_code(
    server: &OauthServer,
    form: &Parameters,
    client_id: String,
) -> Result<Result<IssuedTokens, TokenRefusal>, OauthError> {
    let exchange = CodeExchange {
        code: form.get("code").ok_or(OauthError::INVALID_REQUEST)?,
        client_id,
        redirect_uri: form.get("redirect_uri").ok_or(OauthError::INVALID_REQUEST)?,
        verifier: form.get("code_verifier").ok_or(OauthError::INVALID_REQUEST)?,
    };
    write(server, move |tx, cx| oauth_tokens::exchange_code(tx, cx, &exchange)).await
}

/// Writes as the service itself: whose token it is, the operation finds out.
async fn write<T, F>(server: &OauthServer, mut work: F) -> Result<T, OauthError>
where
    F: FnMut(&mut Tx<'_>, &base::app::Cx<'_>) -> base::error::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let app = server.context.app.clone();
    let store = app.store.clone();
    let run = move |tx: &mut Tx<'_>| {
        let operator = Actor::operator(&app.ids);
        work(tx, &app.cx(&operator))
    };
    store.write(run).await.map_err(OauthError::of)
}
