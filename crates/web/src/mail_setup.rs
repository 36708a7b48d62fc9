//! The mail configuration that the settings of each inbox show.

use std::net::SocketAddr;
use std::sync::Arc;

use jobs::Relay;
use transport::mail_out::ServerConnectConfig;
use transport::mail_out::dns_records::SendingSetup;
use transport::net::listen_address::ListenAddress;

/// The configuration of incoming and outgoing mail.
#[derive(Clone, Debug)]
pub struct MailSetup {
    pub smtp: ListenAddress,
    pub lmtp: ListenAddress,
    pub sending: SendingSetup,
    /// Mail that takes the operator's relay becomes files in a folder.
    pub writes_files: bool,
    /// The DNS server for record lookups instead of the system's.
    pub dns: Option<SocketAddr>,
}

/// How mail leaves, for pages that try it out.
#[derive(Clone)]
pub struct OutgoingMailSetup {
    /// True if mail that takes the operator's relay reaches people.
    pub reaches_people: bool,
    pub relay: Arc<dyn Relay>,
    pub dialling: ServerConnectConfig,
}
