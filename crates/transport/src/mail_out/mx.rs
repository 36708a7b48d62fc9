//! Direct delivery: every mail goes to the servers that its recipients' domains name.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome, RelayReason};
use rustls::RootCertStore;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::domain_slots::{self, DomainSlots};
use super::envelope;
use super::mta_sts::{PolicySource, StsMode, StsPolicies, StsPolicy};
use super::options::{MxOptions, MxTls};
use super::pool::SmtpPool;
use super::smtp::{
    self, ConnectFailure, Security, SmtpClientSession, SmtpSessionConfig, SmtpTimeouts,
    TransactionOutcome,
};
use crate::net::dns_lookup::{Lookup, LookupFailure, MailExchanger};

/// Attempted mail servers of a domain, and addresses of each server.
const SERVERS: usize = 5;
const ADDRESSES: usize = 3;

/// Decides which addresses may be connected to.
pub type AddressFilter = fn(IpAddr) -> bool;

#[derive(Clone)]
pub struct MxRelay(Arc<Inner>);

struct Inner {
    lookup: Lookup,
    address_filter: AddressFilter,
    port: u16,
    policies: StsPolicies,
    usual: ConnectionProfile,
    /// For domains whose MTA-STS policy requires a valid certificate.
    enforced: ConnectionProfile,
    places: DomainSlots,
    turn: AtomicUsize,
}

/// TLS settings for connections to mail servers, with the pool of idle sessions that were opened
/// with them.
struct ConnectionProfile {
    dial: SmtpSessionConfig,
    /// Retry without encryption when STARTTLS was offered and fails.
    fallback: bool,
    pool: SmtpPool,
}

impl MxRelay {
    pub fn new(
        options: &MxOptions,
        helo: String,
        lookup: Lookup,
        address_filter: AddressFilter,
        roots: RootCertStore,
        patience: SmtpTimeouts,
        policies: Arc<dyn PolicySource>,
    ) -> Result<MxRelay, String> {
        let profile = |security, tls, fallback| {
            let dial =
                SmtpSessionConfig { helo: helo.clone(), security, tls, login: None, patience };
            ConnectionProfile { dial, fallback, pool: SmtpPool::default() }
        };
        let checked = smtp::verifying_config(roots)?;
        let fallback = options.tls == MxTls::Fallback;
        let usual = match options.tls {
            MxTls::Required => profile(Security::Required, Arc::clone(&checked), fallback),
            MxTls::Offered | MxTls::Fallback => {
                profile(Security::WhenOffered, smtp::opportunistic_config()?, fallback)
            }
        };
        Ok(MxRelay(Arc::new(Inner {
            lookup,
            address_filter,
            port: options.port,
            policies: StsPolicies::new(policies),
            usual,
            enforced: profile(Security::Required, checked, false),
            places: DomainSlots::new(domain_slots::WAIT),
            turn: AtomicUsize::new(0),
        })))
    }

    /// Sends to every domain at once; the outcomes are in the order of the recipients.
    async fn send_to_all(&self, mail: OutgoingMail, recipients: Vec<String>) -> Vec<RelayOutcome> {
        let mut domains: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, to) in recipients.iter().enumerate() {
            domains.entry(envelope::domain(to).to_owned()).or_default().push(place);
        }
        let mail = Arc::new(mail);
        let mut under_way = JoinSet::new();
        for (domain, places) in domains {
            let (inner, mail) = (Arc::clone(&self.0), Arc::clone(&mail));
            let group: Vec<String> =
                places.iter().map(|place| recipients[*place].clone()).collect();
            let sent = async move { (places, inner.send_to_domain(&domain, &mail, &group).await) };
            under_way.spawn(sent.in_current_span());
        }
        let broken = RelayReason::new("interrupted", "the delivery was broken off");
        let unsaid = RelayOutcome::Later(broken);
        let mut outcomes = vec![unsaid; recipients.len()];
        while let Some(done) = under_way.join_next().await {
            let Ok((places, sent)) = done else { continue };
            for (place, outcome) in places.into_iter().zip(sent) {
                outcomes[place] = outcome;
            }
        }
        outcomes
    }
}

