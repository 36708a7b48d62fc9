//! An SMTP client session: greeting, TLS, sign-in, transactions.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jobs::{OutgoingMail, RelayOutcome, RelayReason};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;

use super::extensions::SmtpExtensions;
use super::reply::SmtpReply;
use super::stream::{SmtpStream, SmtpTimeouts, within};
use super::text::as_data;
use crate::mail_oauth::{TokenFailure, xoauth2};

/// The code of a connection that ended too early.
const BROKEN: &str = "connection-broken";

/// The connection settings.
#[derive(Clone)]
pub struct SmtpSessionConfig {
    /// The name given in EHLO.
    pub helo: String,
    pub security: Security,
    pub tls: Arc<ClientConfig>,
    pub login: Option<Login>,
    pub patience: SmtpTimeouts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Never encrypted.
    Clear,
    /// Encrypted when the server offers it.
    WhenOffered,
    /// Encrypted, or not at all.
    Required,
    /// Encrypted before the first word (port 465).
    FromTheStart,
}

/// What is signed in with.
#[derive(Clone, PartialEq, Eq)]
pub enum Login {
    Password { user: String, password: String },
    AccessToken { user: String, token: String },
}

/// Passwords are in no log.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

/// Why no session could be opened. It concerns the server, not a mail.
#[derive(Debug)]
pub struct ConnectFailure {
    pub sentence: String,
    pub fault: ConnectFault,
    /// The fault in a word, for software.
    code: &'static str,
    /// What the server said to a password, in a few characters; it is shown to the person who set
    /// the server up, and is in no log.
    pub said: String,
}

/// The kind of a [`ConnectFailure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectFault {
    NotFound,
    Private,
    Unreachable,
    Slow,
    /// The server offers none.
    NoEncryption,
    /// The connection could not be encrypted although the server offered it.
    Encryption,
    /// The user name or the password is wrong, or the access token is not accepted.
    Refused,
    /// There is no access token.
    NoToken,
    Other,
}

impl ConnectFailure {
    pub fn new(sentence: impl Into<String>) -> ConnectFailure {
        ConnectFailure::of(ConnectFault::Other, sentence)
    }

    pub fn of(fault: ConnectFault, sentence: impl Into<String>) -> ConnectFailure {
        let code = match fault {
            ConnectFault::NotFound => "host-not-found",
            ConnectFault::Private => "private-network",
            ConnectFault::Unreachable => "no-connection",
            ConnectFault::Slow => "timeout",
            ConnectFault::NoEncryption => "no-encryption",
            ConnectFault::Encryption => "encryption-failed",
            ConnectFault::Refused => "sign-in-refused",
            ConnectFault::NoToken => "no-access-token",
            ConnectFault::Other => "connection-failed",
        };
        ConnectFailure { sentence: sentence.into(), fault, code, said: String::new() }
    }

    /// Why mail waits that this server should have taken.
    pub fn reason(self) -> RelayReason {
        RelayReason::new(self.code, self.sentence)
    }

    pub fn encryption_failed(&self) -> bool {
        self.fault == ConnectFault::Encryption
    }

    fn connection(error: &io::Error) -> ConnectFailure {
        let fault = match error.kind() {
            io::ErrorKind::TimedOut => ConnectFault::Slow,
            _ => ConnectFault::Unreachable,
        };
        let failure = ConnectFailure::of(fault, format!("no connection: {error}"));
        match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                ConnectFailure { code: "connection-refused", ..failure }
            }
            _ => failure,
        }
    }

    fn encryption(error: &io::Error) -> ConnectFailure {
        let sentence = format!("the connection could not be encrypted: {error}");
        ConnectFailure::of(ConnectFault::Encryption, sentence)
    }
}

impl From<TokenFailure> for ConnectFailure {
    fn from(failure: TokenFailure) -> ConnectFailure {
        ConnectFailure::of(ConnectFault::NoToken, failure.sentence())
    }
}

/// The result of one mail transaction.
#[derive(Debug)]
pub enum TransactionOutcome {
    /// The outcome for each recipient.
    Outcomes(Vec<RelayOutcome>),
    /// The connection was lost before MAIL FROM was accepted: nothing was delivered.
    Gone(RelayReason),
}

/// A session with one server, in which several mails can be sent.
pub struct SmtpClientSession {
    line: SmtpStream,
    offers: SmtpExtensions,
    /// Mails sent in it so far.
    mails: usize,
    over: bool,
}

