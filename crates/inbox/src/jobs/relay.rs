//! The port through which mail leaves.

use std::sync::Arc;

use crate::base::future::BoxFuture;
use crate::model::outgoing_servers::SubmissionServer;

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
}

/// The outcomes in the metrics.
const DELIVERED: &str = "delivered";
const LATER: &str = "later";
const NEVER: &str = "never";

/// The outcome of an attempt. The reason is for the log and quotes no mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayOutcome {
    Delivered,
    Later(String),
    /// The server could not be used at all: the mail waits, and no mail is the reason.
    Unavailable(String),
    Never(String),
}

impl RelayOutcome {
    /// True where another attempt may deliver the mail.
    pub fn is_temporary(&self) -> bool {
        matches!(self, RelayOutcome::Later(_) | RelayOutcome::Unavailable(_))
    }

    /// The words of [`RelayOutcome::as_str`].
    pub(super) const NAMES: [&'static str; 3] = [DELIVERED, LATER, NEVER];

    pub(super) fn as_str(&self) -> &'static str {
        match self {
            RelayOutcome::Delivered => DELIVERED,
            RelayOutcome::Later(_) | RelayOutcome::Unavailable(_) => LATER,
            RelayOutcome::Never(_) => NEVER,
        }
    }
}
