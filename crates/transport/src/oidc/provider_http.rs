//! Requests to the provider. The operator names its issuer, which may be anywhere; other addresses that its
//! documents name must be public (the SSRF guard). Redirects are not followed, and answers are bounded.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder};
use rustls::RootCertStore;
use tokio::time::{Instant, timeout};
use url::{Host, Url};

use crate::net::failures;
use crate::net::http_client::{WebhookClient, api_client};
use crate::net::pins::DnsPins;
use crate::net::ssrf_guard::{Allowed, Blocked, SsrfGuard};

/// One deadline for name, connection and answer.
const WITHIN: Duration = Duration::from_secs(10);
/// The largest answer that is read, in bytes.
const ANSWER_BYTES: usize = 128 * 1024;

/// Why a sign-in at the provider failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OidcFault {
    /// It did not answer, or not with success.
    Unreachable(String),
    /// What it says of itself does not fit the settings.
    Misconfigured(String),
    /// It refused, with a word of OAuth.
    Refused(String),
    /// What it says of the person cannot be trusted.
    Untrusted(&'static str),
}

impl OidcFault {
    /// For the log and the operator.
    pub fn reason(&self) -> String {
        match self {
            OidcFault::Unreachable(reason) | OidcFault::Misconfigured(reason) => reason.clone(),
            OidcFault::Refused(word) => format!("it refused: {}", plain(word)),
            OidcFault::Untrusted(reason) => (*reason).to_owned(),
        }
    }

    /// For the person who signs in.
    pub fn sentence(&self, name: &str) -> String {
        match self {
            OidcFault::Unreachable(_) => {
                format!("{name} could not be reached. Try again later, or sign in another way.")
            }
            OidcFault::Misconfigured(_) => format!(
                "Signing in with {name} is not set up rightly here. Whoever runs this server finds out why \
                 with mailroom self-check."
            ),
            OidcFault::Refused(word) => refusal_sentence(name, word),
            OidcFault::Untrusted(_) => format!(
                "What {name} said about you could not be trusted, so you are not signed in. Begin again; if \
                 it stays so, tell whoever runs this server."
            ),
        }
    }
}

/// What an error word of the provider means to whoever signs in (RFC 6749, 4.1.2.1 and 5.2; OpenID Connect
/// Core, 3.1.2.6).
fn refusal_sentence(name: &str, word: &str) -> String {
    match word {
        "access_denied" => format!("You were not signed in: it was not allowed at {name}."),
        "invalid_client" | "unauthorized_client" => format!(
            "{name} does not know this server, or not its secret. Whoever runs it has to look at the client \
             that is registered there."
        ),
        "invalid_grant" => format!("{name} does not accept this sign-in any more. Begin again."),
        "temporarily_unavailable" | "server_error" => {
            format!("{name} cannot answer at the moment. Try again later.")
        }
        _ => format!("{name} refused the sign-in ({}).", plain(word)),
    }
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_lowercase() || *c == '_').take(40).collect()
}

/// An answer with any status.
pub struct ProviderAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl ProviderAnswer {
    /// The body of a success.
    pub fn success(self, what: &str) -> Result<Vec<u8>, OidcFault> {
        match self.status {
            200 => Ok(self.body),
            300..=399 => {
                let reason = format!("{what} leads elsewhere (status {})", self.status);
                Err(OidcFault::Misconfigured(reason))
            }
            status => Err(OidcFault::Unreachable(format!("{what}: status {status}"))),
        }
    }
}

pub struct ProviderHttp {
    issuer: Url,
    /// For the issuer's own origin.
    own: Client,
    guard: SsrfGuard,
    pins: DnsPins,
    guarded: WebhookClient,
}

impl ProviderHttp {
    pub fn new(
        issuer: Url,
        guard: SsrfGuard,
        roots: RootCertStore,
    ) -> Result<ProviderHttp, String> {
        let pins = DnsPins::default();
        let guarded = WebhookClient::new(roots, pins.clone(), WITHIN, false)?;
        Ok(ProviderHttp { issuer, own: api_client(WITHIN)?, guard, pins, guarded })
    }

    /// An address in the provider's own document: https, or at the issuer's origin.
    pub fn endpoint(&self, what: &str, text: &str) -> Result<Url, OidcFault> {
        let fault = || OidcFault::Misconfigured(format!("its {what} is no https address"));
        let url = Url::parse(text).map_err(|_| fault())?;
        let is_safe = url.scheme() == "https" || self.is_own(&url);
        if is_safe && url.has_host() && url.username().is_empty() && url.password().is_none() {
            Ok(url)
        } else {
            Err(fault())
        }
    }

    fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.issuer.origin()
    }

    /// Reads a document, with the access token that it may ask for.
    pub async fn get(&self, url: &Url, token: Option<&str>) -> Result<ProviderAnswer, OidcFault> {
        let ask = |client: &Client| {
            let request = client.get(url.clone()).header(ACCEPT, "application/json");
            match token {
                Some(token) => request.bearer_auth(token),
                None => request,
            }
        };
        self.send(url, ask).await
    }

    /// Posts a form, with the credentials of the client if they belong into a header.
    pub async fn post(
        &self,
        url: &Url,
        form: String,
        credentials: Option<String>,
    ) -> Result<ProviderAnswer, OidcFault> {
        let ask = |client: &Client| {
            let request = client
                .post(url.clone())
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .header(ACCEPT, "application/json")
                .body(form);
            match credentials {
                Some(credentials) => request.header(AUTHORIZATION, credentials),
                None => request,
            }
        };
        self.send(url, ask).await
    }

    async fn send(
        &self,
        url: &Url,
        ask: impl FnOnce(&Client) -> RequestBuilder,
    ) -> Result<ProviderAnswer, OidcFault> {
        if self.is_own(url) {
            return read(ask(&self.own)).await;
        }
        let guarded = async {
            let admitted = self.guard.admit(url.as_str()).await;
            let Allowed { addresses, .. } = admitted.map_err(|blocked| match blocked {
                Blocked::NotFound => OidcFault::Unreachable(failures::NOT_FOUND.into()),
                Blocked::Refused(_) => OidcFault::Misconfigured(format!(
                    "{} is neither at the issuer's own address nor public",
                    url.host_str().unwrap_or_default()
                )),
            })?;
            let _pinned = match url.host() {
                Some(Host::Domain(name)) => Some(self.pins.hold(name, &addresses)),
                _ => None,
            };
            read(ask(&self.guarded.client(Instant::now()))).await
        };
        let slow = |_| OidcFault::Unreachable(failures::too_slow(WITHIN));
        timeout(WITHIN, guarded).await.map_err(slow)?
    }
}

async fn read(request: RequestBuilder) -> Result<ProviderAnswer, OidcFault> {
    // The causes of a failure may quote the request, so they are not told.
    let broken =
        |error: reqwest::Error| OidcFault::Unreachable(failures::of(&error.without_url(), WITHIN));
    let mut response = request.send().await.map_err(broken)?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > ANSWER_BYTES {
            let reason = format!("an answer is larger than {ANSWER_BYTES} bytes");
            return Err(OidcFault::Unreachable(reason));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(ProviderAnswer { status, body })
}
