//! The listeners of HTTPS, and of HTTP that leads there.

use std::io;
use std::net::SocketAddr;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::STRICT_TRANSPORT_SECURITY;
use axum::middleware::map_response;
use axum::response::Response;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{HttpServer, redirect};
use crate::net::listening::cannot_listen;
use crate::net::tls_certificate::TlsCertificate;

/// A year, as long as browsers' own lists ask for.
const HSTS_SECONDS: u32 = 365 * 24 * 60 * 60;

/// Where HTTPS is served, and where HTTP only leads to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpsListen {
    pub https: Option<SocketAddr>,
    pub redirect: Option<SocketAddr>,
    pub hsts: HstsPolicy,
}

/// For how long browsers that came by HTTPS are told to come no other way (RFC 6797).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HstsPolicy {
    Off,
    /// 0 takes back what browsers were told before.
    Seconds(u32),
}

impl Default for HstsPolicy {
    fn default() -> HstsPolicy {
        HstsPolicy::Seconds(HSTS_SECONDS)
    }
}

impl FromStr for HstsPolicy {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<HstsPolicy, ParseIntError> {
        match text.eq_ignore_ascii_case("off") {
            true => Ok(HstsPolicy::Off),
            false => text.parse().map(HstsPolicy::Seconds),
        }
    }
}

impl HstsPolicy {
    /// The router, whose responses carry the header. Names below ours are not spoken for.
    fn apply(self, router: Router) -> Router {
        let HstsPolicy::Seconds(seconds) = self else { return router };
        let Ok(value) = HeaderValue::try_from(format!("max-age={seconds}")) else { return router };
        router.layer(map_response(move |mut response: Response| {
            response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, value.clone());
            std::future::ready(response)
        }))
    }
}

/// The listeners, open.
pub struct SecureListeners {
    hsts: HstsPolicy,
    https: Option<TcpListener>,
    redirect: Option<TcpListener>,
    certificate: Arc<TlsCertificate>,
    public_url: Arc<str>,
}

impl SecureListeners {
    pub async fn open(
        listen: HttpsListen,
        public_url: &Arc<str>,
        certificate: Arc<TlsCertificate>,
    ) -> io::Result<SecureListeners> {
        let https = bind("https_listen", listen.https, "HTTPS").await?;
        let redirect = bind("redirect_listen", listen.redirect, "HTTP that leads to HTTPS").await?;
        let (hsts, public_url) = (listen.hsts, Arc::clone(public_url));
        Ok(SecureListeners { hsts, https, redirect, certificate, public_url })
    }

    /// Where HTTPS is served.
    pub fn https_address(&self) -> Option<SocketAddr> {
        self.https.as_ref()?.local_addr().ok()
    }

    /// Serves until `stopping`.
    pub async fn serve(self, http: HttpServer, router: Router, stopping: CancellationToken) {
        let SecureListeners { hsts, https, redirect, certificate, public_url } = self;
        let stop = stopping.clone().cancelled_owned();
        let challenges = http.challenges.clone();
        let https = async move {
            let Some(listener) = https else { return Ok(()) };
            let server = HttpServer { listener: "https", tls: Some(certificate), ..http };
            server.serve(listener, hsts.apply(router), stop).await
        };
        let redirect = async move {
            let Some(listener) = redirect else { return Ok(()) };
            let stop = stopping.cancelled_owned();
            redirect::serve(listener, public_url, challenges.as_ref(), stop).await
        };
        let (https, redirect) = tokio::join!(https, redirect);
        if let Err(error) = https.and(redirect) {
            tracing::error!(%error, "an HTTPS listener ended");
        }
    }
}

async fn bind(
    setting: &str,
    address: Option<SocketAddr>,
    what: &str,
) -> io::Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let bound = TcpListener::bind(address).await;
    let bound =
        bound.map_err(|error| io::Error::other(cannot_listen(setting, &address, &error)))?;
    let address = bound.local_addr()?;
    tracing::info!(%address, "serving {what}");
    Ok(Some(bound))
}
