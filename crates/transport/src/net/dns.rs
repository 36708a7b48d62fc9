//! A resolver that queries the configured DNS server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base::concurrency::future::BoxFuture;
use hickory_resolver::config::{LookupIpStrategy, ResolveHosts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver as Hickory, TokioResolver};

use crate::net::dns_health::DnsHealth;
use crate::net::dns_lookup;
use crate::net::resolver::{NotFound, ResolvedAddresses, Resolver};
use crate::net::system_resolver::SystemResolver;

/// The timeout of one query, and the attempts.
const PATIENCE: Duration = Duration::from_secs(2);
const QUESTIONS: usize = 2;
/// The upper bound of TTLs, so that a changed name is noticed soon.
const REMEMBERED: Duration = Duration::from_secs(60);
/// The same for negative responses.
const NOTHING_REMEMBERED: Duration = Duration::from_secs(5);

/// The resolver of a DNS server, or the system's.
pub fn resolver_at(server: Option<SocketAddr>) -> Result<Arc<dyn Resolver>, String> {
    Ok(match server {
        Some(server) => Arc::new(DnsResolver::at(server)?),
        None => Arc::new(SystemResolver::default()),
    })
}

/// One DNS server, queried for A and AAAA records.
pub struct DnsResolver {
    resolver: TokioResolver,
    health: Arc<DnsHealth>,
}

impl DnsResolver {
    pub fn at(server: SocketAddr) -> Result<DnsResolver, String> {
        let runtime = TokioRuntimeProvider::default();
        let mut builder = Hickory::builder_with_config(dns_lookup::only(server), runtime);
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = PATIENCE;
        options.attempts = QUESTIONS;
        options.positive_max_ttl = Some(REMEMBERED);
        options.negative_max_ttl = Some(NOTHING_REMEMBERED);
        let resolver = builder.build().map_err(|error| format!("dns: {error}"))?;
        Ok(DnsResolver { resolver, health: DnsHealth::of(Some(server)) })
    }
}

impl Resolver for DnsResolver {
    fn look_up<'a>(&'a self, name: &'a str) -> BoxFuture<'a, ResolvedAddresses> {
        Box::pin(async move {
            if !self.health.is_up().await {
                return Err(NotFound);
            }
            let found = self.resolver.lookup_ip(name).await.map_err(|cause| {
                tracing::debug!(%cause, "the DNS server found no address of a name");
                NotFound
            })?;
            Ok(found.iter().collect())
        })
    }
}
