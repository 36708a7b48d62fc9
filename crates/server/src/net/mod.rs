//! Calls to the outside: names, addresses that may be called, TLS roots and HTTP clients.

pub mod client;
pub mod descriptors;
pub mod dns;
pub mod dns_health;
pub mod failures;
pub mod gate;
pub mod listening;
pub mod lookup;
pub mod pages;
pub mod pins;
pub mod resolver;
pub mod system;
