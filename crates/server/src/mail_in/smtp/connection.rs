//! One client's connection: a session over a socket, with its time limits.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use db::Tx;
use inbound::{InboundMail, IngestError, Ingested, MailSource, find_recipient, ingest, takes_mail};
use mail::smtp::{
    Protocol, RecipientReply, RefusedEnvelope, SmtpRefusal, SmtpServerSession, SmtpStep,
    SmtpTransaction,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;

use super::refusals::{RELAY_DENIED, SHUTS_DOWN, TIMEOUT, TLS_FAILED};
use super::shared::MailListeners;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

const IDLE_TIMEOUT: SmtpRefusal =
    SmtpRefusal { reason: TIMEOUT, line: "421 4.4.2 Idle timeout, closing connection" };
const TRANSFER_TIMEOUT: SmtpRefusal =
    SmtpRefusal { reason: TIMEOUT, line: "421 4.4.2 Message transfer timeout, closing connection" };
const SESSION_TIMEOUT: SmtpRefusal =
    SmtpRefusal { reason: TIMEOUT, line: "421 4.4.2 Session timeout, try again later" };
const SHUTTING_DOWN: SmtpRefusal =
    SmtpRefusal { reason: SHUTS_DOWN, line: "421 4.3.2 Service shutting down, try again later" };
const NO_SUCH_INBOX: &str = "no-such-inbox";

/// One client's connection.
pub(super) struct SmtpConnection<'a> {
    listeners: &'a MailListeners,
    protocol: Protocol,
    /// `None` for a Unix socket, which has no address.
    peer: Option<IpAddr>,
    began: Instant,
    held: BufferedBytes<'a>,
    /// The recipient that was just looked for is of a domain that has no inbox here.
    elsewhere: bool,
}

/// How a part of a session ended.
enum End {
    Closed,
    StartTls,
}

impl<'a> SmtpConnection<'a> {
    pub fn new(
        listeners: &'a MailListeners,
        protocol: Protocol,
        peer: Option<IpAddr>,
    ) -> SmtpConnection<'a> {
        let held = BufferedBytes { all: &listeners.bytes_held, own: 0 };
        SmtpConnection { listeners, protocol, peer, began: Instant::now(), held, elsewhere: false }
    }

    /// Runs the session until either side ends it.
    pub async fn converse<S>(mut self, mut stream: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let (name, limits) = (&self.listeners.name, self.listeners.limits.session.clone());
        let mut session = SmtpServerSession::new(self.protocol, name, limits, true);
        if let End::Closed = self.run(&mut session, &mut stream).await? {
            return stream.shutdown().await;
        }
        let acceptor = TlsAcceptor::from(self.listeners.tls.config());
        let accepted = within(self.listeners.limits.silence, acceptor.accept(stream)).await;
        let mut stream = accepted.inspect_err(|_| {
            self.listeners.refusals.note(self.peer, TLS_FAILED, &RefusedEnvelope::default());
        })?;
        session.secure();
        self.run(&mut session, &mut stream).await?;
        stream.shutdown().await
    }

    async fn run<S>(&mut self, session: &mut SmtpServerSession, stream: &mut S) -> io::Result<End>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let mut input = vec![0; READ_BYTES];
        let mut mail_began = None;
        loop {
            match session.step() {
                SmtpStep::Read => {
                    self.hold(session);
                    self.write(session, stream).await?;
                    mail_began = session.in_mail().then(|| mail_began.unwrap_or_else(Instant::now));
                    match self.read(stream, &mut input, mail_began).await? {
                        ReadOutcome::Bytes(0) => return Ok(End::Closed),
                        ReadOutcome::Bytes(count) => session.feed(&input[..count]),
                        ReadOutcome::Ended(refusal) => session.end(refusal),
                    }
                }
                SmtpStep::FindInbox(address) => {
                    match self.find(address).await {
                        RecipientLookup::Inbox => session.know_recipient(Some(true)),
                        RecipientLookup::Nobody => session.know_recipient(Some(false)),
                        RecipientLookup::Deferred => session.defer_recipient(),
                        RecipientLookup::Failed => session.know_recipient(None),
                    }
                    self.note_refusals(session);
                }
                SmtpStep::TakeIn(mail) => {
                    self.held.set(mail.bytes.len());
                    let outcomes = self.ingest(session.helo(), mail).await;
                    self.held.set(0);
                    session.know_mail(&outcomes);
                }
                SmtpStep::StartTls => {
                    self.write(session, stream).await?;
                    return Ok(End::StartTls);
                }
                SmtpStep::Close => {
                    self.write(session, stream).await?;
                    return Ok(End::Closed);
                }
            }
        }
    }

    /// Counts the session's buffered bytes; over the limit of all connections, it drops the mail.
    fn hold(&mut self, session: &mut SmtpServerSession) {
        self.held.set(session.held_bytes());
        if self.held.all.load(Ordering::Relaxed) > self.listeners.limits.bytes_at_once {
            session.drop_mail();
            self.held.set(0);
        }
    }

    fn note_refusals(&self, session: &mut SmtpServerSession) {
        for (refusal, envelope) in session.take_refusals() {
            let reason = match refusal.reason {
                NO_SUCH_INBOX if self.elsewhere => RELAY_DENIED,
                reason => reason,
            };
            self.listeners.refusals.note(self.peer, reason, &envelope);
        }
    }

    async fn write<S>(&self, session: &mut SmtpServerSession, stream: &mut S) -> io::Result<()>
    where
        S: AsyncWrite + Unpin,
    {
        self.note_refusals(session);
        let output = session.take_output();
        if output.is_empty() {
            return Ok(());
        }
        let all = async {
            stream.write_all(&output).await?;
            stream.flush().await
        };
        within(self.listeners.limits.silence, all).await
    }

    async fn read<S>(
        &self,
        stream: &mut S,
        input: &mut [u8],
        mail_began: Option<Instant>,
    ) -> io::Result<ReadOutcome>
    where
        S: AsyncRead + Unpin,
    {
        let limits = &self.listeners.limits;
        let (silent, over) = (Instant::now() + limits.silence, self.began + limits.session_time);
        let slow = mail_began.map(|began| began + limits.message_time);
        let mut ends = vec![(silent, IDLE_TIMEOUT), (over, SESSION_TIMEOUT)];
        ends.extend(slow.map(|slow| (slow, TRANSFER_TIMEOUT)));
        let first = ends.into_iter().min_by_key(|(end, _)| *end);
        let (until, refusal) = first.unwrap_or((silent, IDLE_TIMEOUT));
        tokio::select! {
            read = timeout_at(until, stream.read(input)) => match read {
                Ok(count) => Ok(ReadOutcome::Bytes(count?)),
                Err(_) => Ok(ReadOutcome::Ended(refusal)),
            },
            () = self.listeners.stopping.cancelled() => Ok(ReadOutcome::Ended(SHUTTING_DOWN)),
        }
    }

    /// Whether a recipient has an inbox here that takes mail.
    async fn find(&mut self, address: String) -> RecipientLookup {
        let find = move |tx: &mut Tx<'_>| {
            if let Some(inbox) = find_recipient(tx, &address)? {
                let found = match takes_mail(tx, inbox.ws)? {
                    true => RecipientLookup::Inbox,
                    false => RecipientLookup::Deferred,
                };
                return Ok((found, false));
            }
            let elsewhere = !is_our_domain(tx, &address)?;
            Ok::<_, base::error::Error>((RecipientLookup::Nobody, elsewhere))
        };
        match self.listeners.app.store.read(find).await {
            Ok((found, elsewhere)) => {
                self.elsewhere = elsewhere;
                found
            }
            Err(error) => {
                tracing::error!(cause = ?error, "a recipient could not be looked up");
                RecipientLookup::Failed
            }
        }
    }

    async fn ingest(&self, helo: &str, mail: SmtpTransaction) -> Vec<RecipientReply> {
        let SmtpTransaction { sender, recipients, bytes } = mail;
        let delivery =
            InboundMail { sender: Some(sender), recipients, source: self.source(helo), raw: bytes };
        let taken = ingest(&self.listeners.app, &*self.listeners.authenticator, delivery).await;
        taken.iter().map(outcome).collect()
    }

    fn source(&self, helo: &str) -> MailSource {
        match self.peer {
            Some(ip) if self.protocol == Protocol::Smtp && !self.listeners.trusted.contains(ip) => {
                MailSource::Sender { ip: ip.to_canonical(), helo: helo.to_owned() }
            }
            _ => MailSource::OurServer,
        }
    }
}

