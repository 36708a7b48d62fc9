//! The server that is attacked, and what an ordinary client needs to use it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use test_dns::{DnsAnswer, DnsServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::database::DatabaseKind;
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace};
use crate::requests::request;
use crate::server::{Server, free_address, serve};

/// Where attackers come from; everybody else comes from 127.0.0.1.
pub const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// What is read of an answer in one go.
const READ_BYTES: usize = 64 * 1024;
/// Conversations in the workspace.
const CONVERSATIONS: usize = 50;

pub struct AttackTarget {
    pub server: Server,
    pub http: SocketAddr,
    pub smtp: SocketAddr,
    pub key: String,
    pub session: String,
    pub conversation: String,
    /// What goes with a server that was started for this alone.
    _names: Option<DnsServer>,
    _place: Option<BenchDatabase>,
}

impl AttackTarget {
    /// A server that asks a DNS server which knows no name.
    pub fn start(
        binary: &Path,
        kind: DatabaseKind,
        postgres: Option<&str>,
    ) -> Result<Self, String> {
        let names = DnsServer::start(|_| DnsAnswer::Nothing)?;
        let target = AttackTarget::start_with_dns(binary, kind, postgres, names.address)?;
        Ok(AttackTarget { _names: Some(names), ..target })
    }

    pub fn start_with_dns(
        binary: &Path,
        kind: DatabaseKind,
        postgres: Option<&str>,
        dns: SocketAddr,
    ) -> Result<Self, String> {
        let place = BenchDatabase::new(kind, postgres, "attack")?;
        let workspace = workspace::set_with_help_pages(&place, CONVERSATIONS)?;
        let (http, smtp) = (free_address()?, free_address()?);
        let mut command = serve(binary, place.folder.path(), &place.url, http);
        command.env("MAILROOM_SMTP_LISTEN", smtp.to_string()).env("MAILROOM_DNS", dns.to_string());
        let first = request(&workspace.live_key, "GET", "/me", "");
        let log = place.folder.path().join("server.log");
        let server = Server::start(&mut command, http, first.as_bytes(), &log)?;
        let target = AttackTarget::of(server, smtp, &workspace)?;
        Ok(AttackTarget { _place: Some(place), ..target })
    }

    /// A server that runs already.
    pub fn of(
        server: Server,
        smtp: SocketAddr,
        workspace: &BenchWorkspace,
    ) -> Result<Self, String> {
        Ok(AttackTarget {
            http: server.address,
            server,
            smtp,
            key: workspace.live_key.clone(),
            session: workspace.session.clone(),
            conversation: workspace.conversations.first().cloned().ok_or("no conversation")?,
            _names: None,
            _place: None,
        })
    }
}

/// A connection that comes from an address of the attacker's choice.
pub async fn connect_from(from: IpAddr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    socket.connect(to).await
}

/// Sends one request on a connection of its own, and answers everything until it ends.
pub async fn exchange(mut stream: TcpStream, request: &[u8]) -> Result<Vec<u8>, String> {
    stream.write_all(request).await.map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    let mut piece = vec![0; READ_BYTES];
    loop {
        let read = stream.read(&mut piece).await.map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(answer);
        }
        answer.extend_from_slice(&piece[..read]);
    }
}

/// The same request, after whose answer the server closes the connection.
pub fn closing(request: &str) -> String {
    request.replacen("\r\n", "\r\nconnection: close\r\n", 1)
}

/// The status of an answer; zero where there is none.
pub fn status(answer: &[u8]) -> u16 {
    let digits = answer.get(9..12).and_then(|digits| str::from_utf8(digits).ok());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}
