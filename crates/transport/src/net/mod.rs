//! Calls to the outside: names, addresses that may be called, TLS roots and HTTP clients; and what
//! listeners share: addresses and the certificate.

pub mod bucket;
pub mod chat_client;
pub mod config;
pub mod der;
pub mod descriptors;
pub mod dns;
pub mod dns_health;
pub mod dns_lookup;
pub mod failures;
pub mod host_guard;
pub mod http_client;
pub mod https_fetch;
pub mod listen_address;
pub mod listening;
pub mod pins;
pub mod resolver;
pub mod ssrf_guard;
pub mod system_resolver;
pub mod tls_certificate;
pub mod token_address;
pub mod xml;
