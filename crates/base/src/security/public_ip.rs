//! Which addresses and names of the network are public. Webhooks are sent to public addresses only
//! (SSRF): the others reach the service's own machine, its network or the cloud's metadata service.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Bytes of a whole name, and of one of its parts (RFC 1035, section 2.3.4).
const NAME_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;

/// True for the host of an address that is public on its face. Where a name leads is for
/// [`is_public`] to judge once it has been looked up.
pub fn is_public_host(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_public_name(name),
        Host::Ipv4(ip) => is_public((*ip).into()),
        Host::Ipv6(ip) => is_public((*ip).into()),
    }
}

/// True for a name that the public DNS could know: two or more parts, the last of which is not
/// set aside for private networks or for other systems of naming.
fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let labels: Vec<&str> = name.split('.').collect();
    name.len() <= NAME_BYTES
        && labels.len() > 1
        && labels.iter().all(|label| is_label(label))
        && labels.last().is_some_and(|last| !PRIVATE_ENDINGS.contains(last))
}

fn is_label(label: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=LABEL_BYTES).contains(&label.len()) && label.bytes().all(plain)
}

/// Top-level names that resolve only in private networks, or not in DNS at all.
const PRIVATE_ENDINGS: &[&str] = &[
    "alt",         // RFC 9476: not DNS
    "arpa",        // home.arpa, and the plumbing of DNS itself
    "corp",        // never delegated, because networks use it inside
    "domain",      // a default of home routers
    "home",        // as corp
    "internal",    // set aside by ICANN; clouds answer their metadata under it
    "intranet",    // used inside networks
    "invalid",     // RFC 6761
    "lan",         // a default of home routers
    "local",       // RFC 6762: answered by neighbours
    "localdomain", // the machine itself
    "localhost",   // RFC 6761: the machine itself
    "mail",        // as corp
    "onion",       // RFC 7686: not DNS
    "private",     // used inside networks
    "test",        // RFC 6761
    "workgroup",   // used inside networks
];

/// True for addresses that anyone on the internet reaches alike.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    !NOT_PUBLIC_V4.iter().any(|(network, bits)| {
        let network = Ipv4Addr::from(*network).to_bits();
        (ip.to_bits() ^ network).leading_zeros() >= *bits
    })
}

/// Networks and how many of their bits count.
const NOT_PUBLIC_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),        // this network
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared by a carrier's customers
    ([127, 0, 0, 0], 8),      // loopback
    ([168, 63, 129, 16], 32), // Azure's controls, which answer only from inside
    ([169, 254, 0, 0], 16),   // link-local; clouds answer their metadata here
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 88, 99, 0], 24),   // former relays to 6to4
    ([192, 168, 0, 0], 16),   // private
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, and broadcast
];

fn is_public_v6(ip: Ipv6Addr) -> bool {
    if let Some(inner) = behind_nat64(ip) {
        return is_public_v4(inner);
    }
    // Only 2000::/3 is handed out. What is not in it: loopback, mapped, compatible and translated
    // IPv4, the local NAT64 prefix, unique-local, link-local, site-local and multicast.
    let handed_out = ip.segments()[0] & 0xe000 == 0x2000;
    let set_aside = NOT_PUBLIC_V6.iter().any(|(network, bits)| {
        let network = Ipv6Addr::from(*network).to_bits();
        (ip.to_bits() ^ network).leading_zeros() >= *bits
    });
    handed_out && !set_aside
}

/// The address that NAT64 (RFC 6052: `64:ff9b::/96`) leads to.
fn behind_nat64(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [0x64, 0xff9b, 0, 0, 0, 0, ..] = ip.segments() else { return None };
    let [.., a, b, c, d] = ip.octets();
    Some(Ipv4Addr::new(a, b, c, d))
}

/// Networks inside 2000::/3 and how many of their bits count.
const NOT_PUBLIC_V6: &[([u16; 8], u32)] = &[
    // Teredo, benchmarks, both ORCHIDs and other protocol assignments
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    // documentation
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    // 6to4, which leads to an IPv4 address of anyone's choice
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    // the former test network 6bone
    ([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16),
    // documentation
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_a_network_are_not_public() {
        for inside in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.255",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "::ffff:0:8.8.8.8",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.1.2.3",
            "64:ff9b::169.254.169.254",
            "64:ff9b::1:8.8.8.8",
            "64:ff9b:0:1::8.8.8.8",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:1:ffff::1",
            "100::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:10::1",
            "2001:1f:ffff::1",
            "2001:20::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2001:db8:ffff:ffff::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "3ffe::1",
            "3fff::1",
            "3fff:fff:ffff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "feff::1",
            "ff02::1",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
    }

    #[test]
    fn addresses_beside_those_networks_are_public() {
        for outside in [
            "1.0.0.0",
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.101.0",
            "203.0.112.255",
            "223.255.255.255",
            "64:ff9b::8.8.8.8",
            "2000::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1",
            "2a00:1450:4001:810::200e",
            "3ffd:ffff::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }

    #[test]
    fn names_answered_inside_a_network_are_not_public() {
        let long_label = format!("{}.example.com", "a".repeat(64));
        let long_name = format!("{}example.com", "abcdefg.".repeat(31));
        for inside in [
            "",
            ".",
            "localhost",
            "localhost.",
            "LOCALHOST",
            "intranet",
            "com",
            "com.",
            "a.localhost",
            "printer.local",
            "printer.LOCAL.",
            "metadata.google.internal",
            "metadata.google.internal.",
            "router.home.arpa",
            "1.0.0.127.in-addr.arpa",
            "abcdefghij.onion",
            "nas.lan",
            "nas.home",
            "wiki.corp",
            "wiki.intranet",
            "wiki.private",
            "pc.localdomain",
            "hook.test",
            "hook.invalid",
            "name.alt",
            "example..com",
            ".example.com",
            "example.com..",
            "*.example.com",
            "exam!ple.com",
            &long_label,
            &long_name,
        ] {
            assert!(!is_public_name(inside), "{inside}");
        }
    }

    #[test]
    fn names_of_the_public_dns_are_public() {
        let long_label = format!("{}.example.com", "a".repeat(63));
        for outside in [
            "example.com",
            "example.com.",
            "EXAMPLE.com",
            "hooks.eu-1.example.co.uk",
            "xn--mnchen-3ya.de",
            "shop.xn--p1ai",
            "local.example.com",
            "localhost.example.com",
            "internal.io",
            "my_hook.example.com",
            "127.0.0.1.nip.io",
            &long_label,
        ] {
            assert!(is_public_name(outside), "{outside}");
        }
    }
}