impl Inner {
    async fn send_to_domain(
        &self,
        domain: &str,
        mail: &OutgoingMail,
        group: &[String],
    ) -> Vec<RelayOutcome> {
        let all = |outcome: RelayOutcome| vec![outcome; group.len()];
        let Some(_place) = self.places.enter(domain).await else {
            let sentence = format!("{domain}: other mail is being sent there");
            return all(RelayOutcome::Later(RelayReason::new("busy", sentence)));
        };
        let mut servers = match self.servers(domain).await {
            Ok(servers) => servers,
            Err(outcome) => return all(outcome),
        };
        let sent = match self.policies.of(&self.lookup, domain).await {
            Some(policy) if policy.mode == StsMode::Enforce => {
                servers.retain(|server| policy.names(server));
                let sent = self.send_to_any(&self.enforced, &servers, mail, group).await;
                sent.map_err(|errors| errors.outcome_by_policy(domain))
            }
            policy => {
                note(domain, policy.as_deref(), &servers);
                let sent = self.send_to_any(&self.usual, &servers, mail, group).await;
                sent.map_err(|errors| errors.outcome(domain))
            }
        };
        sent.unwrap_or_else(all)
    }

    /// Sends through the first server that a session can be opened with.
    async fn send_to_any(
        &self,
        profile: &ConnectionProfile,
        servers: &[String],
        mail: &OutgoingMail,
        group: &[String],
    ) -> Result<Vec<RelayOutcome>, DeliveryErrors> {
        let mut errors = DeliveryErrors::default();
        for server in servers.iter().take(SERVERS) {
            let sent = self.send_to_server(profile, server, mail, group, &mut errors).await;
            if let Some(outcomes) = sent {
                return Ok(outcomes);
            }
        }
        Err(errors)
    }

    /// The mail servers of a domain by MX preference; servers of equal preference take turns. A
    /// domain without MX records takes mail itself (RFC 5321, section 5.1), one whose only MX is a
    /// dot takes none (RFC 7505).
    async fn servers(&self, domain: &str) -> Result<Vec<String>, RelayOutcome> {
        match self.lookup.exchanges(domain).await {
            Ok(exchanges) if exchanges.iter().all(|exchange| exchange.host.is_empty()) => {
                // RFC 7505, section 4.
                let sentence = format!("{domain} takes no mail");
                Err(RelayOutcome::Never(RelayReason::new("5.1.10", sentence)))
            }
            Ok(exchanges) => Ok(in_turn(exchanges, self.turn.fetch_add(1, Ordering::Relaxed))),
            Err(LookupFailure::Nothing) => Ok(vec![domain.to_owned()]),
            Err(LookupFailure::Unknown) => {
                let sentence = format!("{domain}: its servers could not be looked up");
                Err(RelayOutcome::Later(RelayReason::new("lookup-failed", sentence)))
            }
        }
    }

    /// `None` when no session could be opened, so that the next server is tried.
    async fn send_to_server(
        &self,
        profile: &ConnectionProfile,
        server: &str,
        mail: &OutgoingMail,
        group: &[String],
        errors: &mut DeliveryErrors,
    ) -> Option<Vec<RelayOutcome>> {
        while let Some(session) = profile.pool.take(server) {
            if let TransactionOutcome::Outcomes(outcomes) =
                profile.send(server, session, mail, group).await
            {
                return Some(outcomes);
            }
        }
        let addresses = match self.lookup.addresses(server).await {
            Ok(addresses) => addresses,
            Err(LookupFailure::Nothing) => return None,
            Err(LookupFailure::Unknown) => {
                let sentence = "its server's address could not be looked up";
                errors.last = Some(RelayReason::new("lookup-failed", sentence));
                return None;
            }
        };
        let (public, private): (Vec<IpAddr>, Vec<IpAddr>) =
            addresses.into_iter().partition(|address| (self.address_filter)(*address));
        errors.private |= !private.is_empty();
        for address in public.into_iter().take(ADDRESSES) {
            let address = SocketAddr::new(address, self.port);
            match profile.open(address, server).await {
                Ok(session) => match profile.send(server, session, mail, group).await {
                    TransactionOutcome::Outcomes(outcomes) => return Some(outcomes),
                    TransactionOutcome::Gone(reason) => errors.last = Some(reason),
                },
                Err(failure) => errors.last = Some(failure.reason()),
            }
        }
        None
    }
}

