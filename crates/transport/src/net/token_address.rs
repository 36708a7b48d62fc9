//! Addresses that tokens and secrets pass through.

use url::{Host, Url};

/// Such an address is encrypted, or on this machine. The error is a sentence without its subject.
pub fn token_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .map_err(|_| format!("must have an address such as https://host/path, not {text:?}"))?;
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" if url.has_host() => Ok(url),
        "http" if is_here => Ok(url),
        _ => Err(format!("must name https addresses, or http on this machine: {text}")),
    }
}
