//! Fetches small pages over HTTPS behind the SSRF guard.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use rustls::RootCertStore;
use tokio::time::{Instant, timeout_at};
use url::Host;

use crate::net::failures;
use crate::net::http_client::WebhookClient;
use crate::net::pins::DnsPins;
use crate::net::ssrf_guard::{Allowed, Blocked, SsrfGuard};

/// Fetches small pages of strangers, under the rules that hold for webhooks: HTTPS alone, to public
/// addresses alone, no redirects, one deadline.
pub struct Pages {
    ssrf_guard: SsrfGuard,
    pins: DnsPins,
    line: WebhookClient,
    deadline: Duration,
}

/// A response with any status.
#[derive(Debug)]
pub struct FetchedPage {
    pub status: u16,
    /// The media type in lower case, without parameters.
    pub kind: String,
    /// Where a redirect leads.
    pub location: Option<String>,
    pub body: Vec<u8>,
}

impl Pages {
    pub fn new(
        ssrf_guard: SsrfGuard,
        roots: RootCertStore,
        deadline: Duration,
    ) -> Result<Pages, String> {
        let pins = DnsPins::default();
        let line = WebhookClient::new(roots, pins.clone(), deadline, false)?;
        Ok(Pages { ssrf_guard, pins, line, deadline })
    }

    /// The error is a sentence that names no address found.
    pub async fn get(&self, url: &str, most_bytes: usize) -> Result<FetchedPage, String> {
        let until = Instant::now() + self.deadline;
        let within = timeout_at(until, self.fetch(url, most_bytes, until));
        within.await.unwrap_or_else(|_| Err(failures::too_slow(self.deadline)))
    }

    async fn fetch(
        &self,
        url: &str,
        most_bytes: usize,
        until: Instant,
    ) -> Result<FetchedPage, String> {
        let admitted = self.ssrf_guard.admit(url).await;
        let Allowed { url, addresses } = admitted.map_err(|barred| match barred {
            Blocked::NotFound => failures::NOT_FOUND.to_owned(),
            Blocked::Refused(error) => error.to_string(),
        })?;
        let _pinned = match url.host() {
            Some(Host::Domain(name)) => Some(self.pins.hold(name, &addresses)),
            _ => None,
        };
        let sentence = |error: reqwest::Error| failures::of(&error.without_url(), self.deadline);
        let asked = self.line.client(Instant::now()).get(url).send().await;
        let mut response = asked.map_err(sentence)?;
        let (status, kind) = (response.status().as_u16(), kind(&response));
        let location = location(&response);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(sentence)? {
            // The clock is looked at here too: chunks of nothing are always ready.
            if Instant::now() >= until {
                return Err(failures::too_slow(self.deadline));
            }
            if body.len() + chunk.len() > most_bytes {
                return Err(format!("The page is larger than {most_bytes} bytes."));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(FetchedPage { status, kind, location, body })
    }
}

/// The address in `Location`, which may be relative to the one that was asked for.
fn location(response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    response.url().join(location).ok().map(String::from)
}

fn kind(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}
