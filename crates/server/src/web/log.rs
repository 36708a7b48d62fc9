//! One line in the log for each page: what kind, how it went and how long it took; no ids, no words.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::HeaderName;
use axum::http::{HeaderValue, Response};
use axum::middleware::Next;

use crate::web::Web;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of a request's id, as long as the API's.
const ID_CHARS: usize = 20;

pub async fn log(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response<Body> {
    let started = Instant::now();
    let id = web.app.ids.token(ID_CHARS);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    tracing::info!(
        request = id,
        %method,
        route = route.as_ref().map_or("other", MatchedPath::as_str),
        status = response.status().as_u16(),
        micros = started.elapsed().as_micros() as u64,
        "page"
    );
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}
