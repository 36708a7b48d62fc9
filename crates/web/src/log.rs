//! One line in the log for each page: what kind, how it went and how long it took; no words.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Response;
use axum::middleware::Next;
use transport::http::request_log::RequestLog;

use crate::Web;

pub async fn log(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response<Body> {
    let log = RequestLog::begin(&web.app.ids, &request);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = log.run(next.run(request)).await;
    log.span.in_scope(|| {
        tracing::info!(
            %method,
            route = route.as_ref().map_or("other", MatchedPath::as_str),
            status = response.status().as_u16(),
            micros = log.micros(),
            "page"
        );
    });
    log.name_in(&mut response);
    response
}
