//! DNS lookups for mail: MX, address, SRV and TXT records.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::RData;
use hickory_resolver::{Resolver, TokioResolver};

use crate::net::dns_health::DnsHealth;

/// The timeout of one query, and the attempts.
const PATIENCE: Duration = Duration::from_secs(5);
const QUESTIONS: usize = 2;
/// The upper bounds of the TTL of positive and negative responses.
const REMEMBERED: Duration = Duration::from_secs(300);
const NOTHING_REMEMBERED: Duration = Duration::from_secs(15);

/// The DNS server of `MAILROOM_DNS`, or those that the system is set up with.
#[derive(Clone)]
pub struct Lookup {
    resolver: TokioResolver,
    health: Arc<DnsHealth>,
}

/// Why a lookup has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupFailure {
    /// The name does not exist, or has no record of this kind.
    Nothing,
    /// The lookup failed.
    Unknown,
}

/// A server that takes mail for a domain; less is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MailExchanger {
    pub preference: u16,
    /// In lower case, without a dot at the end; empty for "this domain takes no mail".
    pub host: String,
}

/// A host that offers a service; the least is the best.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceHost {
    pub priority: u16,
    pub weight: std::cmp::Reverse<u16>,
    /// In lower case, without a dot at the end.
    pub host: String,
    pub port: u16,
}

/// One DNS server, by UDP, and by TCP for truncated responses.
pub fn only(server: SocketAddr) -> ResolverConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = server.port();
    }
    let server = NameServerConfig::new(server.ip(), true, connections);
    ResolverConfig::from_parts(None, vec![], vec![server])
}

impl Lookup {
    pub fn at(server: Option<SocketAddr>) -> Result<Lookup, String> {
        let mut builder = match server {
            Some(server) => {
                Resolver::builder_with_config(only(server), TokioRuntimeProvider::default())
            }
            None => Resolver::builder_tokio().map_err(|error| format!("dns: {error}"))?,
        };
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = PATIENCE;
        options.attempts = QUESTIONS;
        options.positive_max_ttl = Some(REMEMBERED);
        options.negative_max_ttl = Some(NOTHING_REMEMBERED);
        let resolver = builder.build().map_err(|error| format!("dns: {error}"))?;
        Ok(Lookup { resolver, health: DnsHealth::of(server) })
    }

    /// The resolver, while its server is up.
    async fn ready(&self) -> Result<&TokioResolver, LookupFailure> {
        if self.health.is_up().await { Ok(&self.resolver) } else { Err(LookupFailure::Unknown) }
    }

    /// The MX records of a domain, the best first.
    pub async fn exchanges(&self, domain: &str) -> Result<Vec<MailExchanger>, LookupFailure> {
        let found = self.ready().await?.mx_lookup(complete(domain)).await.map_err(missing)?;
        let mut exchanges: Vec<MailExchanger> = found
            .answers()
            .iter()
            .filter_map(|record| match &record.data {
                RData::MX(mx) => Some(MailExchanger {
                    preference: mx.preference,
                    host: mx.exchange.to_ascii().trim_end_matches('.').to_ascii_lowercase(),
                }),
                _ => None,
            })
            .collect();
        exchanges.sort();
        if exchanges.is_empty() { Err(LookupFailure::Nothing) } else { Ok(exchanges) }
    }

    /// Every address of a host, of both kinds.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, LookupFailure> {
        let found = self.ready().await?.lookup_ip(complete(host)).await.map_err(missing)?;
        let addresses: Vec<IpAddr> = found.iter().collect();
        if addresses.is_empty() { Err(LookupFailure::Nothing) } else { Ok(addresses) }
    }

    /// The SRV records of a service, the best first. A service that is declared not to be offered
    /// (RFC 2782, a target of `.`) has none.
    pub async fn services(&self, name: &str) -> Result<Vec<ServiceHost>, LookupFailure> {
        let found = self.ready().await?.srv_lookup(complete(name)).await.map_err(missing)?;
        let mut hosts: Vec<ServiceHost> = found
            .answers()
            .iter()
            .filter_map(|record| match &record.data {
                RData::SRV(srv) => Some(ServiceHost {
                    priority: srv.priority,
                    weight: std::cmp::Reverse(srv.weight),
                    host: srv.target.to_ascii().trim_end_matches('.').to_ascii_lowercase(),
                    port: srv.port,
                }),
                _ => None,
            })
            .filter(|service| !service.host.is_empty() && service.port > 0)
            .collect();
        hosts.sort();
        if hosts.is_empty() { Err(LookupFailure::Nothing) } else { Ok(hosts) }
    }

    /// The TXT records of a name, each with its pieces put together.
    pub async fn texts(&self, name: &str) -> Result<Vec<String>, LookupFailure> {
        let found = self.ready().await?.txt_lookup(complete(name)).await.map_err(missing)?;
        let texts: Vec<String> = found
            .answers()
            .iter()
            .filter_map(|record| match &record.data {
                RData::TXT(txt) => Some(String::from_utf8_lossy(&txt.txt_data.concat()).into()),
                _ => None,
            })
            .collect();
        if texts.is_empty() { Err(LookupFailure::Nothing) } else { Ok(texts) }
    }
}

/// No search domain may be added to a name.
fn complete(name: &str) -> String {
    format!("{}.", name.trim_end_matches('.'))
}

fn missing(error: NetError) -> LookupFailure {
    if error.is_no_records_found() {
        return LookupFailure::Nothing;
    }
    tracing::debug!(%error, "DNS query failed");
    LookupFailure::Unknown
}
