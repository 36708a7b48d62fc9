//! The listeners of HTTPS, and of HTTP that leads there.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{HttpServer, redirect};
use crate::net::tls_certificate::TlsCertificate;

/// Where HTTPS is served, and where HTTP only leads to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpsListen {
    pub https: Option<SocketAddr>,
    pub redirect: Option<SocketAddr>,
}

/// The listeners, open.
pub struct SecureListeners {
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
        let https = bind(listen.https, "HTTPS").await?;
        let redirect = bind(listen.redirect, "HTTP that leads to HTTPS").await?;
        Ok(SecureListeners { https, redirect, certificate, public_url: Arc::clone(public_url) })
    }

    /// Serves until `stopping`.
    pub async fn serve(self, http: HttpServer, router: Router, stopping: CancellationToken) {
        let SecureListeners { https, redirect, certificate, public_url } = self;
        let stop = stopping.clone().cancelled_owned();
        let https = async move {
            let Some(listener) = https else { return Ok(()) };
            let server = HttpServer { listener: "https", tls: Some(certificate), ..http };
            server.serve(listener, router, stop).await
        };
        let redirect = async move {
            let Some(listener) = redirect else { return Ok(()) };
            redirect::serve(listener, public_url, stopping.cancelled_owned()).await
        };
        let (https, redirect) = tokio::join!(https, redirect);
        if let Err(error) = https.and(redirect) {
            tracing::error!(%error, "an HTTPS listener ended");
        }
    }
}

async fn bind(address: Option<SocketAddr>, what: &str) -> io::Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let bound = TcpListener::bind(address).await;
    let bound =
        bound.map_err(|error| io::Error::other(format!("cannot listen on {address}: {error}")))?;
    let address = bound.local_addr()?;
    tracing::info!(%address, "serving {what}");
    Ok(Some(bound))
}
