//! IMAP errors as sentences for the people who run the inbox. None quotes a mail or a password: of
//! a server's responses only refusals are shown, truncated.

use std::future::Future;
use std::io;
use std::time::Duration;

use async_imap::error::Error;
use inbound::imap::{FetchFailure, FetchFailureKind, ImapServer};
use tokio::time::timeout;

use crate::graph::GraphFault;
use crate::mail_oauth::TokenFailure;

/// Characters of a server's refusal that are shown.
const WORDS_CHARS: usize = 200;

/// An IMAP error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImapFault {
    NotFound,
    /// The host is in a private network.
    Private,
    Unreachable(String),
    Untrusted(String),
    NoStartTls,
    /// The server does not let us in, in its words.
    Refused(String),
    /// The server does not accept the access token, in its words.
    TokenRefused(String),
    /// There is no access token.
    NoToken(TokenFailure),
    NoFolder(String),
    /// The server refused a command, in its words.
    Said(String),
    Slow(Duration),
    BrokeOff,
    TooMuch,
    Unclear,
    /// The server asks to come back after so long.
    RetryAfter(Duration),
    /// The password cannot be unsealed.
    Sealed,
    /// An internal error, described in the log.
    Ours,
    /// The lease was lost, or the server is shutting down.
    Over,
}

impl ImapFault {
    pub fn unreachable(error: io::Error) -> ImapFault {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                ImapFault::Unreachable("nobody answers there".into())
            }
            io::ErrorKind::TimedOut => ImapFault::Unreachable("it did not answer in time".into()),
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                ImapFault::Unreachable("there is no way to it".into())
            }
            _ => ImapFault::NotFound,
        }
    }

    pub fn from_tls_error(error: io::Error) -> ImapFault {
        match error.kind() {
            io::ErrorKind::InvalidData => ImapFault::Untrusted(few_words(&error.to_string())),
            _ => ImapFault::BrokeOff,
        }
    }

    /// The text of a refusal.
    pub fn from_refusal(words: &str) -> ImapFault {
        ImapFault::Said(few_words(words))
    }

    /// True for a NO or BAD response: the connection stays usable.
    pub fn is_refusal(&self) -> bool {
        matches!(self, ImapFault::Said(_))
    }

    pub fn trouble(&self, server: &ImapServer) -> FetchFailure {
        let host = &server.host;
        let sentence = match self {
            ImapFault::NotFound => format!("There is no server called {host}."),
            ImapFault::Private => format!(
                "{host} is in a private network, which this service does not connect to. Whoever \
                 runs it can allow that with MAILROOM_MAIL_ALLOW_PRIVATE."
            ),
            ImapFault::Unreachable(why) => {
                format!("{host} cannot be reached on port {}: {why}.", server.port)
            }
            ImapFault::Untrusted(why) => {
                format!("The certificate of {host} is not trusted: {why}.")
            }
            ImapFault::NoStartTls => {
                format!("{host} does not offer STARTTLS, and nothing is sent without encryption.")
            }
            ImapFault::Refused(words) => {
                format!("{host} does not accept the user name and password: {words}.")
            }
            ImapFault::TokenRefused(words) => format!(
                "{host} does not let the user {} in by this sign-in: {words}.",
                server.username
            ),
            ImapFault::NoToken(failure) => failure.sentence(),
            ImapFault::NoFolder(words) => {
                format!("{host} does not open the folder {}: {words}.", server.folder)
            }
            ImapFault::Said(words) => format!("{host} refused: {words}."),
            ImapFault::Slow(time) => format!("{host} did not answer within {} s.", time.as_secs()),
            ImapFault::BrokeOff => format!("The connection to {host} broke off."),
            ImapFault::TooMuch => format!("{host} said more than it was asked for."),
            ImapFault::Unclear => format!("{host} said something that could not be understood."),
            ImapFault::RetryAfter(wait) => {
                format!("{host} asks to come back in {} s.", wait.as_secs())
            }
            ImapFault::Sealed => {
                "The password cannot be opened: secret.key in the data folder is not \
                              the one that it was sealed with. Set the password anew."
                    .into()
            }
            ImapFault::Ours => "Something failed on our side; the log tells what.".into(),
            ImapFault::Over => "Fetching was stopped.".into(),
        };
        FetchFailure { sentence, kind: self.kind() }
    }

    fn kind(&self) -> FetchFailureKind {
        match self {
            ImapFault::Refused(_) | ImapFault::TokenRefused(_) | ImapFault::Sealed => {
                FetchFailureKind::Refused
            }
            ImapFault::NoToken(TokenFailure::SignInOver(_)) => FetchFailureKind::SignInOver,
            _ => FetchFailureKind::Passing,
        }
    }
}

