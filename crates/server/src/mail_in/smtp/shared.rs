//! State shared by all SMTP and LMTP connections, and the connection limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use base::app::App;
use inbound::Authenticator;
use mail::smtp::Protocol;
use metrics::gauge;
use tokio_util::sync::CancellationToken;
use transport::http::ClientNetwork;
use transport::net::listen_address::Networks;
use transport::net::tls_certificate::TlsCertificate;

use super::limits::SmtpLimits;
use super::refusals::RefusalLog;

/// State shared by all connections.
pub struct MailListeners {
    pub(super) app: App,
    pub(super) authenticator: Arc<dyn Authenticator>,
    pub(super) tls: Arc<TlsCertificate>,
    /// This server's host name.
    pub(super) name: String,
    pub(super) trusted: Networks,
    pub(super) limits: SmtpLimits,
    pub(super) bytes_held: AtomicUsize,
    pub(super) stopping: CancellationToken,
    pub(super) refusals: RefusalLog,
    connections: Mutex<Connections>,
}

impl MailListeners {
    pub fn new(
        app: App,
        authenticator: Arc<dyn Authenticator>,
        tls: Arc<TlsCertificate>,
        name: &str,
        trusted: Networks,
        limits: SmtpLimits,
    ) -> MailListeners {
        MailListeners {
            app,
            authenticator,
            tls,
            name: name.to_owned(),
            trusted,
            bytes_held: AtomicUsize::new(0),
            limits,
            stopping: CancellationToken::new(),
            refusals: RefusalLog::default(),
            connections: Mutex::default(),
        }
    }
}

/// A protocol's name in the log.
pub(super) fn protocol_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Smtp => "smtp",
        Protocol::Lmtp => "lmtp",
    }
}

/// Connection counts.
#[derive(Default)]
struct Connections {
    all: usize,
    each: HashMap<ClientNetwork, usize>,
}

/// A permit under the connection limits, released on drop.
pub(super) struct ConnectionPermit {
    listeners: Arc<MailListeners>,
    counted: Option<ClientNetwork>,
}

impl ConnectionPermit {
    /// `None` at the limit, in total or for this address.
    pub(super) fn take(
        listeners: &Arc<MailListeners>,
        peer: Option<IpAddr>,
    ) -> Option<ConnectionPermit> {
        let counted = peer.map(ClientNetwork::of);
        let mut connections = listeners.connections();
        let each = counted.map_or(0, |ip| connections.each.get(&ip).copied().unwrap_or(0));
        if connections.all >= listeners.limits.connections
            || each >= listeners.limits.connections_each
        {
            return None;
        }
        connections.all += 1;
        if let Some(ip) = counted {
            connections.each.insert(ip, each + 1);
        }
        gauge!("mailroom_mail_connections").set(connections.all as f64);
        drop(connections);
        Some(ConnectionPermit { listeners: Arc::clone(listeners), counted })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut connections = self.listeners.connections();
        connections.all -= 1;
        if let Some(ip) = self.counted {
            match connections.each.get_mut(&ip) {
                Some(each) if *each > 1 => *each -= 1,
                _ => drop(connections.each.remove(&ip)),
            }
        }
        gauge!("mailroom_mail_connections").set(connections.all as f64);
    }
}

impl MailListeners {
    fn connections(&self) -> std::sync::MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