impl SmtpClientSession {
    /// Connects, greets, encrypts and logs in.
    pub async fn open(
        address: SocketAddr,
        name: &str,
        dial: &SmtpSessionConfig,
    ) -> Result<SmtpClientSession, ConnectFailure> {
        let stream = within(dial.patience.connect, TcpStream::connect(address)).await;
        let stream = stream.map_err(|error| ConnectFailure::connection(&error))?;
        let mut line = SmtpStream::over(stream, dial.patience);
        if dial.security == Security::FromTheStart {
            line = encrypt(line, name, dial).await?;
        }
        let greeting = checked_reply(line.read_reply().await, "the connection")?;
        if !greeting.is_positive() {
            return Err(ConnectFailure::new(format!(
                "the server greeted with {}",
                greeting.summary()
            )));
        }
        let mut offers = greet(&mut line, &dial.helo).await?;
        let mut encrypted = dial.security == Security::FromTheStart;
        let wanted = matches!(dial.security, Security::WhenOffered | Security::Required);
        if wanted && offers.start_tls {
            line = start_tls(line, name, dial).await?;
            encrypted = true;
            // Extensions offered before STARTTLS are not authenticated, so EHLO is repeated.
            offers = greet(&mut line, &dial.helo).await?;
        }
        if dial.security == Security::Required && !encrypted {
            let sentence = "the server offers no encryption";
            return Err(ConnectFailure::of(ConnectFault::NoEncryption, sentence));
        }
        if let Some(login) = &dial.login {
            if !encrypted && dial.security != Security::Clear {
                let sentence =
                    "the server offers no encryption, and a password is not sent without it";
                return Err(ConnectFailure::of(ConnectFault::NoEncryption, sentence));
            }
            log_in(&mut line, &offers, login).await?;
        }
        Ok(SmtpClientSession { line, offers, mails: 0, over: false })
    }

    /// True while more mails can be sent in it.
    pub fn is_open(&self) -> bool {
        !self.over
    }

    pub fn mails(&self) -> usize {
        self.mails
    }

    /// Sends a mail to these recipients and returns an outcome for each.
    pub async fn send(&mut self, mail: &OutgoingMail, recipients: &[String]) -> TransactionOutcome {
        self.mails += 1;
        if let Some(outcome) = self.unfit(mail, recipients) {
            return TransactionOutcome::Outcomes(vec![outcome; recipients.len()]);
        }
        let told = self.send_fit(mail, recipients).await;
        told.unwrap_or_else(|error| {
            self.over = true;
            let sentence = format!("the connection broke before MAIL was answered: {error}");
            TransactionOutcome::Gone(RelayReason::new(BROKEN, sentence))
        })
    }

    /// Sends QUIT; the reply is ignored.
    pub async fn quit(mut self) {
        if !self.over && self.line.send_command("QUIT\r\n").await.is_ok() {
            let _ = self.line.read_reply().await;
        }
    }

    /// Permanent failures that follow from the server's extensions: size and SMTPUTF8.
    fn unfit(&self, mail: &OutgoingMail, recipients: &[String]) -> Option<RelayOutcome> {
        let most = self.offers.size.filter(|size| *size > 0);
        if most.is_some_and(|most| mail.bytes.len() as u64 > most) {
            let sentence = "the mail is larger than the server takes";
            return Some(RelayOutcome::Never(RelayReason::new("too-large", sentence)));
        }
        if needs_utf8(mail, recipients) && !self.offers.international {
            let sentence = "the server does not take addresses with letters beyond ASCII";
            return Some(RelayOutcome::Never(RelayReason::new("no-smtputf8", sentence)));
        }
        None
    }

