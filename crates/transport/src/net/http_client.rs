//! HTTP clients pinned to checked addresses, and the TLS roots they trust.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::Instant;

use crate::net::pins::DnsPins;

/// Idle connections are kept for less time than the least patient of common servers keep them
/// (two seconds), so that an event is seldom written to a connection that is just being closed.
const IDLE: Duration = Duration::from_millis(1_500);
/// Idle connections to one address.
const IDLE_CONNECTIONS: usize = 64;
/// The HTTP/2 flow-control windows, in bytes: per response and per connection.
const STREAM_BYTES: u32 = 16 * 1024;
const CONNECTION_BYTES: u32 = 1024 * 1024;
/// The interval of HTTP/2 keep-alive pings, and their timeout: otherwise every event to a dead
/// connection's address would wait in it.
const SILENCE: Duration = Duration::from_secs(4);

/// The lifetime of a client and its connections, so that a DNS change takes effect within a minute
/// even on busy connections.
const AGE: Duration = Duration::from_secs(60);

/// The one client of all calls, which keeps connections for the next call.
pub struct WebhookClient {
    tls: ClientConfig,
    pins: DnsPins,
    deadline: Duration,
    allow_http: bool,
    current: Mutex<(Instant, Client)>,
}

impl WebhookClient {
    pub fn new(
        roots: RootCertStore,
        pins: DnsPins,
        deadline: Duration,
        allow_http: bool,
    ) -> Result<WebhookClient, String> {
        let tls = tls(roots)?;
        let first = client(tls.clone(), pins.clone(), deadline, allow_http)?;
        let current = Mutex::new((Instant::now(), first));
        Ok(WebhookClient { tls, pins, deadline, allow_http, current })
    }

    /// The client for a call at this time. Calls of an older one go on undisturbed.
    pub fn client(&self, now: Instant) -> Client {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(current.0) >= AGE {
            let fresh = client(self.tls.clone(), self.pins.clone(), self.deadline, self.allow_http);
            if let Ok(fresh) = fresh {
                *current = (now, fresh);
            }
        }
        current.1.clone()
    }
}

fn client(
    tls: ClientConfig,
    pins: DnsPins,
    deadline: Duration,
    allow_http: bool,
) -> Result<Client, String> {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .https_only(!allow_http)
        .user_agent(concat!("Mailroom/", env!("CARGO_PKG_VERSION")))
        // A proxy would resolve names itself and bypass the SSRF guard.
        .no_proxy()
        .dns_resolver(pins)
        .redirect(Policy::none())
        .referer(false)
        // A connection that is made for a call that has left must end as well.
        .connect_timeout(deadline)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .http2_initial_stream_window_size(STREAM_BYTES)
        .http2_initial_connection_window_size(CONNECTION_BYTES)
        .http2_keep_alive_interval(SILENCE)
        .http2_keep_alive_timeout(SILENCE)
        .build()
        .map_err(|error| format!("webhooks cannot be sent: {error}"))
}

fn tls(roots: RootCertStore) -> Result<ClientConfig, String> {
    let mut tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("webhooks cannot be sent: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

/// A client for the operator's own calls, which go wherever they say.
pub fn own_client(within: Duration) -> Result<Client, String> {
    client_trusting(system_roots(), within)
}

/// The same with authorities of the operator's choice.
pub fn client_trusting(roots: RootCertStore, within: Duration) -> Result<Client, String> {
    Client::builder()
        .tls_backend_preconfigured(tls(roots)?)
        .user_agent(concat!("Mailroom/", env!("CARGO_PKG_VERSION")))
        .timeout(within)
        .build()
        .map_err(|error| error.to_string())
}

/// A client for the APIs of services, which carry a key: they lead nowhere else.
pub fn api_client(within: Duration) -> Result<Client, String> {
    Client::builder()
        .tls_backend_preconfigured(tls(system_roots())?)
        .user_agent(concat!("Mailroom/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .timeout(within)
        .build()
        .map_err(|error| error.to_string())
}

/// The authorities that this machine trusts. They are the system's and not built in: the operator
/// can add or remove one for all programs, and an old binary does not keep trusting revoked ones.
pub fn system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        tracing::warn!(
            "this machine trusts no certificate authority, so webhooks and relays will fail: \
             install ca-certificates, or name a file of them in SSL_CERT_FILE"
        );
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_kept_for_a_minute_and_then_made_anew() {
        let line = WebhookClient::new(RootCertStore::empty(), DnsPins::default(), AGE, false)
            .expect("a client");
        let made = || line.current.lock().unwrap().0;
        let first = made();
        line.client(first + AGE - Duration::from_millis(1));
        assert_eq!(made(), first);
        line.client(first + AGE);
        assert_eq!(made(), first + AGE);
        line.client(first);
        assert_eq!(made(), first + AGE, "an earlier call changes nothing");
    }
}
