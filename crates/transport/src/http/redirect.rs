//! The listener that leads browsers from HTTP to HTTPS.

use std::future::Future;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, Response, StatusCode, Uri};
use tokio::net::TcpListener;

use super::{HttpLimits, HttpServer};
use crate::acme::challenges::ChallengeAnswers;

/// Connections to the listener.
const CONNECTIONS: usize = 256;

/// Answers every request but the questions of a certificate authority with the same place under the public URL, until
/// `stop` is ready.
pub async fn serve(
    listener: TcpListener,
    public_url: Arc<str>,
    challenges: Option<&ChallengeAnswers>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let router = Router::new().fallback(redirect).with_state(public_url);
    let router = match challenges {
        Some(challenges) => router.merge(challenges.router()),
        None => router,
    };
    let limits =
        HttpLimits { connections: CONNECTIONS, waiting: CONNECTIONS, ..HttpLimits::default() };
    let server = HttpServer { listener: "redirect", limits, ..HttpServer::default() };
    server.serve(listener, router, stop).await
}

/// The method stays the same (308). The host is ours, whatever the request names.
async fn redirect(State(public_url): State<Arc<str>>, uri: Uri) -> Response<Body> {
    let place = uri.path_and_query().map_or("/", |place| place.as_str());
    let mut response = Response::new(Body::empty());
    match HeaderValue::from_str(&format!("{public_url}{place}")) {
        Ok(location) if place.starts_with('/') => {
            response.headers_mut().insert(LOCATION, location);
            *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
        }
        _ => *response.status_mut() = StatusCode::BAD_REQUEST,
    }
    response
}
