//! Connections that say nothing, one byte, or only that they speak HTTP/2.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::target::{AttackTarget, connect_from};

/// Addresses that an attacker with many has.
pub const ADDRESSES: usize = 64;
/// Descriptors that this process keeps for everything else.
const KEPT_DESCRIPTORS: u64 = 500;
/// Connections that are opened at the same time.
const AT_ONCE: usize = 64;
/// A connection that the server has not closed by then stays open for good.
const CLOSED_WITHIN: Duration = Duration::from_secs(120);
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Opens connections and waits until the server has closed every one; answers how much longer than
/// that the slowest took, which is nothing: an error tells of those that stay open.
pub async fn connect(
    target: &AttackTarget,
    connections: usize,
    addresses: usize,
    patience: Duration,
) -> Result<Duration, String> {
    let connections = connections.min(allowed_connections()?);
    let mut opening = JoinSet::new();
    let mut open = Vec::new();
    let mut slowest = Duration::ZERO;
    for number in 0..connections {
        if opening.len() >= AT_ONCE {
            keep(&mut opening, &mut open, &mut slowest).await?;
        }
        let (from, to) = (address(number % addresses), target.http);
        opening.spawn(async move {
            let begun = Instant::now();
            let stream = timeout(CLOSED_WITHIN, open_silently(from, to, number)).await;
            (stream.ok().flatten(), begun.elapsed())
        });
    }
    while !opening.is_empty() {
        keep(&mut opening, &mut open, &mut slowest).await?;
    }
    println!(
        "  {connections} connections, the slowest accepted after {:.1} s (patience {:.0} s)",
        slowest.as_secs_f64(),
        patience.as_secs_f64()
    );
    let mut closing = JoinSet::new();
    for stream in open {
        closing.spawn(timeout(CLOSED_WITHIN, until_closed(stream)));
    }
    let mut stay = 0;
    while let Some(closed) = closing.join_next().await {
        if closed.map_err(|error| error.to_string())?.is_err() {
            stay += 1;
        }
    }
    match stay {
        0 => Ok(Duration::ZERO),
        stay => Err(format!("{stay} silent connections are never closed")),
    }
}

type Opening = JoinSet<(Option<TcpStream>, Duration)>;

async fn keep(
    opening: &mut Opening,
    open: &mut Vec<TcpStream>,
    slowest: &mut Duration,
) -> Result<(), String> {
    if let Some(opened) = opening.join_next().await {
        let (stream, took) = opened.map_err(|error| error.to_string())?;
        open.extend(stream);
        *slowest = (*slowest).max(took);
    }
    Ok(())
}

/// `None` when the server refuses the connection or closes it at once.
async fn open_silently(from: IpAddr, to: std::net::SocketAddr, number: usize) -> Option<TcpStream> {
    let mut stream = connect_from(from, to).await.ok()?;
    let said: &[u8] = match number % 3 {
        0 => b"",
        1 => b"G",
        _ => HTTP2_PREFACE,
    };
    stream.write_all(said).await.ok()?;
    Some(stream)
}

async fn until_closed(mut stream: TcpStream) {
    let mut piece = [0; 1_024];
    while stream.read(&mut piece).await.is_ok_and(|read| read > 0) {}
}

fn address(number: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 1, u8::try_from(number % 250 + 2).unwrap_or(2)))
}

/// Raises the limit of open files as far as it goes.
fn allowed_connections() -> Result<usize, String> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).map_err(|error| error.to_string())?;
    let most = limit.maximum.unwrap_or(u64::MAX).saturating_sub(KEPT_DESCRIPTORS);
    usize::try_from(most).map_err(|error| error.to_string())
}
