//! The API of a help desk: JSON and files by GET, again after a passing failure, and as slowly as the
//! server asks for.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use transport::net::failures;
use transport::net::http_client::{WebhookClient, api_client, system_roots};
use transport::net::pins::DnsPins;
use transport::net::ssrf_guard::{Allowed, Blocked, SsrfGuard};
use url::{Host, Url};

/// How long one request may take, a large file included.
const DEADLINE: Duration = Duration::from_secs(300);
/// Attempts of one request, and the pause before the second; it doubles each time.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(500);
/// How long a server may make us wait in all for one request, and where it does not say how long.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
const USUAL_WAIT: Duration = Duration::from_secs(10);
/// Redirects of a file that are followed.
const REDIRECTS: usize = 5;
/// Bytes of a JSON answer.
pub const JSON_BYTES: usize = 64 * 1024 * 1024;

/// How a help desk is reached. Its key goes to its own address alone.
pub struct DeskApi {
    client: Client,
    /// Ends in a slash.
    base: Url,
    key: (HeaderName, HeaderValue),
    elsewhere: Elsewhere,
}

/// Servers that a help desk names for its files: they are called under the rules for webhooks.
struct Elsewhere {
    ssrf_guard: SsrfGuard,
    pins: DnsPins,
    line: WebhookClient,
}

/// Why something could not be had.
#[derive(Debug)]
pub struct ApiFault {
    /// A sentence without addresses and keys.
    pub reason: String,
    /// True when asking again would not help: it is not there, or too large.
    pub is_final: bool,
}

/// What one attempt came to.
enum AttemptFault {
    /// The server asks to wait.
    Later(Duration),
    Passing(String),
    Refused(ApiFault),
}

impl DeskApi {
    /// `key` is a header and its value.
    pub fn new(
        base: Url,
        (header, value): (&'static str, &str),
        ssrf_guard: SsrfGuard,
    ) -> Result<DeskApi, String> {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| "The token has characters that no token has.".to_owned())?;
        value.set_sensitive(true);
        let pins = DnsPins::default();
        let allow_http = ssrf_guard.rules().allow_private;
        let line = WebhookClient::new(system_roots(), pins.clone(), DEADLINE, allow_http)?;
        Ok(DeskApi {
            client: api_client(DEADLINE)?,
            base,
            key: (HeaderName::from_static(header), value),
            elsewhere: Elsewhere { ssrf_guard, pins, line },
        })
    }

    /// What a path with its query holds, as JSON.
    pub async fn json(&self, path: &str) -> Result<Value, ApiFault> {
        let url = self.base.join(path).map_err(|_| unreadable())?;
        let body = self.get(url, JSON_BYTES).await?;
        serde_json::from_slice(&body).map_err(|_| unreadable())
    }

    /// The bytes of a file, by its address there or elsewhere.
    pub async fn file(&self, address: &str, most_bytes: usize) -> Result<Vec<u8>, ApiFault> {
        let url = self.base.join(address).map_err(|_| unreadable())?;
        self.get(url, most_bytes).await
    }

    async fn get(&self, url: Url, most_bytes: usize) -> Result<Vec<u8>, ApiFault> {
        let (mut failed, mut waited) = (0, Duration::ZERO);
        loop {
            match self.attempt(url.clone(), most_bytes).await {
                Ok(body) => return Ok(body),
                Err(AttemptFault::Refused(fault)) => return Err(fault),
                Err(AttemptFault::Later(wait)) => {
                    // A server that names no time at all is not asked without a pause.
                    let wait = wait.max(PAUSE);
                    if waited.saturating_add(wait) > LONGEST_WAIT {
                        let reason = "The server asks to wait for too long.".to_owned();
                        return Err(ApiFault { reason, is_final: false });
                    }
                    waited += wait;
                    sleep(wait).await;
                }
                Err(AttemptFault::Passing(reason)) => {
                    failed += 1;
                    if failed == ATTEMPTS {
                        return Err(ApiFault { reason, is_final: false });
                    }
                    sleep(PAUSE * 2u32.pow(failed - 1)).await;
                }
            }
        }
    }

    /// One request, and those that its answers lead to.
    async fn attempt(&self, url: Url, most_bytes: usize) -> Result<Vec<u8>, AttemptFault> {
        let mut url = url;
        for _ in 0..=REDIRECTS {
            let response = if url.origin() == self.base.origin() {
                let (header, value) = self.key.clone();
                self.client.get(url.clone()).header(header, value).send().await.map_err(passing)?
            } else {
                self.elsewhere.get(&url).await?
            };
            if !response.status().is_redirection() {
                return read(response, most_bytes).await;
            }
            let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let next = location.and_then(|to| url.join(to).ok());
            url = next.ok_or_else(|| AttemptFault::Refused(unreadable()))?;
        }
        let reason = "The address leads on and on.".to_owned();
        Err(AttemptFault::Refused(ApiFault { reason, is_final: true }))
    }
}

