//! The connection to a mail server, and how much may come over it.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use inbox::inbound::imap::{ImapAccount, Security};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::connection::ImapConnection;
use super::failures::{ImapFault, Within};

/// Anything bytes go over.
pub trait ImapTransport: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ImapTransport for T {}

/// A connection that reads no more bytes than it was allowed: what a server says is kept in memory
/// until it has said it.
pub struct ImapWire {
    stream: Box<dyn ImapTransport>,
    allowance: u64,
}

/// Bytes of a server's answers to one command, unless more was allowed.
pub const ANSWER_BYTES: u64 = 4 * 1024 * 1024;

impl ImapWire {
    pub fn new(stream: impl ImapTransport + 'static) -> ImapWire {
        ImapWire { stream: Box::new(stream), allowance: ANSWER_BYTES }
    }

    /// Allows so many bytes from here on.
    pub fn allow(&mut self, bytes: u64) {
        self.allowance = bytes;
    }
}

impl fmt::Debug for ImapWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wire")
    }
}

impl AsyncRead for ImapWire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let read = (buffer.filled().len() - before) as u64;
        match self.allowance.checked_sub(read) {
            Some(left) => self.allowance = left,
            None => return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into())),
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ImapWire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

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

    /// A connection on which the server has greeted and nobody else can listen.
    pub async fn dial(
        &self,
        account: &ImapAccount,
        within: &Within,
    ) -> Result<ImapConnection, ImapFault> {
        let name = ServerName::try_from(account.host.trim_matches(['[', ']']).to_owned())
            .map_err(|_| ImapFault::NotFound)?;
        let place = (account.host.trim_matches(['[', ']']), account.port);
        let tcp =
            within.connect(TcpStream::connect(place)).await?.map_err(ImapFault::unreachable)?;
        let _ = tcp.set_nodelay(true);
        match account.security {
            Security::Tls => {
                let tls = self.encrypt(name, tcp, within).await?;
                let mut line = ImapConnection::new(ImapWire::new(tls));
                within.answer(line.greeting()).await??;
                Ok(line)
            }
            Security::StartTls => {
                let mut line = ImapConnection::new(ImapWire::new(tcp));
                within.answer(line.greeting()).await??;
                within.answer(line.start_tls()).await??;
                // What came before is dropped with the old line: nobody encrypted it.
                let ImapWire { stream, .. } = line.into_wire();
                let tls = self.encrypt(name, stream, within).await?;
                Ok(ImapConnection::new(ImapWire::new(tls)))
            }
        }
    }

    async fn encrypt(
        &self,
        name: ServerName<'static>,
        stream: impl ImapTransport + 'static,
        within: &Within,
    ) -> Result<impl ImapTransport + 'static, ImapFault> {
        within.connect(self.0.connect(name, stream)).await?.map_err(ImapFault::untrusted)
    }
}
