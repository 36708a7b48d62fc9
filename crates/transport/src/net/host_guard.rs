//! Which mail servers may be connected to. Owners and admins name them in the app, so a name must not
//! lead into the network that this service runs in, unless the operator allows that.

use std::net::IpAddr;
use std::sync::Arc;

use base::security::public_ip::is_public;

use crate::net::config::NetConfig;
use crate::net::dns::resolver_at;
use crate::net::resolver::Resolver;

/// Finds the addresses of a mail server, and refuses private ones.
#[derive(Clone)]
pub struct HostGuard {
    resolver: Arc<dyn Resolver>,
    allow_private: bool,
    /// No host is connected to at all.
    sealed_off: bool,
}

/// Why a host is not connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRefusal {
    NotFound,
    /// One of its addresses is in a private network.
    Private,
}

impl HostGuard {
    pub fn of(config: &NetConfig) -> Result<HostGuard, String> {
        let guard = HostGuard::new(resolver_at(config.dns)?, config.mail_allow_private);
        Ok(HostGuard { sealed_off: config.sealed_off, ..guard })
    }

    pub fn new(resolver: Arc<dyn Resolver>, allow_private: bool) -> HostGuard {
        HostGuard { resolver, allow_private, sealed_off: false }
    }

    /// The same for hosts that the operator named: they may be anywhere.
    pub fn allow_any_host(&self) -> HostGuard {
        HostGuard { resolver: Arc::clone(&self.resolver), allow_private: true, ..*self }
    }

    /// The addresses of a host: a name, or an address with or without brackets. One private address
    /// refuses the host, because the connection might use any of them.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, HostRefusal> {
        if self.sealed_off {
            return Err(HostRefusal::NotFound);
        }
        let host = host.trim_matches(['[', ']']);
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => self.look_up(host).await?,
        };
        if !self.allow_private && !addresses.iter().all(|address| is_public(*address)) {
            return Err(HostRefusal::Private);
        }
        Ok(addresses)
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, HostRefusal> {
        // A public name is complete, so that no search domain is appended.
        let complete = match self.allow_private || name.ends_with('.') {
            true => name.to_owned(),
            false => format!("{name}."),
        };
        match self.resolver.look_up(&complete).await {
            Ok(addresses) if !addresses.is_empty() => Ok(addresses),
            _ => Err(HostRefusal::NotFound),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::concurrency::future::BoxFuture;

    use super::*;
    use crate::net::resolver::{NotFound, ResolvedAddresses};

    struct Names;

    impl Resolver for Names {
        fn look_up<'a>(&'a self, name: &'a str) -> BoxFuture<'a, ResolvedAddresses> {
            Box::pin(async move {
                match name.trim_end_matches('.') {
                    "public.example" => Ok(vec![[93, 184, 215, 14].into()]),
                    "mixed.example" => Ok(vec![[93, 184, 215, 14].into(), [10, 0, 0, 7].into()]),
                    _ => Err(NotFound),
                }
            })
        }
    }

    #[tokio::test]
    async fn a_host_in_a_private_network_is_refused_unless_that_is_allowed() {
        let guard = HostGuard::new(Arc::new(Names), false);
        assert_eq!(guard.addresses("public.example").await.map(|found| found.len()), Ok(1));
        for private in ["mixed.example", "127.0.0.1", "[::1]", "10.1.2.3", "169.254.169.254"] {
            let refused = guard.addresses(private).await;
            assert_eq!(refused, Err(HostRefusal::Private), "{private}");
            assert!(guard.allow_any_host().addresses(private).await.is_ok(), "{private}");
        }
        assert_eq!(guard.addresses("nobody.example").await, Err(HostRefusal::NotFound));
        let sealed = HostGuard { sealed_off: true, ..guard };
        for host in ["public.example", "93.184.215.14"] {
            let refused = sealed.allow_any_host().addresses(host).await;
            assert_eq!(refused, Err(HostRefusal::NotFound), "{host}");
        }
    }
}
