//! Connects to mail servers with TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use inbound::imap::{ImapServer, Security};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::connection::ImapConnection;
use super::failures::{ImapFault, ImapTimeouts};
use super::transport::{ImapTransport, ImapWire};
use crate::net::host_guard::{HostGuard, HostRefusal};

/// Addresses of a server that are tried in order.
const ADDRESSES: usize = 4;

/// Connects to mail servers, and insists on TLS with a certificate that is trusted.
#[derive(Clone)]
pub struct Dialer {
    tls: TlsConnector,
    guard: HostGuard,
}

impl Dialer {
    pub fn new(roots: RootCertStore, guard: HostGuard) -> Result<Dialer, String> {
        let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("mail cannot be fetched: {error}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Dialer { tls: TlsConnector::from(Arc::new(tls)), guard })
    }

    /// An encrypted connection, after the server's greeting.
    pub async fn dial(
        &self,
        server: &ImapServer,
        timeouts: &ImapTimeouts,
    ) -> Result<ImapConnection, ImapFault> {
        let name = ServerName::try_from(server.host.trim_matches(['[', ']']).to_owned())
            .map_err(|_| ImapFault::NotFound)?;
        let tcp = timeouts.connect(self.connect(server)).await??;
        let _ = tcp.set_nodelay(true);
        match server.security {
            Security::Tls => {
                let tls = self.encrypt(name, tcp, timeouts).await?;
                let mut line = ImapConnection::new(ImapWire::new(tls));
                timeouts.answer(line.greeting()).await??;
                Ok(line)
            }
            Security::StartTls => {
                let mut line = ImapConnection::new(ImapWire::new(tcp));
                timeouts.answer(line.greeting()).await??;
                timeouts.answer(line.start_tls()).await??;
                // Data received before TLS is dropped: it was not encrypted.
                let stream = line.into_wire().into_stream();
                let tls = self.encrypt(name, stream, timeouts).await?;
                Ok(ImapConnection::new(ImapWire::new(tls)))
            }
        }
    }

    /// A connection to the first address that answers; only the operator's servers may be in a
    /// private network.
    async fn connect(&self, server: &ImapServer) -> Result<TcpStream, ImapFault> {
        let guard =
            if server.by_operator { self.guard.allow_any_host() } else { self.guard.clone() };
        let addresses = guard.addresses(&server.host).await.map_err(|refusal| match refusal {
            HostRefusal::NotFound => ImapFault::NotFound,
            HostRefusal::Private => ImapFault::Private,
        })?;
        let mut fault = ImapFault::NotFound;
        for address in addresses.into_iter().take(ADDRESSES) {
            match TcpStream::connect(SocketAddr::new(address, server.port)).await {
                Ok(stream) => return Ok(stream),
                Err(error) => fault = ImapFault::unreachable(error),
            }
        }
        Err(fault)
    }

    async fn encrypt(
        &self,
        name: ServerName<'static>,
        stream: impl ImapTransport + 'static,
        timeouts: &ImapTimeouts,
    ) -> Result<impl ImapTransport + 'static, ImapFault> {
        timeouts.connect(self.tls.connect(name, stream)).await?.map_err(ImapFault::from_tls_error)
    }
}
