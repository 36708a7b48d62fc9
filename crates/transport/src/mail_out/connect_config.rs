//! How the servers that inboxes have of their own are connected to.

use std::sync::Arc;

use rustls::RootCertStore;

use super::smtp::SmtpTimeouts;
use crate::mail_oauth::AccessTokens;
use crate::net::host_guard::HostGuard;

/// How servers of inboxes are connected to.
#[derive(Clone)]
pub struct ServerConnectConfig {
    /// The name given in EHLO.
    pub helo: String,
    pub guard: HostGuard,
    pub roots: RootCertStore,
    pub timeouts: SmtpTimeouts,
    /// For servers that are signed in to with a grant.
    pub tokens: Arc<dyn AccessTokens>,
}
