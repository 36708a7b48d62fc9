//! Sends events to webhooks: one HTTPS POST each, to public addresses only, within one deadline
//! (API section 6.1).

mod panel;
mod push;

use std::time::Duration;

use jobs::{BoxFuture, WebhookRequest, WebhookResponse, WebhookSender};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rustls::RootCertStore;
use tokio::time::{Instant, timeout_at};
use url::Host;

use crate::net::config::NetConfig;
use crate::net::failures;
use crate::net::http_client::WebhookClient;
use crate::net::pins::DnsPins;
use crate::net::ssrf_guard::{Allowed, Blocked};

pub use crate::net::dns::DnsResolver;
pub use crate::net::http_client::{api_client, own_client, system_roots};
pub use crate::net::https_fetch::{FetchedPage, Pages};
pub use crate::net::resolver::{NotFound, ResolvedAddresses, Resolver};
pub use crate::net::ssrf_guard::{SsrfGuard, SsrfRules};
pub use crate::net::system_resolver::SystemResolver;

/// The timeout of a whole call: DNS, connection, TLS, response head and body (API section 6.1).
pub const DEADLINE: Duration = Duration::from_secs(10);
/// Bytes of a response body that are read and stored in the log.
pub const BODY_BYTES: usize = 4 * 1024;

/// The webhook sender over HTTPS.
pub struct HttpWebhookSender {
    ssrf_guard: SsrfGuard,
    pins: DnsPins,
    line: WebhookClient,
    deadline: Duration,
}

impl HttpWebhookSender {
    pub fn of(config: &NetConfig) -> Result<HttpWebhookSender, String> {
        HttpWebhookSender::new(SsrfGuard::of(config)?, system_roots(), DEADLINE)
    }

    /// A sender that trusts these authorities and waits this long.
    pub fn new(
        ssrf_guard: SsrfGuard,
        roots: RootCertStore,
        deadline: Duration,
    ) -> Result<HttpWebhookSender, String> {
        let pins = DnsPins::default();
        let line =
            WebhookClient::new(roots, pins.clone(), deadline, ssrf_guard.rules().allow_private)?;
        Ok(HttpWebhookSender { ssrf_guard, pins, line, deadline })
    }
}

impl WebhookSender for HttpWebhookSender {
    fn post<'a>(&'a self, call: &'a WebhookRequest) -> BoxFuture<'a, WebhookResponse> {
        Box::pin(async move {
            let until = Instant::now() + self.deadline;
            let headers = match headers(&call.headers) {
                Ok(headers) => headers,
                Err(answer) => return answer,
            };
            match self.send(&call.url, headers, call.body.as_bytes().to_vec(), until).await {
                // The status counts even if reading the body fails.
                Ok(response) => WebhookResponse::Status {
                    code: response.status().as_u16(),
                    body: text(start_of_body(response, until).await),
                },
                Err(answer) => answer,
            }
        })
    }
}

impl HttpWebhookSender {
    /// Checks the URL by the SSRF guard and sends the body; resolves with the response head.
    async fn send(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        until: Instant,
    ) -> Result<Response, WebhookResponse> {
        let admitted = match timeout_at(until, self.ssrf_guard.admit(url)).await {
            Ok(Ok(admitted)) => admitted,
            Ok(Err(barred)) => return Err(turned_away(barred)),
            Err(_) => return Err(WebhookResponse::Failed(failures::slow_name(self.deadline))),
        };
        let Allowed { url, addresses } = admitted;
        let _pinned = match url.host() {
            Some(Host::Domain(name)) => Some(self.pins.hold(name, &addresses)),
            _ => None,
        };
        let client = self.line.client(Instant::now());
        let request = client.post(url).headers(headers).body(body);
        match timeout_at(until, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                let error = error.without_url();
                tracing::debug!(cause = ?error, "outgoing request failed");
                Err(WebhookResponse::Failed(failures::of(&error, self.deadline)))
            }
            Err(_) => Err(WebhookResponse::Failed(failures::too_slow(self.deadline))),
        }
    }
}

fn turned_away(barred: Blocked) -> WebhookResponse {
    match barred {
        Blocked::NotFound => WebhookResponse::Failed(failures::NOT_FOUND.into()),
        Blocked::Refused(base::error::Error::Invalid(problems)) => {
            let reasons = problems.0.into_iter().map(|problem| problem.sentence);
            WebhookResponse::Refused(format!(
                "The address {}.",
                reasons.collect::<Vec<_>>().join("; ")
            ))
        }
        Blocked::Refused(error) => WebhookResponse::Refused(error.to_string()),
    }
}

fn headers(given: &[(&'static str, String)]) -> Result<HeaderMap, WebhookResponse> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in given {
        match (HeaderName::try_from(*name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(value)) => drop(headers.insert(name, value)),
            _ => return Err(WebhookResponse::Failed(format!("The header {name} cannot be sent."))),
        }
    }
    Ok(headers)
}

/// The body up to the stored limit, or what was received before an error or the timeout.
async fn start_of_body(mut response: Response, until: Instant) -> Vec<u8> {
    let mut start = Vec::new();
    // The clock is looked at here too: chunks of nothing are always ready.
    while start.len() < BODY_BYTES && Instant::now() < until {
        let Ok(Ok(Some(chunk))) = timeout_at(until, response.chunk()).await else { break };
        let room = BODY_BYTES - start.len();
        start.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    start
}

/// Bytes as text that any database takes, without the half of a character that a cut left.
fn text(mut bytes: Vec<u8>) -> String {
    if let Err(error) = str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let mut text = String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}");
    // The replacement character is longer than the invalid byte.
    text.truncate(text.floor_char_boundary(BODY_BYTES));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_become_text_of_bounded_length() {
        for (bytes, expected) in [
            (b"thanks".to_vec(), "thanks".to_owned()),
            ("grüße".into(), "grüße".to_owned()),
            (b"a\0b".to_vec(), "a\u{fffd}b".to_owned()),
            (b"a\xffb".to_vec(), "a\u{fffd}b".to_owned()),
            ("ü".as_bytes()[..1].to_vec(), String::new()),
            (vec![0xff; BODY_BYTES], "\u{fffd}".repeat(BODY_BYTES / 3)),
        ] {
            assert_eq!(text(bytes), expected);
        }
    }
}
