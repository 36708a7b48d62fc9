//! Connecting a mailbox by its address and password: finding its servers, and trying them out.
//!
//! The servers come from the table of well-known providers, by the address's domain or by the MX
//! servers of the domain; from the configuration file that the domain offers; from its SRV records;
//! and at last from usual names that answer. Everything has a deadline, and nothing but public
//! addresses is called unless the operator allows it.

mod autoconfig;
mod discovery;
mod guesses;
mod providers;
mod servers;
mod trial;

use std::net::SocketAddr;
use std::time::Duration;

use inbound::imap::Security;
use model::mailboxes::outgoing_servers::SubmissionSecurity;
use tokio::time::timeout;

use crate::imap_client::Dialer;
use crate::mail_out::ServerConnectConfig;
use crate::net::dns_lookup::{Lookup, ServiceHost};
use crate::net::https_fetch::Pages;
use crate::net::ssrf_guard::SsrfGuard;

pub use discovery::{DiscoverySource, ServerDiscovery};
pub use providers::{PasswordAccess, Provider};
pub use servers::{IncomingServer, OutgoingServer};
pub use trial::{MailboxTrial, TrialCredential, TriedMailbox, try_graph};

/// The whole search ends after this long.
const SEARCH_TIME: Duration = Duration::from_secs(20);

/// Finds and tries the servers of mailboxes.
pub struct MailboxFinder {
    /// `None` where the machine has no DNS server.
    lookup: Option<Lookup>,
    pages: Pages,
    dialling: ServerConnectConfig,
    dialer: Dialer,
}

impl MailboxFinder {
    pub fn new(
        dns: Option<SocketAddr>,
        ssrf_guard: SsrfGuard,
        dialling: ServerConnectConfig,
    ) -> Result<MailboxFinder, String> {
        let lookup =
            Lookup::at(dns).map_err(|error| tracing::warn!(%error, "no DNS resolver")).ok();
        let roots = dialling.roots.clone();
        let pages = Pages::new(ssrf_guard, roots.clone(), autoconfig::CONFIG_TIME)?;
        let dialer = Dialer::new(roots, dialling.guard.clone())?;
        Ok(MailboxFinder { lookup, pages, dialling, dialer })
    }

    /// The servers of an address; the fields that were not found are empty.
    pub async fn find(&self, address: &str) -> ServerDiscovery {
        let nothing = ServerDiscovery {
            incoming: None,
            outgoing: None,
            username: address.to_owned(),
            source: DiscoverySource::Nothing,
            provider: None,
        };
        let Some(domain) = address.rsplit_once('@').and_then(|(_, name)| mail::ascii_domain(name))
        else {
            return nothing;
        };
        let found = timeout(SEARCH_TIME, self.search(address, &domain)).await;
        found.ok().flatten().unwrap_or(nothing)
    }

    /// The provider of an address, where it is a well-known one.
    pub async fn provider_of(&self, address: &str) -> Option<&'static Provider> {
        let (_, name) = address.rsplit_once('@')?;
        let domain = mail::ascii_domain(name)?;
        timeout(SEARCH_TIME, self.provider(&domain)).await.ok()?
    }

    async fn search(&self, address: &str, domain: &str) -> Option<ServerDiscovery> {
        if let Some(provider) = self.provider(domain).await {
            return Some(ServerDiscovery {
                incoming: provider.incoming(),
                outgoing: provider.outgoing(),
                username: address.to_owned(),
                source: DiscoverySource::Provider,
                provider: Some(provider),
            });
        }
        let (configured, recorded) =
            tokio::join!(autoconfig::find(&self.pages, address, domain), self.records(domain));
        let (incoming, outgoing) = recorded;
        if let Some(found) = configured {
            let outgoing = found.outgoing.or(outgoing);
            return Some(ServerDiscovery { outgoing, ..found });
        }
        if incoming.is_some() {
            return Some(ServerDiscovery {
                incoming,
                outgoing,
                username: address.to_owned(),
                source: DiscoverySource::ServiceRecords,
                provider: None,
            });
        }
        let (incoming, outgoing) = guesses::find(&self.dialling.guard, domain).await;
        let found = incoming.is_some() || outgoing.is_some();
        found.then(|| ServerDiscovery {
            incoming,
            outgoing,
            username: address.to_owned(),
            source: DiscoverySource::Guess,
            provider: None,
        })
    }

    async fn provider(&self, domain: &str) -> Option<&'static Provider> {
        if let Some(known) = providers::of_domain(domain) {
            return Some(known);
        }
        let exchangers = self.lookup.as_ref()?.exchanges(domain).await.ok()?;
        exchangers.iter().find_map(|mx| providers::of_exchanger(&mx.host))
    }

    /// The servers of the SRV records (RFC 6186, RFC 8314).
    async fn records(&self, domain: &str) -> (Option<IncomingServer>, Option<OutgoingServer>) {
        let best = async |service: &str| -> Option<ServiceHost> {
            let name = format!("{service}._tcp.{domain}");
            self.lookup.as_ref()?.services(&name).await.ok()?.into_iter().next()
        };
        let (imaps, imap, submissions, submission) =
            tokio::join!(best("_imaps"), best("_imap"), best("_submissions"), best("_submission"),);
        let incoming = |found: ServiceHost, security| IncomingServer {
            host: found.host,
            port: found.port,
            security,
        };
        let outgoing = |found: ServiceHost, security| OutgoingServer {
            host: found.host,
            port: found.port,
            security,
        };
        let read = imaps
            .map(|found| incoming(found, Security::Tls))
            .or_else(|| imap.map(|found| incoming(found, Security::StartTls)));
        let sent = submissions
            .map(|found| outgoing(found, SubmissionSecurity::Tls))
            .or_else(|| submission.map(|found| outgoing(found, SubmissionSecurity::StartTls)));
        (read, sent)
    }
}
