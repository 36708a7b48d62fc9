//! The port that resolves names. `system_resolver` and `dns` implement it.

use std::net::IpAddr;

use base::concurrency::future::BoxFuture;

/// Finds the addresses of a name.
pub trait Resolver: Send + Sync {
    /// A name that ends in a dot is complete: nothing may be added to it.
    fn look_up<'a>(&'a self, name: &'a str) -> BoxFuture<'a, ResolvedAddresses>;
}

/// Every address of the name, however many kinds of records they came from.
pub type ResolvedAddresses = Result<Vec<IpAddr>, NotFound>;

/// The name has no address, or the lookup failed. The reason is for the log: it may describe the
/// network that the service runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFound;