impl Elsewhere {
    async fn get(&self, url: &Url) -> Result<Response, AttemptFault> {
        let admitted = self.ssrf_guard.admit(url.as_str()).await;
        let Allowed { url, addresses } = admitted.map_err(|blocked| match blocked {
            Blocked::NotFound => AttemptFault::Passing(failures::NOT_FOUND.to_owned()),
            Blocked::Refused(error) => {
                AttemptFault::Refused(ApiFault { reason: error.to_string(), is_final: true })
            }
        })?;
        let _pinned = match url.host() {
            Some(Host::Domain(name)) => Some(self.pins.hold(name, &addresses)),
            _ => None,
        };
        self.line.client(Instant::now()).get(url).send().await.map_err(passing)
    }
}

async fn read(mut response: Response, most_bytes: usize) -> Result<Vec<u8>, AttemptFault> {
    let refused = |reason: &str, is_final: bool| {
        AttemptFault::Refused(ApiFault { reason: reason.to_owned(), is_final })
    };
    match response.status().as_u16() {
        200..=299 => {}
        429 => return Err(AttemptFault::Later(asked_wait(&response))),
        401 => return Err(refused("The server refuses the token.", false)),
        403 => return Err(refused("The token may not read this.", true)),
        404 | 410 => return Err(refused("It is not there any more.", true)),
        status @ 500.. => {
            let reason = format!("The server answered with the status {status}.");
            return Err(AttemptFault::Passing(reason));
        }
        status => {
            let reason = format!("The server answered with the status {status}.");
            return Err(refused(&reason, true));
        }
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(passing)? {
        if body.len() + chunk.len() > most_bytes {
            let reason = format!("It is larger than {} MB.", most_bytes / (1024 * 1024));
            return Err(refused(&reason, true));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The seconds of `Retry-After`, which Help Scout calls otherwise; a date there counts as no time named.
fn asked_wait(response: &Response) -> Duration {
    let headers = response.headers();
    let named = headers.get(RETRY_AFTER).or_else(|| headers.get("x-ratelimit-retry-after"));
    let named = named.and_then(|after| after.to_str().ok());
    let seconds = named.and_then(|after| after.trim().parse().ok());
    seconds.map_or(USUAL_WAIT, Duration::from_secs)
}

fn passing(error: reqwest::Error) -> AttemptFault {
    AttemptFault::Passing(failures::of(&error.without_url(), DEADLINE))
}

fn unreadable() -> ApiFault {
    let reason = "The server's answer cannot be read.".to_owned();
    ApiFault { reason, is_final: true }
}

/// The address behind `zammad://HOST/PATH`, with its help desk's name. `zammad+http://` is without TLS,
/// which only a server on this machine may be: the token would be readable on the way.
pub fn base_address(source: &str) -> Result<(String, Url), String> {
    let (scheme, rest) = source.split_once("://").unwrap_or_default();
    let (name, transport) = match scheme.strip_suffix("+http") {
        Some(name) => (name, "http"),
        None => (scheme, "https"),
    };
    let told =
        || format!("{name}://: must be followed by a host, such as {name}://help.acme.example");
    let mut url = Url::parse(&format!("{transport}://{rest}")).map_err(|_| told())?;
    if url.host().is_none() || url.query().is_some() || url.fragment().is_some() {
        return Err(told());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("Give the token with --token-file, not in the address.".into());
    }
    if transport == "http" && !is_this_machine(&url) {
        return Err(format!("{name}+http:// is for a server on this machine alone."));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok((name.to_owned(), url))
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_names_a_help_desk_and_its_address() {
        let read = |source: &str| base_address(source).map(|(name, url)| format!("{name} {url}"));
        assert_eq!(read("zammad://help.x.example").unwrap(), "zammad https://help.x.example/");
        assert_eq!(
            read("chatwoot://c.x.example:8443/a/3").unwrap(),
            "chatwoot https://c.x.example:8443/a/3/"
        );
        assert_eq!(
            read("freescout+http://127.0.0.1:81/").unwrap(),
            "freescout http://127.0.0.1:81/"
        );
        for bad in ["zammad://", "zammad://h?token=1", "zammad://me:secret@h", "zammad+http://h"] {
            let refused = read(bad).unwrap_err();
            assert!(!refused.contains("secret"), "{refused}");
        }
    }
}