    /// The error is a lost connection before the reply to MAIL FROM.
    async fn send_fit(
        &mut self,
        mail: &OutgoingMail,
        recipients: &[String],
    ) -> io::Result<TransactionOutcome> {
        let from = self.mail_command(mail, recipients);
        let rcpts = recipients.iter().map(|to| format!("RCPT TO:<{to}>\r\n"));
        let rcpts: Vec<String> = rcpts.collect();
        let pipelined = self.offers.pipelining;
        if pipelined {
            self.line.send_command(&(from + &rcpts.concat())).await?
        } else {
            self.line.send_command(&from).await?
        }
        let answer = self.line.read_reply().await?;
        if answer.is_goodbye() {
            self.over = true;
            let sentence = format!("the server answered {} to MAIL", answer.summary());
            return Ok(TransactionOutcome::Gone(answer.reason(sentence)));
        }
        if !answer.is_positive() {
            // The replies to the pipelined commands behind it are discarded.
            self.over |= pipelined;
            if !pipelined {
                self.reset().await;
            }
            return Ok(TransactionOutcome::Outcomes(vec![
                answer.refusal("MAIL");
                recipients.len()
            ]));
        }
        let mut outcomes: Vec<Option<RelayOutcome>> = vec![None; recipients.len()];
        let broken = self.tell_the_rest(mail, &rcpts, pipelined, &mut outcomes).await.err();
        if let Some(error) = &broken {
            self.over = true;
            tracing::debug!(%error, "an SMTP connection broke");
        }
        let undecided = || {
            let sentence = "the connection broke before the server had taken the mail";
            RelayOutcome::Later(RelayReason::new(BROKEN, sentence))
        };
        Ok(TransactionOutcome::Outcomes(
            outcomes.into_iter().map(|o| o.unwrap_or_else(undecided)).collect(),
        ))
    }

    /// RCPT TO, DATA and the final reply. Outcomes from before a lost connection stay valid.
    async fn tell_the_rest(
        &mut self,
        mail: &OutgoingMail,
        rcpts: &[String],
        pipelined: bool,
        outcomes: &mut [Option<RelayOutcome>],
    ) -> io::Result<()> {
        for (rcpt, outcome) in rcpts.iter().zip(outcomes.iter_mut()) {
            if !pipelined {
                self.line.send_command(rcpt).await?;
            }
            let answer = self.line.read_reply().await?;
            if !answer.is_positive() {
                *outcome = Some(answer.refusal_of_recipient());
            }
            if answer.is_goodbye() {
                return Err(io::Error::other("the server said goodbye"));
            }
        }
        if outcomes.iter().all(Option::is_some) {
            self.reset().await;
            return Ok(());
        }
        self.line.send_command("DATA\r\n").await?;
        let answer = self.line.read_reply().await?;
        if answer.code != 354 {
            settle(outcomes, &answer.refusal("DATA"));
            self.reset().await;
            return Ok(());
        }
        let verdict = match self.line.send_data(&as_data(&mail.bytes)).await {
            Ok(()) => self.line.read_final_reply().await?,
            // A server that rejects a mail early replies and closes the connection.
            Err(error) => match self.line.read_reply().await {
                Ok(refusal) if !refusal.is_positive() => {
                    self.over = true;
                    refusal
                }
                _ => return Err(error),
            },
        };
        let outcome = if verdict.is_positive() {
            RelayOutcome::Delivered
        } else {
            verdict.refusal("the mail")
        };
        self.over |= verdict.is_goodbye();
        settle(outcomes, &outcome);
        Ok(())
    }

    /// Forgets a mail that was begun, so that the next can be.
    async fn reset(&mut self) {
        let done = match self.line.send_command("RSET\r\n").await {
            Ok(()) => self.line.read_reply().await.is_ok_and(|answer| answer.is_positive()),
            Err(_) => false,
        };
        self.over |= !done;
    }

    fn mail_command(&self, mail: &OutgoingMail, recipients: &[String]) -> String {
        let mut command = format!("MAIL FROM:<{}>", mail.sender);
        if self.offers.size.is_some() {
            command.push_str(&format!(" SIZE={}", mail.bytes.len()));
        }
        if self.offers.eight_bit && !mail.bytes.is_ascii() {
            command.push_str(" BODY=8BITMIME");
        }
        if needs_utf8(mail, recipients) {
            command.push_str(" SMTPUTF8");
        }
        command + "\r\n"
    }
}

/// Recipients without an outcome so far get that of the whole mail.
fn settle(outcomes: &mut [Option<RelayOutcome>], outcome: &RelayOutcome) {
    for open in outcomes.iter_mut().filter(|open| open.is_none()) {
        *open = Some(outcome.clone());
    }
}

/// True when addresses or headers have letters beyond ASCII (RFC 6531).
fn needs_utf8(mail: &OutgoingMail, recipients: &[String]) -> bool {
    let head = mail.bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let head = &mail.bytes[..head.unwrap_or(mail.bytes.len())];
    !(mail.sender.is_ascii() && recipients.iter().all(|to| to.is_ascii()) && head.is_ascii())
}

