//! Where names lead: a small port, with the system's resolver and one DNS server as its bodies.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use crate::net::dns::DnsResolver;
use crate::net::system_resolver::SystemResolver;
use crate::settings::Settings;

/// Finds the addresses of a name.
pub trait Resolver: Send + Sync {
    /// A name that ends in a dot is complete: nothing may be added to it.
    fn look_up<'a>(&'a self, name: &'a str) -> LookUp<'a>;
}

pub type LookUp<'a> = Pin<Box<dyn Future<Output = ResolvedAddresses> + Send + 'a>>;

/// Every address of the name, however many kinds of records they came from.
pub type ResolvedAddresses = Result<Vec<IpAddr>, NotFound>;

/// The name has no address, or nobody could tell. Why is for the log: it may describe the
/// network that the service runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFound;

/// The resolver that the settings ask for.
pub fn of(settings: &Settings) -> Result<Arc<dyn Resolver>, String> {
    Ok(match settings.dns {
        Some(server) => Arc::new(DnsResolver::at(server)?),
        None => Arc::new(SystemResolver::default()),
    })
}
