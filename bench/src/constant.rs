//! A reference point: the same bytes as a real answer, from the same accept loop and kind of
//! router, with nothing behind them.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response};
use server::serve::{serve_router, stop_signal};
use tokio::net::TcpListener;

/// Headers that the HTTP layer itself adds.
const ADDED: [&str; 2] = ["content-length", "date"];

struct Constant {
    headers: HeaderMap,
    body: Bytes,
}

/// Answers every request with the answer that a file holds.
pub fn serve(answer: &Path, listen: SocketAddr) -> Result<(), String> {
    let bytes = fs::read(answer).map_err(|error| format!("{}: {error}", answer.display()))?;
    let constant = Arc::new(parse(&bytes).ok_or("the file holds no answer")?);
    let router = Router::new().fallback(reply).with_state(constant);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime
        .and_then(|runtime| {
            runtime.block_on(async {
                let listener = TcpListener::bind(listen).await?;
                serve_router(listener, router, stop_signal()).await
            })
        })
        .map_err(|error| error.to_string())
}

async fn reply(State(constant): State<Arc<Constant>>) -> Response<Body> {
    let mut response = Response::new(Body::from(constant.body.clone()));
    *response.headers_mut() = constant.headers.clone();
    response
}

fn parse(bytes: &[u8]) -> Option<Constant> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = str::from_utf8(&bytes[..end]).ok()?;
    let mut headers = HeaderMap::new();
    for line in head.split("\r\n").skip(1) {
        let (name, value) = line.split_once(": ")?;
        if !ADDED.contains(&name) {
            headers.insert(
                HeaderName::from_bytes(name.as_bytes()).ok()?,
                HeaderValue::from_str(value).ok()?,
            );
        }
    }
    Some(Constant { headers, body: Bytes::copy_from_slice(&bytes[end + 4..]) })
}
