//! The port through which mail leaves.

use std::sync::Arc;

use crate::base::future::BoxFuture;

/// Takes a finished mail to where it goes.
pub trait Relay: Send + Sync {
    /// Answers what became of it for each recipient, in their order.
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>>;

    /// The recipients of a mail, those together who are told of in one go. What became of a part
    /// is written down as soon as it is known, so that a crash repeats nothing for it.
    fn parts(&self, recipients: &[String]) -> Vec<Vec<String>> {
        vec![recipients.to_vec()]
    }
}

/// A finished mail and its envelope.
#[derive(Clone, Debug)]
pub struct OutgoingMail {
    /// The Message-ID, the same on every try.
    pub message_id: String,
    /// Where it goes back to if it cannot be delivered.
    pub sender: String,
    /// Everyone it goes to, whether its header names them or not.
    pub recipients: Vec<String>,
    pub bytes: Arc<Vec<u8>>,
}

/// What became of a try. The reason is for the log and holds no mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayOutcome {
    Delivered,
    Later(String),
    Never(String),
}

impl RelayOutcome {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            RelayOutcome::Delivered => "delivered",
            RelayOutcome::Later(_) => "later",
            RelayOutcome::Never(_) => "never",
        }
    }
}
