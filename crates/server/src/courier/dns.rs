use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver as Hickory, TokioResolver};

use super::resolver::{LookUp, NotFound, Resolver};
use crate::lookup;

/// How long the server has for one question, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(2);
const QUESTIONS: usize = 2;
/// The longest that an answer is remembered, whatever its owner asks for, so that a name that
/// moves is followed soon.
const REMEMBERED: Duration = Duration::from_secs(60);
/// The same for the answer that there is nothing.
const NOTHING_REMEMBERED: Duration = Duration::from_secs(5);

/// One DNS server, asked for both kinds of addresses.
pub struct DnsResolver(TokioResolver);

impl DnsResolver {
    pub fn at(server: SocketAddr) -> Result<DnsResolver, String> {
        let runtime = TokioRuntimeProvider::default();
        let mut builder = Hickory::builder_with_config(lookup::only(server), runtime);
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = PATIENCE;
        options.attempts = QUESTIONS;
        options.positive_max_ttl = Some(REMEMBERED);
        options.negative_max_ttl = Some(NOTHING_REMEMBERED);
        builder.build().map(DnsResolver).map_err(|error| format!("dns: {error}"))
    }
}

impl Resolver for DnsResolver {
    fn look_up<'a>(&'a self, name: &'a str) -> LookUp<'a> {
        Box::pin(async move {
            let found = self.0.lookup_ip(name).await.map_err(|cause| {
                tracing::debug!(%cause, "the DNS server found no address of a name");
                NotFound
            })?;
            Ok(found.iter().collect())
        })
    }
}
