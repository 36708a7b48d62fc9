//! What ties the log lines of a request together: its id, which the response names too, its client
//! and, as soon as it is known, its actor.

use std::time::Instant;

use axum::body::Body;
use axum::http::header::HeaderName;
use axum::http::{HeaderValue, Request, Response};
use base::ids::Ids;
use base::request_id;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::http::Peer;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const ID_CHARS: usize = 20;

/// A request in the log. All lines that are written within its span carry its fields.
pub struct RequestLog {
    pub id: String,
    pub span: Span,
    started: Instant,
}

impl RequestLog {
    pub fn begin<B>(ids: &Ids, request: &Request<B>) -> RequestLog {
        let (id, peer) = (ids.token(ID_CHARS), request.extensions().get::<Peer>());
        // Of the highest level, so that lines carry it whatever levels are asked for. The actor is
        // filled in by `Actor::note_in_log`.
        let span = tracing::error_span!(
            "request",
            %id,
            client = peer.map(|peer| display(peer.client(request.headers()))),
            workspace = Empty,
            actor = Empty,
        );
        RequestLog { id, span, started: Instant::now() }
    }

    pub async fn run<T>(&self, answer: impl Future<Output = T>) -> T {
        request_id::scope(self.id.clone(), answer).instrument(self.span.clone()).await
    }

    pub fn micros(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    /// Tells the client the id of its request.
    pub fn name_in(&self, response: &mut Response<Body>) {
        if let Ok(id) = HeaderValue::from_str(&self.id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
    }
}
