//! The port that authenticates a mail's sender: SPF, DKIM, DMARC and ARC.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use mail::Authentication;

/// Finds out what the sending systems can prove about a mail.
pub trait Authenticator: Send + Sync {
    fn check<'a>(&'a self, credentials: Credentials<'a>) -> Checking<'a>;
}

pub type Checking<'a> = Pin<Box<dyn Future<Output = Authentication> + Send + 'a>>;

/// Where a mail comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailSource {
    /// Straight from a machine that speaks for its sender.
    Sender {
        ip: IpAddr,
        /// What it calls itself.
        helo: String,
    },
    /// From a server of ours, which took it from somebody else: over LMTP, from a trusted network.
    OurServer,
    /// Out of a mailbox elsewhere, whose own server wrote down what it found about the sender.
    Mailbox {
        /// The names, or ends of names, under which that server does so, lower case.
        believed: Vec<String>,
    },
}

/// What a mail can be proven by.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    pub raw: &'a [u8],
    /// The address that it is shown as coming from: the one whose proof counts.
    pub from: Option<&'a str>,
    pub sender: Option<&'a str>,
    pub source: &'a MailSource,
}
