//! A DNS server on loopback that knows what it is told, for tests and load tests of mail.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, RwLock};
use std::thread;

/// How long an answer may be remembered, in seconds.
const REMEMBERED: u32 = 3_600;
/// The largest question that is read.
const QUESTION_BYTES: usize = 1_500;
/// Bytes of one string of a text record.
const STRING_BYTES: usize = 255;

const NO_ERROR: u8 = 0;
const SERVER_FAILURE: u8 = 2;
const NO_SUCH_NAME: u8 = 3;

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DnsRecord {
    A(Ipv4Addr),
    Aaaa(Ipv6Addr),
    Mx(u16, String),
    Ptr(String),
    Txt(String),
}

impl DnsRecord {
    fn kind(&self) -> u16 {
        match self {
            DnsRecord::A(_) => 1,
            DnsRecord::Ptr(_) => 12,
            DnsRecord::Mx(..) => 15,
            DnsRecord::Txt(_) => 16,
            DnsRecord::Aaaa(_) => 28,
        }
    }

    fn data(&self) -> Vec<u8> {
        match self {
            DnsRecord::A(ip) => ip.octets().to_vec(),
            DnsRecord::Aaaa(ip) => ip.octets().to_vec(),
            DnsRecord::Ptr(name) => labels(name),
            DnsRecord::Mx(preference, name) => {
                [&preference.to_be_bytes()[..], &labels(name)].concat()
            }
            DnsRecord::Txt(text) => {
                let strings = text.as_bytes().chunks(STRING_BYTES);
                strings.flat_map(|s| [&[s.len() as u8][..], s].concat()).collect()
            }
        }
    }
}

/// What is said of a name.
pub enum DnsAnswer {
    Records(Vec<DnsRecord>),
    /// There is no such name.
    Nothing,
    /// The server fails.
    Trouble,
    /// Nobody answers.
    Silence,
}

type Knowledge = dyn Fn(&str) -> DnsAnswer + Send + Sync;

/// The server; it answers as long as the process lives.
#[derive(Clone)]
pub struct DnsServer {
    pub address: SocketAddr,
    knowledge: Arc<RwLock<Arc<Knowledge>>>,
}

impl DnsServer {
    /// DnsServer are given in lower case and without a dot at the end.
    pub fn start(
        knows: impl Fn(&str) -> DnsAnswer + Send + Sync + 'static,
    ) -> Result<DnsServer, String> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
        let address = socket.local_addr().map_err(|error| error.to_string())?;
        let knowledge: Arc<RwLock<Arc<Knowledge>>> = Arc::new(RwLock::new(Arc::new(knows)));
        let known = Arc::clone(&knowledge);
        thread::spawn(move || serve(&socket, &known));
        Ok(DnsServer { address, knowledge })
    }

    /// Knows something else from now on.
    pub fn learn(&self, knows: impl Fn(&str) -> DnsAnswer + Send + Sync + 'static) {
        if let Ok(mut knowledge) = self.knowledge.write() {
            *knowledge = Arc::new(knows);
        }
    }
}

fn serve(socket: &UdpSocket, knowledge: &RwLock<Arc<Knowledge>>) -> io::Result<()> {
    let mut question = [0; QUESTION_BYTES];
    loop {
        let (length, client) = socket.recv_from(&mut question)?;
        let knows = knowledge.read().map(|knows| Arc::clone(&knows));
        if let (Ok(knows), Some(answer)) = (&knows, read_question(&question[..length])) {
            let (name, kind, end) = answer;
            let known = knows(&name);
            if !matches!(known, DnsAnswer::Silence) {
                socket.send_to(&reply(&question[..end], kind, known), client)?;
            }
        }
    }
}

/// The name, the kind of record, and where the question ends.
fn read_question(query: &[u8]) -> Option<(String, u16, usize)> {
    let mut at = 12;
    let mut name: Vec<String> = Vec::new();
    loop {
        let length = usize::from(*query.get(at)?);
        if length == 0 {
            break;
        }
        let label = query.get(at + 1..at + 1 + length)?;
        name.push(String::from_utf8_lossy(label).to_lowercase());
        at += 1 + length;
    }
    let kind = u16::from_be_bytes([*query.get(at + 1)?, *query.get(at + 2)?]);
    (query.len() >= at + 5).then(|| (name.join("."), kind, at + 5))
}

fn reply(question: &[u8], kind: u16, known: DnsAnswer) -> Vec<u8> {
    let (code, records) = match known {
        DnsAnswer::Records(records) => (NO_ERROR, records),
        DnsAnswer::Nothing => (NO_SUCH_NAME, Vec::new()),
        DnsAnswer::Trouble | DnsAnswer::Silence => (SERVER_FAILURE, Vec::new()),
    };
    let found: Vec<&DnsRecord> = records.iter().filter(|record| record.kind() == kind).collect();
    let authority = u8::from(found.is_empty() && code != SERVER_FAILURE);
    let mut reply = question[..2].to_vec();
    reply.extend([0x81, 0x80 | code, 0, 1, 0, found.len() as u8, 0, authority, 0, 0]);
    reply.extend_from_slice(&question[12..]);
    for record in found {
        answer(&mut reply, &[0xc0, 12], record.kind(), &record.data());
    }
    if authority == 1 {
        // That there is nothing is remembered as long as the start of authority says.
        let mut data = [&labels("ns.example")[..], &labels("hostmaster.example")].concat();
        for number in [1, 3_600, 600, 86_400, REMEMBERED] {
            data.extend_from_slice(&number.to_be_bytes());
        }
        answer(&mut reply, &[0], 6, &data);
    }
    reply
}

fn answer(reply: &mut Vec<u8>, name: &[u8], kind: u16, data: &[u8]) {
    reply.extend_from_slice(name);
    reply.extend_from_slice(&kind.to_be_bytes());
    reply.extend_from_slice(&1u16.to_be_bytes());
    reply.extend_from_slice(&REMEMBERED.to_be_bytes());
    reply.extend_from_slice(&(data.len() as u16).to_be_bytes());
    reply.extend_from_slice(data);
}

fn labels(name: &str) -> Vec<u8> {
    let labels = name.split('.').filter(|label| !label.is_empty());
    let mut bytes: Vec<u8> =
        labels.flat_map(|label| [&[label.len() as u8][..], label.as_bytes()].concat()).collect();
    bytes.push(0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_and_answered_with_records_of_its_kind() {
        let question =
            [&[1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], b"\x01A\x07example\0\0\x10\0\x01"];
        let question = question.concat();
        let (name, kind, end) = read_question(&question).expect("a question");
        assert_eq!((name.as_str(), kind, end), ("a.example", 16, question.len()));
        let records = vec![DnsRecord::Txt("x".repeat(300)), DnsRecord::A(Ipv4Addr::LOCALHOST)];
        let reply = reply(&question, kind, DnsAnswer::Records(records));
        assert_eq!(reply[..4], [1, 2, 0x81, 0x80]);
        assert_eq!(reply[6..8], [0, 1]);
        assert_eq!(reply.len(), question.len() + 12 + 302);
        assert_eq!(read_question(&question[..14]), None);
    }
}
