//! Lines to and from an SMTP server, each with a timeout.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::reply::{LINE_BYTES, LINES, SmtpReply, read_line};

/// The timeout of each step. The last one is long, because a server that scans a mail before it
/// replies may have accepted it: closing early would send it twice (RFC 5321, section 4.5.3.2).
#[derive(Clone, Copy, Debug)]
pub struct SmtpTimeouts {
    pub connect: Duration,
    pub command: Duration,
    /// Writing one block of the mail.
    pub block: Duration,
    /// The answer to the end of the mail.
    pub verdict: Duration,
}

impl Default for SmtpTimeouts {
    fn default() -> SmtpTimeouts {
        SmtpTimeouts {
            connect: Duration::from_secs(30),
            command: Duration::from_secs(120),
            block: Duration::from_secs(120),
            verdict: Duration::from_secs(600),
        }
    }
}

/// Bytes of a mail that are written at a time.
const BLOCK_BYTES: usize = 32 * 1024;

pub trait SmtpTransport: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> SmtpTransport for T {}

/// The connection: lines of a reply in, bytes out, each within its time.
pub struct SmtpStream {
    stream: BufReader<Box<dyn SmtpTransport>>,
    patience: SmtpTimeouts,
}

impl SmtpStream {
    pub fn over(stream: TcpStream, patience: SmtpTimeouts) -> SmtpStream {
        let _ = stream.set_nodelay(true);
        SmtpStream { stream: BufReader::new(Box::new(stream)), patience }
    }

    /// The same connection encrypted. Data received before the handshake is discarded.
    pub async fn start_tls(
        self,
        config: &Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> io::Result<SmtpStream> {
        if !self.stream.buffer().is_empty() {
            return Err(io::Error::other("the server sent data before the TLS handshake"));
        }
        let patience = self.patience;
        let connector = TlsConnector::from(Arc::clone(config));
        let stream =
            within(patience.command, connector.connect(name, self.stream.into_inner())).await?;
        Ok(SmtpStream { stream: BufReader::new(Box::new(stream)), patience })
    }

    pub async fn send_command(&mut self, command: &str) -> io::Result<()> {
        within(self.patience.command, async {
            self.stream.write_all(command.as_bytes()).await?;
            self.stream.flush().await
        })
        .await
    }

    pub async fn send_data(&mut self, data: &[u8]) -> io::Result<()> {
        for block in data.chunks(BLOCK_BYTES) {
            within(self.patience.block, self.stream.write_all(block)).await?;
        }
        within(self.patience.block, self.stream.flush()).await
    }

    pub async fn read_reply(&mut self) -> io::Result<SmtpReply> {
        within(self.patience.command, self.read_lines()).await
    }

    /// The answer to the end of a mail.
    pub async fn read_final_reply(&mut self) -> io::Result<SmtpReply> {
        within(self.patience.verdict, self.read_lines()).await
    }

    async fn read_lines(&mut self) -> io::Result<SmtpReply> {
        let mut lines = Vec::new();
        while lines.len() < LINES {
            let mut line = Vec::new();
            let mut bounded = (&mut self.stream).take(LINE_BYTES as u64);
            bounded.read_until(b'\n', &mut line).await?;
            if line.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up"));
            }
            let ended = line.strip_suffix(b"\n");
            let ended = ended.ok_or_else(|| io::Error::other("it said more than fits a line"))?;
            let line = ended.strip_suffix(b"\r").unwrap_or(ended);
            let (code, more, text) =
                read_line(line).ok_or_else(|| io::Error::other("it does not speak SMTP"))?;
            lines.push(text);
            if !more {
                return Ok(SmtpReply { code, lines });
            }
        }
        Err(io::Error::other("it said more than a reply holds"))
    }
}

pub async fn within<T>(
    time: Duration,
    doing: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    match tokio::time::timeout(time, doing).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long")),
    }
}
