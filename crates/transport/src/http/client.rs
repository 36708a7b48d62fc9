//! The client as rate limits count it: an IPv4 address, or the /64 network of an IPv6 address.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::http::HeaderMap;

use crate::net::listen_address::Networks;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// Hops of a forwarded request that are looked at.
const HOPS: usize = 20;

/// The key of limits on connections, attempts and uploads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientNetwork(IpAddr);

impl ClientNetwork {
    pub fn of(address: IpAddr) -> ClientNetwork {
        match address.to_canonical() {
            IpAddr::V4(address) => ClientNetwork(address.into()),
            IpAddr::V6(address) => {
                let network = address.to_bits() & !u128::from(u64::MAX);
                ClientNetwork(Ipv6Addr::from_bits(network).into())
            }
        }
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(network) => write!(f, "{network}/64"),
        }
    }
}

/// The other end of a connection, and which proxies are believed when they name a client.
#[derive(Clone, Debug)]
pub struct Peer {
    address: IpAddr,
    proxies: Arc<Networks>,
}

impl Peer {
    pub fn new(address: IpAddr, proxies: Arc<Networks>) -> Peer {
        Peer { address: address.to_canonical(), proxies }
    }

    /// True for a proxy of ours: on this machine, or in a network that the settings name. It
    /// speaks for many.
    pub fn is_proxy(&self) -> bool {
        self.trusts(self.address)
    }

    pub fn network(&self) -> ClientNetwork {
        ClientNetwork::of(self.address)
    }

    /// The client: the other end or, behind proxies of ours, the nearest address that is not one of
    /// them. Addresses further to the left are set by the client and not trusted.
    pub fn client(&self, headers: &HeaderMap) -> IpAddr {
        let mut client = self.address;
        let lines = headers.get_all(FORWARDED_FOR).iter().collect::<Vec<_>>();
        let lines = lines.into_iter().rev().filter_map(|line| line.to_str().ok());
        for hop in lines.flat_map(|line| line.rsplit(',')).take(HOPS) {
            if !self.trusts(client) {
                break;
            }
            let Some(address) = parse_hop(hop) else { break };
            client = address;
        }
        client
    }

    /// The same as a network; `None` when only our own proxy is known.
    pub fn client_network(&self, headers: &HeaderMap) -> Option<ClientNetwork> {
        let client = self.client(headers);
        (!self.trusts(client)).then(|| ClientNetwork::of(client))
    }

    fn trusts(&self, address: IpAddr) -> bool {
        address.is_loopback() || self.proxies.contains(address)
    }
}

/// An address, some write with its port.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    let address = bare.parse().or_else(|_| hop.parse::<SocketAddr>().map(|found| found.ip()));
    address.ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> String {
        ClientNetwork::of(text.parse().expect("an address")).to_string()
    }

    #[test]
    fn an_ipv6_customer_is_a_network_and_an_ipv4_one_an_address() {
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(network("2001:db8:1:2::9"), network("2001:db8:1:2:ffff::"));
        assert_ne!(network("2001:db8:1:2::9"), network("2001:db8:1:3::9"));
    }

    fn client(peer: &str, proxies: &str, lines: &[&'static str]) -> String {
        let proxies = Arc::new(proxies.parse().expect("networks"));
        let peer = Peer::new(peer.parse().expect("an address"), proxies);
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, line.parse().expect("a value"));
        }
        peer.client(&headers).to_string()
    }

    #[test]
    fn the_nearest_address_that_is_no_proxy_of_ours_is_the_client() {
        for (peer, proxies, lines, wanted) in [
            // The header is ignored from other clients.
            ("192.0.2.1", "", &["198.51.100.1"][..], "192.0.2.1"),
            ("127.0.0.1", "", &[], "127.0.0.1"),
            ("127.0.0.1", "", &["198.51.100.1"], "198.51.100.1"),
            // Values that a client wrote itself are further left, or in an earlier line.
            ("127.0.0.1", "", &["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
            ("127.0.0.1", "", &["203.0.113.9", "198.51.100.1"], "198.51.100.1"),
            ("127.0.0.1", "", &["198.51.100.1", ""], "127.0.0.1"),
            ("10.0.0.1", "10.0.0.0/8", &["203.0.113.9", "198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            ("10.0.0.1", "10.0.0.0/8", &["10.0.0.3,10.0.0.2"], "10.0.0.3"),
            ("127.0.0.1", "", &["198.51.100.1, unknown"], "127.0.0.1"),
            ("::1", "", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("::1", "", &["198.51.100.1:4711"], "198.51.100.1"),
        ] {
            assert_eq!(client(peer, proxies, lines), wanted, "{peer} {lines:?}");
        }
    }
}
