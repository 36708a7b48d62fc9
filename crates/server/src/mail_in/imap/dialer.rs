//! Connects to mail servers with TLS.

use std::sync::Arc;

use inbox::inbound::imap::{ImapAccount, Security};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::connection::ImapConnection;
use super::failures::{ImapFault, ImapTimeouts};
use super::transport::{ImapTransport, ImapWire};

/// Connects to mail servers, and insists on TLS with a certificate that is trusted.
#[derive(Clone)]
pub struct Dialer(TlsConnector);

impl Dialer {
    pub fn new(roots: RootCertStore) -> Result<Dialer, String> {
        let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("mail cannot be fetched: {error}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Dialer(TlsConnector::from(Arc::new(tls))))
    }

    /// An encrypted connection, after the server's greeting.
    pub async fn dial(
        &self,
        account: &ImapAccount,
        timeouts: &ImapTimeouts,
    ) -> Result<ImapConnection, ImapFault> {
        let name = ServerName::try_from(account.host.trim_matches(['[', ']']).to_owned())
            .map_err(|_| ImapFault::NotFound)?;
        let place = (account.host.trim_matches(['[', ']']), account.port);
        let tcp =
            timeouts.connect(TcpStream::connect(place)).await?.map_err(ImapFault::unreachable)?;
        let _ = tcp.set_nodelay(true);
        match account.security {
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

    async fn encrypt(
        &self,
        name: ServerName<'static>,
        stream: impl ImapTransport + 'static,
        timeouts: &ImapTimeouts,
    ) -> Result<impl ImapTransport + 'static, ImapFault> {
        timeouts.connect(self.0.connect(name, stream)).await?.map_err(ImapFault::untrusted)
    }
}
