//! Mail over real sockets.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mail::smtp::Protocol;
use node::supervisor::Supervisor;
use server::mail_in::smtp::{ListenAddress, MailListener, MailListeners, SmtpLimits};
use testing::PATIENCE;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use transport::net::tls_certificate::{CertificateSource, certificate};

use super::TestApp;

impl TestApp {
    /// Opens doors for mail on real sockets.
    pub async fn doors(&self, limits: SmtpLimits, trusted: &str) -> OpenDoors {
        let folder = tempfile::tempdir().unwrap();
        let source = CertificateSource::SelfSigned(folder.path().into());
        let tls = certificate(&source, "mail.acme.example").unwrap();
        let authenticator = self.outside.authenticator.clone();
        let (name, trusted) = ("mail.acme.example", trusted.parse().unwrap());
        let doors = MailListeners::new(self.app.clone(), authenticator, tls, name, trusted, limits);
        let anywhere = ListenAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        let socket = folder.path().join("lmtp.sock");
        let smtp = MailListener::open(&anywhere, Protocol::Smtp).await.unwrap().unwrap();
        let lmtp = MailListener::open(&ListenAddress::Unix(socket.clone()), Protocol::Lmtp)
            .await
            .unwrap()
            .unwrap();
        let smtp_address = smtp.address().unwrap();
        let stopping = CancellationToken::new();
        let tasks = Supervisor::new(stopping.clone());
        let serving = tokio::spawn(async move { doors.serve(vec![smtp, lmtp], &tasks).await });
        OpenDoors { smtp: smtp_address, lmtp: socket, stopping, serving, _folder: folder }
    }
}

pub struct OpenDoors {
    pub smtp: SocketAddr,
    pub lmtp: PathBuf,
    stopping: CancellationToken,
    serving: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl OpenDoors {
    /// A client that has heard the greeting.
    pub async fn client(&self) -> Client<TcpStream> {
        Client::greeted(TcpStream::connect(self.smtp).await.unwrap(), "220 ").await
    }

    /// A client that has said hello.
    pub async fn known_client(&self) -> Client<TcpStream> {
        let mut client = self.client().await;
        client.say("EHLO client.x.example", "250 ").await;
        client
    }

    /// Asks the doors to close; answers when they are.
    pub fn close(&self) {
        self.stopping.cancel();
    }

    pub async fn closed(self) {
        timeout(PATIENCE, self.serving).await.expect("it ends").unwrap();
    }
}

/// A mail client that knows what it wants to hear.
pub struct Client<S> {
    stream: BufReader<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub async fn greeted(stream: S, greeting: &str) -> Client<S> {
        let mut client = Client { stream: BufReader::new(stream) };
        client.hears(greeting).await;
        client
    }

    pub fn over(stream: S) -> Client<S> {
        Client { stream: BufReader::new(stream) }
    }

    pub fn into_inner(self) -> S {
        self.stream.into_inner()
    }

    pub async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Says a line and insists on how the last line of the answer begins.
    pub async fn say(&mut self, line: &str, wanted: &str) -> String {
        self.write(format!("{line}\r\n").as_bytes()).await;
        self.hears(wanted).await
    }

    /// The whole next answer.
    pub async fn hears(&mut self, wanted: &str) -> String {
        let answer = self.next_answer().await;
        let last = answer.lines().last().unwrap_or_default();
        assert!(last.starts_with(wanted), "{wanted:?} was wanted: {answer}");
        answer
    }

    async fn next_answer(&mut self) -> String {
        let mut answer = String::new();
        loop {
            let mut line = String::new();
            let read = timeout(PATIENCE, self.stream.read_line(&mut line)).await;
            read.expect("an answer comes").unwrap();
            let last = line.as_bytes().get(3) != Some(&b'-');
            answer.push_str(&line);
            if last {
                return answer;
            }
        }
    }

    /// Whether the next answer, if one comes, begins like this.
    pub async fn next_is(&mut self, wanted: &str) -> bool {
        let mut line = String::new();
        let _ = timeout(PATIENCE, self.stream.read_line(&mut line)).await;
        line.starts_with(wanted)
    }

    /// Writes a byte again and again, with this pause between two, until an answer comes. That it
    /// is slow is the point.
    pub async fn trickle(&mut self, pause: Duration) {
        let trickle = async {
            while timeout(pause, self.stream.fill_buf()).await.is_err() {
                let _ = self.stream.write_all(b"x").await;
                let _ = self.stream.flush().await;
            }
        };
        timeout(PATIENCE, trickle).await.expect("an answer comes");
    }

    /// True when the other side has hung up.
    pub async fn is_over(&mut self) -> bool {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.stream.read_line(&mut line)).await;
        !matches!(read.expect("it ends or speaks"), Ok(1..))
    }

    /// Sends a mail to one recipient and insists on the answer.
    pub async fn send(&mut self, to: &str, raw: &str, wanted: &str) -> String {
        self.say("MAIL FROM:<ann@x.example>", "250 ").await;
        self.say(&format!("RCPT TO:<{to}>"), "250 ").await;
        self.say("DATA", "354 ").await;
        self.write(stuffed(raw).as_bytes()).await;
        self.write(b".\r\n").await;
        self.hears(wanted).await
    }
}

/// With a second dot before each line that begins with one.
fn stuffed(raw: &str) -> String {
    let stuffed = raw.replace("\r\n.", "\r\n..");
    if stuffed.starts_with('.') { format!(".{stuffed}") } else { stuffed }
}
