//! The mail configuration that the settings of each inbox show.

use std::net::SocketAddr;

use crate::mail_out::dns_records::SendingSetup;
use crate::net::listen_address::ListenAddress;

/// The configuration of incoming and outgoing mail.
#[derive(Clone, Debug)]
pub struct MailSetup {
    pub smtp: ListenAddress,
    pub lmtp: ListenAddress,
    pub sending: SendingSetup,
    /// The DNS server for record lookups instead of the system's.
    pub dns: Option<SocketAddr>,
}