/// True for an address of a domain that has inboxes here: its postmaster is one of them.
fn is_our_domain(tx: &mut Tx<'_>, address: &str) -> base::error::Result<bool> {
    match address.rsplit_once('@') {
        Some((_, domain)) => Ok(find_recipient(tx, &format!("postmaster@{domain}"))?.is_some()),
        None => Ok(true),
    }
}

fn outcome(taken: &Result<Ingested, IngestError>) -> RecipientReply {
    match taken {
        Ok(
            Ingested::Filed(_)
            | Ingested::Duplicate(_)
            | Ingested::OwnCopy
            | Ingested::CalendarAnswer,
        ) => RecipientReply::Taken,
        Ok(Ingested::MailLoop) => RecipientReply::MailLoop,
        Ok(Ingested::NoInbox) => RecipientReply::NoInbox,
        Ok(Ingested::Deferred) => RecipientReply::Deferred,
        Err(IngestError) => RecipientReply::Trouble,
    }
}

/// What is known of a recipient.
enum RecipientLookup {
    Inbox,
    Nobody,
    /// Its workspace takes no mail at present.
    Deferred,
    Failed,
}

/// The result of waiting for the client.
enum ReadOutcome {
    /// Zero means that the client disconnected.
    Bytes(usize),
    /// The session ends with this reply.
    Ended(SmtpRefusal),
}

/// Bytes of mail that a connection buffers, counted in the total of all connections.
struct BufferedBytes<'a> {
    all: &'a AtomicUsize,
    own: usize,
}

impl BufferedBytes<'_> {
    fn set(&mut self, bytes: usize) {
        if bytes >= self.own {
            self.all.fetch_add(bytes - self.own, Ordering::Relaxed);
        } else {
            self.all.fetch_sub(self.own - bytes, Ordering::Relaxed);
        }
        self.own = bytes;
    }
}

impl Drop for BufferedBytes<'_> {
    fn drop(&mut self) {
        self.set(0);
    }
}

async fn within<T>(patience: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(patience, work).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