impl ConnectionProfile {
    async fn open(
        &self,
        address: SocketAddr,
        server: &str,
    ) -> Result<SmtpClientSession, ConnectFailure> {
        match SmtpClientSession::open(address, server, &self.dial).await {
            Err(trouble) if trouble.encryption_failed() && self.fallback => {
                let clear = SmtpSessionConfig { security: Security::Clear, ..self.dial.clone() };
                SmtpClientSession::open(address, server, &clear).await
            }
            opened => opened,
        }
    }

    async fn send(
        &self,
        server: &str,
        mut session: SmtpClientSession,
        mail: &OutgoingMail,
        group: &[String],
    ) -> TransactionOutcome {
        let sent = session.send(mail, group).await;
        self.pool.give(server, session);
        sent
    }
}

/// The errors of all attempts with a domain's servers.
#[derive(Default)]
struct DeliveryErrors {
    last: Option<RelayReason>,
    private: bool,
}

impl DeliveryErrors {
    /// A connection failure is temporary. A domain without a usable mail server is a permanent
    /// failure.
    fn outcome(self, domain: &str) -> RelayOutcome {
        match (self.last, self.private) {
            (Some(reason), _) => {
                RelayOutcome::Later(reason.map_sentence(|last| format!("{domain}: {last}")))
            }
            (None, true) => {
                let sentence = format!("{domain} leads into a private network");
                RelayOutcome::Never(RelayReason::new("private-network", sentence))
            }
            (None, false) => {
                let sentence = format!("{domain} has no server that takes mail");
                RelayOutcome::Never(RelayReason::new("5.1.2", sentence))
            }
        }
    }

    /// The same under an enforced MTA-STS policy: every failure is temporary, because an attacker
    /// on the network could have caused it.
    fn outcome_by_policy(self, domain: &str) -> RelayOutcome {
        RelayOutcome::Later(match self.last {
            Some(reason) => reason.map_sentence(|last| {
                format!(
                    "{domain}: {last}; its MTA-STS policy asks for servers that prove their name"
                )
            }),
            None => {
                let sentence =
                    format!("{domain}: no server that its MTA-STS policy names was found");
                RelayReason::new("mta-sts", sentence)
            }
        })
    }
}

/// Logs servers that a policy in testing mode does not list.
fn note(domain: &str, policy: Option<&StsPolicy>, servers: &[String]) {
    let Some(policy) = policy.filter(|policy| policy.mode == StsMode::Testing) else { return };
    for server in servers.iter().filter(|server| !policy.names(server)) {
        tracing::info!(domain, server, "an MTA-STS policy under test does not name this server");
    }
}

/// Hosts by preference; among equals another one is the first each time.
fn in_turn(exchanges: Vec<MailExchanger>, turn: usize) -> Vec<String> {
    let mut hosts = Vec::new();
    for equals in exchanges.chunk_by(|one, other| one.preference == other.preference) {
        let mut equals: Vec<String> =
            equals.iter().map(|e| e.host.clone()).filter(|host| !host.is_empty()).collect();
        if !equals.is_empty() {
            let first = turn % equals.len();
            equals.rotate_left(first);
        }
        hosts.extend(equals);
    }
    hosts
}

impl Relay for MxRelay {
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>> {
        Box::pin(envelope::to_deliverable(mail, |mail, recipients| {
            self.send_to_all(mail, recipients)
        }))
    }

    fn parts(&self, recipients: &[String]) -> Vec<Vec<String>> {
        let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for to in recipients {
            let deliverable = envelope::deliverable(to).unwrap_or_default();
            let domain = envelope::domain(&deliverable).to_owned();
            parts.entry(domain).or_default().push(to.clone());
        }
        parts.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_take_turns_and_the_better_come_first() {
        let exchange = |preference, host: &str| MailExchanger { preference, host: host.into() };
        let exchanges = vec![exchange(5, "a"), exchange(10, "b"), exchange(10, "c")];
        assert_eq!(in_turn(exchanges.clone(), 0), ["a", "b", "c"]);
        assert_eq!(in_turn(exchanges.clone(), 1), ["a", "c", "b"]);
        assert_eq!(in_turn(exchanges, 2), ["a", "b", "c"]);
    }
}