/// An error's text may contain the server's whole response, so only its kind is used.
impl From<Error> for ImapFault {
    fn from(error: Error) -> ImapFault {
        match error {
            Error::No(words) | Error::Bad(words) => ImapFault::Said(own_words(&words)),
            Error::Io(error) => ImapFault::from(error),
            Error::ConnectionLost => ImapFault::BrokeOff,
            _ => ImapFault::Unclear,
        }
    }
}

impl From<TokenFailure> for ImapFault {
    fn from(failure: TokenFailure) -> ImapFault {
        ImapFault::NoToken(failure)
    }
}

/// A mailbox that is fetched by Microsoft Graph fails in the same words.
impl From<GraphFault> for ImapFault {
    fn from(fault: GraphFault) -> ImapFault {
        match fault {
            GraphFault::Unreachable => ImapFault::Unreachable("nobody answers there".into()),
            GraphFault::BrokeOff => ImapFault::BrokeOff,
            GraphFault::Slow => ImapFault::Unreachable("it did not answer in time".into()),
            GraphFault::NoToken(failure) => ImapFault::NoToken(failure),
            GraphFault::TokenRefused(words)
            | GraphFault::NoAccess(words)
            | GraphFault::NotFound(words) => ImapFault::TokenRefused(words),
            GraphFault::Throttled => ImapFault::Said("HTTP 429".into()),
            GraphFault::RetryAfter { wait, .. } => ImapFault::RetryAfter(wait),
            GraphFault::TooLarge => ImapFault::TooMuch,
            GraphFault::Refused(words) => ImapFault::Said(words),
            GraphFault::Failed(status) | GraphFault::Busy(status) => {
                ImapFault::Said(format!("HTTP {status}"))
            }
            GraphFault::ItemGone
            | GraphFault::LinkOver
            | GraphFault::ForeignLink
            | GraphFault::Unclear => ImapFault::Unclear,
        }
    }
}

impl From<io::Error> for ImapFault {
    fn from(error: io::Error) -> ImapFault {
        match error.kind() {
            io::ErrorKind::FileTooLarge => ImapFault::TooMuch,
            io::ErrorKind::Other | io::ErrorKind::InvalidData => ImapFault::Unclear,
            _ => ImapFault::BrokeOff,
        }
    }
}

/// A refusal reads `code: …, info: Some("…")`; what stands in quotes are the server's words.
fn own_words(text: &str) -> String {
    let info = text.split_once("info: Some(\"").and_then(|(_, rest)| rest.rsplit_once("\")"));
    few_words(info.map_or(text, |(words, _)| words))
}

fn few_words(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(plain).take(WORDS_CHARS).collect();
    text.trim().trim_end_matches('.').to_owned()
}

/// The timeouts of IMAP commands.
#[derive(Clone, Copy, Debug)]
pub struct ImapTimeouts {
    pub connecting: Duration,
    pub answering: Duration,
    pub downloading: Duration,
}

impl ImapTimeouts {
    pub async fn connect<T>(&self, work: impl Future<Output = T>) -> Result<T, ImapFault> {
        within(self.connecting, work).await
    }

    pub async fn answer<T>(&self, work: impl Future<Output = T>) -> Result<T, ImapFault> {
        within(self.answering, work).await
    }

    pub async fn download<T>(&self, work: impl Future<Output = T>) -> Result<T, ImapFault> {
        within(self.downloading, work).await
    }
}

async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Result<T, ImapFault> {
    timeout(time, work).await.map_err(|_| ImapFault::Slow(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_server_says_its_refusals_are_told_in_few_words() {
        let said = Error::No("code: None, info: Some(\"[AUTH] Wrong\r\npassword.\")".into());
        assert_eq!(ImapFault::from(said), ImapFault::Said("[AUTH] Wrong  password".into()));
        let long = Error::Bad("x".repeat(1_000));
        assert_eq!(ImapFault::from(long), ImapFault::Said("x".repeat(200)));
        let mail = io::Error::other("Failure during parsing of \"Dear support, my PIN is 1234\"");
        assert_eq!(ImapFault::from(Error::Io(mail)), ImapFault::Unclear);
    }
}
