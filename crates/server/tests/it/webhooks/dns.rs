//! The resolver of `MAILROOM_DNS` against a DNS server on a real socket.

use std::net::SocketAddr;

use tokio::net::UdpSocket;
use transport::webhooks::DnsResolver;

use super::receiver::Authority;
use super::*;

/// A DNS server that answers as a test tells it: the name as asked and the kind of address in,
/// addresses out; `None` means that the name does not exist.
pub struct Server {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

const A: u16 = 1;
const AAAA: u16 = 28;

impl Server {
    pub async fn start(answer: impl Fn(&str) -> Option<Vec<IpAddr>> + Send + 'static) -> Server {
        let socket = UdpSocket::bind((OUTSIDE, 0)).await.unwrap();
        let address = socket.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut query = [0; 1500];
            while let Ok((length, client)) = socket.recv_from(&mut query).await {
                let (name, kind, question) = read(&query[..length]);
                // Whether it is there at all is asked without a name.
                if !name.is_empty() {
                    log.lock().unwrap().push(name.clone());
                }
                let reply = write(&query[..2], question, kind, answer(&name));
                socket.send_to(&reply, client).await.unwrap();
            }
        });
        Server { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// The name, the kind of record, and the bytes of the question.
fn read(query: &[u8]) -> (String, u16, &[u8]) {
    let mut name = String::new();
    let mut at = 12;
    while query[at] != 0 {
        let label = &query[at + 1..=at + usize::from(query[at])];
        name.push_str(&String::from_utf8_lossy(label).to_lowercase());
        name.push('.');
        at += 1 + label.len();
    }
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    (name, kind, &query[12..at + 5])
}

fn write(id: &[u8], question: &[u8], kind: u16, found: Option<Vec<IpAddr>>) -> Vec<u8> {
    let code = if found.is_some() { 0 } else { 3 };
    let records: Vec<Vec<u8>> = found
        .unwrap_or_default()
        .into_iter()
        .filter_map(|ip| match ip {
            IpAddr::V4(ip) if kind == A => Some(ip.octets().to_vec()),
            IpAddr::V6(ip) if kind == AAAA => Some(ip.octets().to_vec()),
            _ => None,
        })
        .collect();
    let mut reply = [id, &[0x81, 0x80 | code, 0, 1, 0, records.len() as u8, 0, 0, 0, 0]].concat();
    reply.extend_from_slice(question);
    for data in records {
        // The question's name, the kind, the internet, remembered for no second.
        reply.extend_from_slice(&[0xc0, 12, 0, kind as u8, 0, 1, 0, 0, 0, 0, 0, data.len() as u8]);
        reply.extend_from_slice(&data);
    }
    reply
}

fn ips(addresses: &[&str]) -> Vec<IpAddr> {
    addresses.iter().map(|address| address.parse().unwrap()).collect()
}

#[tokio::test]
async fn both_kinds_of_addresses_are_found() {
    let server = Server::start(|_| Some(ips(&["192.0.2.1", "192.0.2.2", "2001:db8::1"]))).await;
    let resolver = DnsResolver::at(server.address).unwrap();
    let mut found = resolver.look_up("hooks.example.com.").await.unwrap();
    found.sort();
    assert_eq!(found, ips(&["192.0.2.1", "192.0.2.2", "2001:db8::1"]));
    assert_eq!(server.asked(), ["hooks.example.com."; 2]);
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_not_found() {
    let server = Server::start(|_| None).await;
    let resolver = DnsResolver::at(server.address).unwrap();
    assert_eq!(resolver.look_up("hooks.example.com.").await, Err(NotFound));
    let server = Server::start(|_| Some(Vec::new())).await;
    let resolver = DnsResolver::at(server.address).unwrap();
    assert_eq!(resolver.look_up("hooks.example.com.").await, Err(NotFound));
}

#[tokio::test]
async fn a_private_address_of_either_kind_bars_the_name() {
    for (addresses, public) in [
        (ips(&["8.8.8.8"]), true),
        (ips(&["8.8.8.8", "2606:4700::1"]), true),
        (ips(&["8.8.8.8", "::1"]), false),
        (ips(&["127.0.0.1", "2606:4700::1"]), false),
        (ips(&["8.8.8.8", "10.0.0.1"]), false),
        (ips(&["::ffff:8.8.8.8"]), false),
    ] {
        let told = addresses.clone();
        let server = Server::start(move |_| Some(told.clone())).await;
        let resolver = Arc::new(DnsResolver::at(server.address).unwrap());
        let ssrf_guard = SsrfGuard::new(resolver, SsrfRules::new(false));
        let vetted = ssrf_guard.vet("https://hooks.example.com/").await;
        assert_eq!(vetted.is_ok(), public, "{addresses:?}");
    }
}

#[tokio::test]
async fn a_name_that_moves_at_once_is_followed() {
    let moved = Arc::new(Mutex::new(ips(&["8.8.8.8"])));
    let now = Arc::clone(&moved);
    let server = Server::start(move |_| Some(now.lock().unwrap().clone())).await;
    let resolver = Arc::new(DnsResolver::at(server.address).unwrap());
    let ssrf_guard = SsrfGuard::new(resolver, SsrfRules::new(false));
    assert!(ssrf_guard.vet("https://hooks.example.com/").await.is_ok());
    *moved.lock().unwrap() = ips(&["127.0.0.1"]);
    assert!(ssrf_guard.vet("https://hooks.example.com/").await.is_err());
}

#[tokio::test]
async fn a_server_that_is_silent_costs_no_more_than_the_deadline() {
    let socket = UdpSocket::bind((OUTSIDE, 0)).await.unwrap();
    let resolver = Arc::new(DnsResolver::at(socket.local_addr().unwrap()).unwrap());
    let webhook_sender = webhook_sender(resolver, &Authority::new(), SHORT);
    let sentence = "The address's name could not be found within 0.3 seconds.";
    assert_eq!(post(&webhook_sender, format!("https://{NAME}/")).await, failed(sentence));
}
