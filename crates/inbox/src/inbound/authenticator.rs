//! The port that authenticates a mail's sender: SPF, DKIM, DMARC and ARC.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use mail::Authentication;

/// Authenticates a mail by SPF, DKIM, DMARC and ARC.
pub trait Authenticator: Send + Sync {
    fn check<'a>(&'a self, credentials: Credentials<'a>) -> Checking<'a>;
}

pub type Checking<'a> = Pin<Box<dyn Future<Output = Authentication> + Send + 'a>>;

/// The source of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailSource {
    /// Directly from the sender's mail server.
    Sender {
        ip: IpAddr,
        /// The name given in HELO or EHLO.
        helo: String,
    },
    /// From a server of ours that received it: over LMTP, from a trusted network.
    OurServer,
    /// Fetched from another mailbox, whose server added its Authentication-Results.
    Mailbox {
        /// The names, or ends of names, under which that server does so, lower case.
        believed: Vec<String>,
    },
}

/// The data that authentication is based on.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    pub raw: &'a [u8],
    /// The From address, which is the one that must be authenticated.
    pub from: Option<&'a str>,
    pub sender: Option<&'a str>,
    pub source: &'a MailSource,
}
