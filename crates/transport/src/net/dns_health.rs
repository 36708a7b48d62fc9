//! Health check of the DNS server. Every lookup of this process checks it first, so that a dead
//! resolver costs one probe in a while, and not a timeout for every mail.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hickory_resolver::system_conf::read_system_conf;
use metrics::gauge;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// How long the result of a probe is valid, for up and for down.
const UP_REMEMBERED: Duration = Duration::from_secs(5);
const DOWN_REMEMBERED: Duration = Duration::from_secs(5);
/// The timeout of one probe, and the attempts.
const PATIENCE: Duration = Duration::from_millis(400);
const QUESTIONS: usize = 2;
/// More than an answer to the question has.
const ANSWER_BYTES: usize = 1_500;
/// The probe: a recursive NS query for the root, which every resolver can answer (RFC 1035, section
/// 4.1).
const QUESTION: [u8; 17] = [0x4d, 0x52, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];

/// The state of the DNS server of `MAILROOM_DNS`, or of those that the system is set up with.
pub struct DnsHealth {
    servers: Vec<SocketAddr>,
    known: Mutex<DnsState>,
    probing: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy)]
enum DnsState {
    Nothing,
    Up(Instant),
    /// No new probe before this time.
    Down(Instant),
}

impl DnsHealth {
    /// The state shared by all lookups at this server; `None` for the system's.
    pub fn of(server: Option<SocketAddr>) -> Arc<DnsHealth> {
        static ALL: LazyLock<Mutex<HashMap<Option<SocketAddr>, Arc<DnsHealth>>>> =
            LazyLock::new(Mutex::default);
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let servers = server.map_or_else(servers_of_system, |server| vec![server]);
            Arc::new(DnsHealth {
                servers,
                known: Mutex::new(DnsState::Nothing),
                probing: tokio::sync::Mutex::default(),
            })
        };
        all.entry(server).or_insert_with(new).clone()
    }

    /// True when a server is up. While it is down, lookups fail at once and a probe runs in the
    /// background.
    pub async fn is_up(self: &Arc<Self>) -> bool {
        match self.state() {
            DnsState::Up(until) if Instant::now() < until => true,
            DnsState::Down(until) => {
                if Instant::now() >= until {
                    // Other callers use the last result until this probe ends.
                    *self.lock() = DnsState::Down(Instant::now() + DOWN_REMEMBERED);
                    let health = Arc::clone(self);
                    tokio::spawn(async move { health.ask().await });
                }
                false
            }
            DnsState::Up(_) | DnsState::Nothing => {
                let _turn = self.probing.lock().await;
                match self.state() {
                    DnsState::Up(until) if Instant::now() < until => true,
                    DnsState::Down(_) => false,
                    DnsState::Up(_) | DnsState::Nothing => self.ask().await,
                }
            }
        }
    }

    /// A look-up took too long: whether that is the server is found out before the next one.
    pub fn suspect(&self) {
        let mut known = self.lock();
        if let DnsState::Up(_) = *known {
            *known = DnsState::Nothing;
        }
    }

    async fn ask(&self) -> bool {
        let up = self.servers.is_empty() || any_answers(&self.servers).await;
        let now = Instant::now();
        let known = if up {
            DnsState::Up(now + UP_REMEMBERED)
        } else {
            DnsState::Down(now + DOWN_REMEMBERED)
        };
        let before = std::mem::replace(&mut *self.lock(), known);
        gauge!("mailroom_dns_up").set(if up { 1.0 } else { 0.0 });
        match (before, up) {
            (DnsState::Down(_), true) => tracing::warn!("the DNS server answers again"),
            (DnsState::Down(_), false) | (_, true) => {}
            (_, false) => tracing::error!(
                "the DNS server does not answer: mail is taken in without SPF, DKIM and DMARC"
            ),
        }
        up
    }

    fn state(&self) -> DnsState {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, DnsState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn servers_of_system() -> Vec<SocketAddr> {
    let Ok((config, _)) = read_system_conf() else { return Vec::new() };
    let servers = config.name_servers().iter();
    servers
        .filter_map(|server| Some(SocketAddr::new(server.ip, server.connections.first()?.port)))
        .collect()
}

/// True as soon as one answers.
async fn any_answers(servers: &[SocketAddr]) -> bool {
    let mut asked: JoinSet<bool> = servers.iter().map(|server| answers(*server)).collect();
    while let Some(answered) = asked.join_next().await {
        if answered.unwrap_or(false) {
            return true;
        }
    }
    false
}

/// Any response counts, also an error code. The socket is connected, so that a closed port is
/// reported at once.
async fn answers(server: SocketAddr) -> bool {
    let local: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let Ok(socket) = UdpSocket::bind((local, 0)).await else { return false };
    if socket.connect(server).await.is_err() {
        return false;
    }
    let mut answer = [0; ANSWER_BYTES];
    for _ in 0..QUESTIONS {
        if socket.send(&QUESTION).await.is_err() {
            return false;
        }
        match timeout(PATIENCE, socket.recv(&mut answer)).await {
            Ok(received) => return received.is_ok(),
            Err(_) => continue,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[tokio::test]
    async fn a_closed_port_is_down_and_a_server_that_answers_is_up() {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let served = tokio::spawn(async move {
            let mut question = [0; ANSWER_BYTES];
            let (length, client) = socket.recv_from(&mut question).await.unwrap();
            socket.send_to(&question[..length], client).await.unwrap();
        });
        assert!(answers(address).await);
        served.await.unwrap();
        assert!(!answers(address).await, "the socket is closed");
    }

    #[tokio::test]
    async fn nobody_waits_for_a_server_that_is_down_though_it_is_asked_again() {
        let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let health = DnsHealth::of(Some(silent.local_addr().unwrap()));
        let at_once = || {
            let asked = pin!(health.is_up());
            asked.poll(&mut Context::from_waker(Waker::noop()))
        };
        assert_eq!(at_once(), Poll::Pending, "the first one has to find out");
        for until in [Instant::now() + DOWN_REMEMBERED, Instant::now()] {
            *health.lock() = DnsState::Down(until);
            assert_eq!(at_once(), Poll::Ready(false));
        }
        silent.readable().await.unwrap();
    }
}
