//! The port of a public demo: visitors are let into samples of their own.

use base::concurrency::future::BoxFuture;
use base::error::Result;

/// Why a visitor is not let in now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoRefusal {
    /// All places are taken, or the machine is full; the next is free at this time, if that is known.
    Full(Option<i64>),
    /// Too many were begun from this network.
    TooMany,
}

/// Hands out samples.
pub trait DemoVisits: Send + Sync {
    /// Begins a visit, and answers the token of its session.
    fn begin<'a>(
        &'a self,
        network: &'a str,
        device: &'a str,
    ) -> BoxFuture<'a, Result<std::result::Result<String, DemoRefusal>>>;

    /// For how many minutes a visit lasts.
    fn minutes(&self) -> i64;
}