async fn greet(line: &mut SmtpStream, helo: &str) -> Result<SmtpExtensions, ConnectFailure> {
    let answer = ask(line, &format!("EHLO {helo}\r\n"), "EHLO").await?;
    if answer.is_positive() {
        return Ok(SmtpExtensions::of(&answer));
    }
    let answer = match answer.code {
        500..=504 => ask(line, &format!("HELO {helo}\r\n"), "HELO").await?,
        _ => answer,
    };
    if answer.is_positive() {
        Ok(SmtpExtensions::default())
    } else {
        Err(ConnectFailure::new(format!("the server answered {} to EHLO", answer.summary())))
    }
}

async fn start_tls(
    mut line: SmtpStream,
    name: &str,
    dial: &SmtpSessionConfig,
) -> Result<SmtpStream, ConnectFailure> {
    let answer = ask(&mut line, "STARTTLS\r\n", "STARTTLS").await?;
    if !answer.is_positive() {
        let said = format!("it answered {} to STARTTLS", answer.summary());
        return Err(ConnectFailure::encryption(&io::Error::other(said)));
    }
    encrypt(line, name, dial).await
}

async fn encrypt(
    line: SmtpStream,
    name: &str,
    dial: &SmtpSessionConfig,
) -> Result<SmtpStream, ConnectFailure> {
    let name = ServerName::try_from(name.trim_end_matches('.').to_owned())
        .map_err(|_| ConnectFailure::new("the server's name cannot stand in a certificate"))?;
    line.start_tls(&dial.tls, name).await.map_err(|error| ConnectFailure::encryption(&error))
}

async fn log_in(
    line: &mut SmtpStream,
    offers: &SmtpExtensions,
    login: &Login,
) -> Result<(), ConnectFailure> {
    let (answer, what) = match login {
        Login::Password { user, password } => {
            (with_password(line, offers, user, password).await?, "user name and password")
        }
        Login::AccessToken { user, token } => {
            (with_token(line, offers, user, token).await?, "sign-in at the provider")
        }
    };
    if answer.is_positive() {
        Ok(())
    } else {
        let sentence = format!("the server does not accept the {what} ({})", answer.summary());
        let said = answer.few_words();
        Err(ConnectFailure { said, ..ConnectFailure::of(ConnectFault::Refused, sentence) })
    }
}

async fn with_password(
    line: &mut SmtpStream,
    offers: &SmtpExtensions,
    user: &str,
    password: &str,
) -> Result<SmtpReply, ConnectFailure> {
    if offers.plain {
        let word = STANDARD.encode(format!("\0{user}\0{password}"));
        return ask(line, &format!("AUTH PLAIN {word}\r\n"), "AUTH").await;
    }
    if !offers.login {
        return Err(ConnectFailure::new("the server offers no way to log in that is known here"));
    }
    let mut answer = ask(line, "AUTH LOGIN\r\n", "AUTH").await?;
    for word in [user, password] {
        if answer.code != 334 {
            break;
        }
        answer = ask(line, &format!("{}\r\n", STANDARD.encode(word)), "AUTH").await?;
    }
    Ok(answer)
}

/// A server that refuses a token says why with 334 first, and refuses after an empty line.
async fn with_token(
    line: &mut SmtpStream,
    offers: &SmtpExtensions,
    user: &str,
    token: &str,
) -> Result<SmtpReply, ConnectFailure> {
    if !offers.xoauth2 {
        return Err(ConnectFailure::new("the server does not offer to log in by XOAUTH2"));
    }
    let word = STANDARD.encode(xoauth2(user, token));
    let answer = ask(line, &format!("AUTH XOAUTH2 {word}\r\n"), "AUTH").await?;
    match answer.code {
        334 => ask(line, "\r\n", "AUTH").await,
        _ => Ok(answer),
    }
}

async fn ask(
    line: &mut SmtpStream,
    command: &str,
    what: &str,
) -> Result<SmtpReply, ConnectFailure> {
    let answer = match line.send_command(command).await {
        Ok(()) => line.read_reply().await,
        Err(error) => Err(error),
    };
    checked_reply(answer, what)
}

fn checked_reply(answer: io::Result<SmtpReply>, what: &str) -> Result<SmtpReply, ConnectFailure> {
    answer.map_err(|error| {
        let fault = match error.kind() {
            io::ErrorKind::TimedOut => ConnectFault::Slow,
            _ => ConnectFault::Other,
        };
        ConnectFailure::of(fault, format!("no answer to {what}: {error}"))
    })
}
