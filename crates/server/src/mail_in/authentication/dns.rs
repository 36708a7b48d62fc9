//! The resolver of sender authentication.

use std::net::SocketAddr;
use std::time::Duration;

use mail_auth::MessageAuthenticator;
use mail_auth::hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use mail_auth::hickory_resolver::system_conf::read_system_conf;

/// The timeout and the attempts of one DNS query: together they stay below the time limit for
/// authenticating a mail.
const PATIENCE: Duration = Duration::from_millis(900);
const QUESTIONS: usize = 2;
/// The size of the cache, and the bounds of the records' TTL.
const REMEMBERED: u64 = 20_000;
const REMEMBERED_LEAST: Duration = Duration::from_secs(30);
const REMEMBERED_MOST: Duration = Duration::from_secs(3_600);
/// The same for negative responses.
const NOTHING_REMEMBERED_LEAST: Duration = Duration::from_secs(15);
const NOTHING_REMEMBERED_MOST: Duration = Duration::from_secs(300);

/// Queries this DNS server, or the system's, and caches the responses.
pub(super) fn open(server: Option<SocketAddr>) -> Result<MessageAuthenticator, String> {
    let (config, mut options) = match server {
        Some(server) => (only(server), ResolverOpts::default()),
        None => read_system_conf().map_err(|error| format!("dns: {error}"))?,
    };
    options.timeout = PATIENCE;
    options.attempts = QUESTIONS;
    options.cache_size = REMEMBERED;
    options.positive_min_ttl = Some(REMEMBERED_LEAST);
    options.positive_max_ttl = Some(REMEMBERED_MOST);
    options.negative_min_ttl = Some(NOTHING_REMEMBERED_LEAST);
    options.negative_max_ttl = Some(NOTHING_REMEMBERED_MOST);
    // The hosts file is not used: it proves nothing about mail.
    options.use_hosts_file = ResolveHosts::Never;
    MessageAuthenticator::new(config, options).map_err(|error| format!("dns: {error}"))
}

fn only(server: SocketAddr) -> ResolverConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = server.port();
    }
    let server = NameServerConfig::new(server.ip(), true, connections);
    ResolverConfig::from_parts(None, vec![], vec![server])
}
