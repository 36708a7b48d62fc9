//! The SSRF guard: which URLs may be called.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actions::integrations::webhooks::check_url;
use base::error::{Error, Result};
use base::security::public_ip::is_public;
use tokio::time::timeout;
use url::{Host, Url};

use crate::net::config::NetConfig;
use crate::net::dns::resolver_at;
use crate::net::resolver::Resolver;

/// How long finding a name may take while its webhook is added.
const LOOK_UP: Duration = Duration::from_secs(10);
const PRIVATE: &str = "must be a public address, and its name leads into a private network";
const NOT_FOUND: &str = "must have a name that can be found, and this one could not";

/// Decides which addresses may be called (API section 6.1): when a webhook is added, and again
/// before every send, because a name's addresses can change at any time.
#[derive(Clone)]
pub struct SsrfGuard {
    resolver: Arc<dyn Resolver>,
    rules: SsrfRules,
}

#[derive(Clone, Copy)]
pub struct SsrfRules {
    /// Private networks and `http` may be called too, for development alone.
    pub allow_private: bool,
    /// Judges the addresses that a name leads to.
    pub is_public: fn(IpAddr) -> bool,
    /// Nothing may be called at all.
    pub sealed_off: bool,
}

impl SsrfRules {
    pub fn new(allow_private: bool) -> SsrfRules {
        SsrfRules { allow_private, is_public, sealed_off: false }
    }
}

/// An address that may be called now.
pub struct Allowed {
    pub url: Url,
    /// Where its name leads, all of it vetted; none when the address is literal.
    pub addresses: Vec<IpAddr>,
}

/// Why an address may not be called, or cannot be.
pub enum Blocked {
    Refused(Error),
    NotFound,
}

impl SsrfGuard {
    pub fn of(config: &NetConfig) -> Result<SsrfGuard, String> {
        let rules = SsrfRules {
            sealed_off: config.sealed_off,
            ..SsrfRules::new(config.allow_private && !config.sealed_off)
        };
        Ok(SsrfGuard::new(resolver_at(config.dns)?, rules))
    }

    pub fn new(resolver: Arc<dyn Resolver>, rules: SsrfRules) -> SsrfGuard {
        SsrfGuard { resolver, rules }
    }

    pub fn rules(&self) -> SsrfRules {
        self.rules
    }

    /// The check of a webhook's address when it is added. Where anything may be called, its name
    /// need not lead anywhere yet.
    pub async fn vet(&self, text: &str) -> Result<Url> {
        if self.rules.allow_private {
            return check_url(text, true);
        }
        match timeout(LOOK_UP, self.admit(text)).await {
            Ok(Ok(admitted)) => Ok(admitted.url),
            Ok(Err(Blocked::Refused(error))) => Err(error),
            Ok(Err(Blocked::NotFound)) | Err(_) => Err(Error::invalid("url", NOT_FOUND)),
        }
    }

    /// The check before each send. One private address among a host's addresses refuses the call,
    /// because the connection might use any of them.
    pub async fn admit(&self, text: &str) -> Result<Allowed, Blocked> {
        let url = check_url(text, self.rules.allow_private).map_err(Blocked::Refused)?;
        if self.rules.sealed_off {
            return Err(Blocked::NotFound);
        }
        let Some(Host::Domain(name)) = url.host() else {
            return Ok(Allowed { url, addresses: Vec::new() });
        };
        let addresses = self.look_up(name).await?;
        if !self.rules.allow_private && !addresses.iter().all(|ip| (self.rules.is_public)(*ip)) {
            return Err(Blocked::Refused(Error::invalid("url", PRIVATE)));
        }
        Ok(Allowed { url, addresses })
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Blocked> {
        // A public name is made fully qualified, so that no search domain is appended. Development
        // names (`localhost`, a container's) are used as they are.
        let complete = if self.rules.allow_private || name.ends_with('.') {
            name.to_owned()
        } else {
            format!("{name}.")
        };
        match self.resolver.look_up(&complete).await {
            Ok(addresses) if !addresses.is_empty() => Ok(addresses),
            _ => Err(Blocked::NotFound),
        }
    }
}
