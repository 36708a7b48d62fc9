//! The servers of a mailbox, as they are found or typed in.

use inbound::imap::Security;
use model::mailboxes::outgoing_servers::SubmissionSecurity;

/// The server that a mailbox is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingServer {
    pub host: String,
    pub port: u16,
    pub security: Security,
}

/// The server that a mailbox sends through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingServer {
    pub host: String,
    pub port: u16,
    pub security: SubmissionSecurity,
}
