//! Where a listener listens, and which networks it trusts.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Where a mail listener is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
    Off,
}

impl FromStr for ListenAddress {
    type Err = ();

    fn from_str(text: &str) -> Result<ListenAddress, ()> {
        match text.split_once(':') {
            None if text.eq_ignore_ascii_case("off") => Ok(ListenAddress::Off),
            Some(("unix", path)) if !path.is_empty() => Ok(ListenAddress::Unix(path.into())),
            _ => text.parse().map(ListenAddress::Tcp).map_err(|_| ()),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenAddress::Tcp(address) => address.fmt(f),
            ListenAddress::Unix(path) => write!(f, "unix:{}", path.display()),
            ListenAddress::Off => f.write_str("off"),
        }
    }
}

/// The default mode of a Unix socket: the server's user and group.
const SOCKET_MODE: u32 = 0o660;
/// Where the system's groups are written.
const GROUPS: &str = "/etc/group";

/// Who may deliver mail through a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketAccess {
    pub mode: u32,
    /// The group's number; `None` leaves the one of the process.
    pub group: Option<u32>,
}

impl Default for SocketAccess {
    fn default() -> SocketAccess {
        SocketAccess { mode: SOCKET_MODE, group: None }
    }
}

/// The mode of a socket, written as for `chmod`: `660`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketMode(pub u32);

impl FromStr for SocketMode {
    type Err = ();

    fn from_str(text: &str) -> Result<SocketMode, ()> {
        match u32::from_str_radix(text, 8) {
            Ok(mode) if (0o600..=0o777).contains(&mode) => Ok(SocketMode(mode)),
            _ => Err(()),
        }
    }
}

/// A group of the system, by its number or its name in `/etc/group`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemGroup(pub u32);

impl FromStr for SystemGroup {
    type Err = ();

    fn from_str(text: &str) -> Result<SystemGroup, ()> {
        if let Ok(number) = text.parse() {
            return Ok(SystemGroup(number));
        }
        let groups = std::fs::read_to_string(GROUPS).map_err(|_| ())?;
        let number = groups.lines().find_map(|line| {
            let mut fields = line.split(':');
            let is_named = fields.next() == Some(text);
            is_named.then(|| fields.nth(1)?.parse().ok()).flatten()
        });
        number.map(SystemGroup).ok_or(())
    }
}

/// Networks of our own, written with commas between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

/// Addresses whose first bits are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl Networks {
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address.to_canonical()))
    }
}

impl FromStr for Networks {
    type Err = ();

    fn from_str(text: &str) -> Result<Networks, ()> {
        let pieces = text.split(',').map(str::trim).filter(|piece| !piece.is_empty());
        pieces.map(str::parse).collect::<Result<_, ()>>().map(Networks)
    }
}

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - self.bits).unwrap_or(0);
                own.to_bits() & mask == other.to_bits() & mask
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let mask = u128::MAX.checked_shl(128 - self.bits).unwrap_or(0);
                own.to_bits() & mask == other.to_bits() & mask
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Network, ()> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| ())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| ()))?;
        (bits <= most).then_some(Network { address, bits }).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_is_an_address_a_socket_or_off() {
        assert_eq!("off".parse(), Ok(ListenAddress::Off));
        assert_eq!("unix:run/lmtp".parse(), Ok(ListenAddress::Unix("run/lmtp".into())));
        let tcp = "[::1]:24".parse::<ListenAddress>().expect("an address");
        assert_eq!(tcp.to_string(), "[::1]:24");
        for bad in ["", "unix:", "2525", "localhost:25", "127.0.0.1"] {
            assert_eq!(bad.parse::<ListenAddress>(), Err(()), "{bad}");
        }
    }

    #[test]
    fn a_socket_has_a_mode_and_a_group_of_this_system() {
        assert_eq!("660".parse(), Ok(SocketMode(0o660)));
        assert_eq!("0600".parse(), Ok(SocketMode(0o600)));
        for bad in ["", "66", "888", "1777", "rw"] {
            assert_eq!(bad.parse::<SocketMode>(), Err(()), "{bad}");
        }
        assert_eq!("104".parse(), Ok(SystemGroup(104)));
        assert_eq!("root".parse(), Ok(SystemGroup(0)));
        assert_eq!("no such group".parse::<SystemGroup>(), Err(()));
    }

    #[test]
    fn a_network_holds_the_addresses_that_begin_like_it() {
        let networks: Networks = "10.0.0.0/8, 192.0.2.7,2001:db8::/32".parse().expect("networks");
        for inside in ["10.255.0.1", "192.0.2.7", "2001:db8:1::1", "::ffff:10.1.1.1"] {
            assert!(networks.contains(inside.parse().expect("an address")), "{inside}");
        }
        for outside in ["11.0.0.1", "192.0.2.8", "2001:db9::1", "::1"] {
            assert!(!networks.contains(outside.parse().expect("an address")), "{outside}");
        }
        let everywhere: Networks = "0.0.0.0/0".parse().expect("a network");
        assert!(everywhere.contains("198.51.100.1".parse().expect("an address")));
        for bad in ["10.0.0.0/33", "10.0.0/8", "x", "10.0.0.0/-1"] {
            assert_eq!(bad.parse::<Networks>(), Err(()), "{bad}");
        }
    }
}
