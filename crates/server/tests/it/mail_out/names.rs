//! A DNS server on a real socket that serves the records of a test.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use tokio::net::UdpSocket;

const A: u16 = 1;
const MX: u16 = 15;
const TXT: u16 = 16;
const AAAA: u16 = 28;
const SRV: u16 = 33;

/// Records by name, which is in lower case and without a dot at the end.
#[derive(Default)]
pub struct Zone(HashMap<String, Vec<(u16, Vec<u8>)>>);

impl Zone {
    pub fn address(mut self, name: &str, address: &str) -> Zone {
        let (kind, data) = match address.parse().unwrap() {
            IpAddr::V4(address) => (A, address.octets().to_vec()),
            IpAddr::V6(address) => (AAAA, address.octets().to_vec()),
        };
        self.add(name, kind, data);
        self
    }

    pub fn mx(mut self, name: &str, preference: u16, host: &str) -> Zone {
        let mut data = preference.to_be_bytes().to_vec();
        data.extend(labels(host));
        self.add(name, MX, data);
        self
    }

    pub fn service(mut self, name: &str, host: &str, port: u16) -> Zone {
        let mut data = [0, 1, 0, 1].to_vec();
        data.extend_from_slice(&port.to_be_bytes());
        data.extend(labels(host));
        self.add(name, SRV, data);
        self
    }

    pub fn text(mut self, name: &str, text: &str) -> Zone {
        let mut data = Vec::new();
        for piece in text.as_bytes().chunks(200) {
            data.push(piece.len() as u8);
            data.extend_from_slice(piece);
        }
        self.add(name, TXT, data);
        self
    }

    fn add(&mut self, name: &str, kind: u16, data: Vec<u8>) {
        self.0.entry(name.to_owned()).or_default().push((kind, data));
    }

    /// Serves these records; a name that has none does not exist.
    pub async fn serve(self) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        tokio::spawn(async move {
            let mut query = [0; 1500];
            while let Ok((length, client)) = socket.recv_from(&mut query).await {
                let reply = self.reply(&query[..length]);
                socket.send_to(&reply, client).await.unwrap();
            }
        });
        address
    }

    fn reply(&self, query: &[u8]) -> Vec<u8> {
        let (mut name, mut at) = (String::new(), 12);
        while query[at] != 0 {
            let label = &query[at + 1..=at + usize::from(query[at])];
            name.push_str(&String::from_utf8_lossy(label).to_lowercase());
            name.push('.');
            at += 1 + label.len();
        }
        let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
        let known = self.0.get(name.trim_end_matches('.'));
        // `broken` names are those whose servers fail.
        let code = match (name.starts_with("broken."), known) {
            (true, _) => 2,
            (false, None) => 3,
            (false, Some(_)) => 0,
        };
        let of_kind = |record: &&(u16, Vec<u8>)| record.0 == kind;
        let found: Vec<&(u16, Vec<u8>)> = known.into_iter().flatten().filter(of_kind).collect();
        let counts = [0x81, 0x80 | code, 0, 1, 0, found.len() as u8, 0, 0, 0, 0];
        let mut reply = [&query[..2], &counts, &query[12..at + 5]].concat();
        for (kind, data) in found {
            reply.extend_from_slice(&[0xc0, 12]);
            reply.extend_from_slice(&kind.to_be_bytes());
            reply.extend_from_slice(&[0, 1, 0, 0, 0, 60]);
            reply.extend_from_slice(&(data.len() as u16).to_be_bytes());
            reply.extend_from_slice(data);
        }
        reply
    }
}

/// A name as records hold it.
fn labels(host: &str) -> Vec<u8> {
    let mut data = Vec::new();
    for label in host.split('.').filter(|label| !label.is_empty()) {
        data.push(label.len() as u8);
        data.extend_from_slice(label.as_bytes());
    }
    data.push(0);
    data
}
