//! The HTTP client of the ACME library.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use base::time::Clock;
use http_body_util::BodyExt;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use jiff::fmt::rfc2822;
use reqwest::Client;
use rustls::RootCertStore;
use serde_json::Value;

use crate::net::http_client::client_trusting;

/// How long one call may take.
const CALL_TIME: Duration = Duration::from_secs(30);
/// The largest response, in bytes: a chain of certificates.
const RESPONSE_BYTES: usize = 1024 * 1024;

/// Calls an ACME server. Clones share what it asked for.
#[derive(Clone)]
pub(super) struct AcmeHttpClient {
    client: Client,
    clock: Arc<dyn Clock>,
    /// When the server wants to be called again that refused a call, or 0.
    allowed_from: Arc<AtomicI64>,
}

impl AcmeHttpClient {
    pub(super) fn new(
        roots: RootCertStore,
        clock: Arc<dyn Clock>,
    ) -> Result<AcmeHttpClient, String> {
        let client = client_trusting(roots, CALL_TIME)?;
        Ok(AcmeHttpClient { client, clock, allowed_from: Arc::default() })
    }

    /// When the server wants to be called again, in milliseconds, if it said so.
    pub(super) fn allowed_from(&self) -> Option<i64> {
        Some(self.allowed_from.load(Ordering::Relaxed)).filter(|time| *time > 0)
    }

    /// What the server tells everybody.
    pub(super) async fn get_json(&self, url: &str) -> Result<Value, String> {
        let answer = self.client.get(url).send().await.map_err(|error| error.to_string())?;
        let status = answer.status();
        let body = read_body(answer).await.map_err(|error| error.to_string())?;
        if !status.is_success() {
            return Err(format!("{url} was answered with {status}"));
        }
        serde_json::from_slice(&body).map_err(|error| format!("{url} is no JSON: {error}"))
    }

    async fn call(self, request: Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(other)?.to_bytes();
        let call = self.client.request(head.method, head.uri.to_string());
        let answer = call.headers(head.headers).body(body).send().await.map_err(other)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            let allowed_from = retry_after(&headers, self.clock.now()).unwrap_or(0);
            self.allowed_from.store(allowed_from, Ordering::Relaxed);
        }
        let body = read_body(answer).await?;
        let mut response = Response::new(());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        let (parts, ()) = response.into_parts();
        Ok(BytesResponse { parts, body: Box::new(body) })
    }
}

impl HttpClient for AcmeHttpClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        Box::pin(self.clone().call(request))
    }
}

async fn read_body(mut answer: reqwest::Response) -> Result<Bytes, Error> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(other)? {
        if body.len() + chunk.len() > RESPONSE_BYTES {
            return Err(Error::Str("a response that is not too large"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.into())
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Other(Box::new(error))
}

/// When a refused client may come again: seconds from now, or a time (RFC 9110, section 10.2.3).
fn retry_after(headers: &HeaderMap, now: i64) -> Option<i64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(now + i64::from(seconds) * 1_000);
    }
    Some(rfc2822::parse(text).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_names_the_pause_in_seconds_or_as_a_time() {
        for (text, time) in [
            ("120", Some(120_000)),
            ("Thu, 01 Jan 1970 01:00:00 GMT", Some(3_600_000)),
            ("-5", None),
            ("soon", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            assert_eq!(retry_after(&headers, 0), time, "{text}");
        }
    }
}
