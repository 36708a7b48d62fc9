//! The port through which mail leaves.

use std::fmt;
use std::sync::Arc;

use base::concurrency::future::BoxFuture;
use model::mailboxes::outgoing_servers::SubmissionServer;
use model::messages::send_failure::SendFailure;

/// Delivers a finished mail.
pub trait Relay: Send + Sync {
    /// Returns the outcome for each recipient, in their order.
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>>;

    /// Splits the recipients into parts that are delivered together. The outcome of a part is
    /// stored as soon as it is final, so that a crash does not repeat its delivery.
    fn parts(&self, recipients: &[String]) -> Vec<Vec<String>> {
        vec![recipients.to_vec()]
    }
}

/// A finished mail and its envelope.
#[derive(Clone, Debug)]
pub struct OutgoingMail {
    /// The Message-ID, the same on every attempt.
    pub message_id: String,
    /// The return path for bounces.
    pub sender: String,
    /// The envelope recipients, Bcc included.
    pub recipients: Vec<String>,
    pub bytes: Arc<Vec<u8>>,
    /// The server that the mail's inbox sends through; `None` for the operator's relay.
    pub server: Option<Arc<SubmissionServer>>,
    /// Mail of the service itself, which takes the operator's relay where that reaches people.
    pub of_service: bool,
    /// Mail of a workspace with made-up mail, which leaves it nowhere.
    pub of_sample: bool,
}

/// Hands a mail to the relay. One of a sample counts as delivered, and no relay hears of it.
pub(crate) async fn deliver(relay: &dyn Relay, mail: &OutgoingMail) -> Vec<RelayOutcome> {
    if mail.of_sample {
        return vec![RelayOutcome::Delivered; mail.recipients.len()];
    }
    relay.send(mail).await
}

/// The outcomes in the metrics.
const DELIVERED: &str = "delivered";
const LATER: &str = "later";
const NEVER: &str = "never";

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayOutcome {
    Delivered,
    Later(RelayReason),
    /// The server could not be used at all: the mail waits, and no mail is the reason.
    Unavailable(RelayReason),
    Never(RelayReason),
}

/// Why an attempt came to nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct RelayReason {
    /// An enhanced status, an SMTP code, or a word of ours; empty where the sentence is all there is.
    code: String,
    /// For the log: it quotes no mail, and no words of a server.
    sentence: String,
    /// The server's words, for the team.
    reply: String,
}

impl RelayReason {
    pub fn new(code: impl Into<String>, sentence: impl Into<String>) -> RelayReason {
        RelayReason { code: code.into(), sentence: sentence.into(), reply: String::new() }
    }

    /// With what the server said.
    pub fn with_reply(self, reply: impl Into<String>) -> RelayReason {
        RelayReason { reply: reply.into(), ..self }
    }

    /// The same reason in another sentence.
    pub fn map_sentence(self, words: impl FnOnce(&str) -> String) -> RelayReason {
        RelayReason { sentence: words(&self.sentence), ..self }
    }

    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// The reason as the team and their software read it.
    pub(crate) fn failure(&self) -> SendFailure {
        let code = if self.code.is_empty() { "refused" } else { &self.code };
        SendFailure::new(code, &self.sentence, &self.reply)
    }
}

impl From<&str> for RelayReason {
    fn from(sentence: &str) -> RelayReason {
        RelayReason::new("", sentence)
    }
}

impl From<String> for RelayReason {
    fn from(sentence: String) -> RelayReason {
        RelayReason::new("", sentence)
    }
}

impl fmt::Display for RelayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// A log has no words of a server.
impl fmt::Debug for RelayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RelayReason").field(&self.sentence).finish()
    }
}

impl RelayOutcome {
    /// True where another attempt may deliver the mail.
    pub fn is_temporary(&self) -> bool {
        matches!(self, RelayOutcome::Later(_) | RelayOutcome::Unavailable(_))
    }

    /// The words of [`RelayOutcome::as_str`].
    pub(crate) const NAMES: [&'static str; 3] = [DELIVERED, LATER, NEVER];

    /// Why it was not delivered; `None` where it was.
    pub fn reason(&self) -> Option<&RelayReason> {
        match self {
            RelayOutcome::Delivered => None,
            RelayOutcome::Later(reason)
            | RelayOutcome::Unavailable(reason)
            | RelayOutcome::Never(reason) => Some(reason),
        }
    }

    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            RelayOutcome::Delivered => DELIVERED,
            RelayOutcome::Later(_) | RelayOutcome::Unavailable(_) => LATER,
            RelayOutcome::Never(_) => NEVER,
        }
    }
}
