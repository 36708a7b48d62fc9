//! Usual names of a domain's mail servers, of which the first that answers is taken.

use std::net::SocketAddr;
use std::time::Duration;

use inbound::imap::Security;
use model::mailboxes::outgoing_servers::SubmissionSecurity;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Instrument;

use super::servers::{IncomingServer, OutgoingServer};
use crate::net::host_guard::HostGuard;

/// A server that answers needs less.
const ANSWERS_WITHIN: Duration = Duration::from_secs(4);

/// The servers that answer under usual names. Only a connection is made; nothing is sent.
pub async fn find(
    guard: &HostGuard,
    domain: &str,
) -> (Option<IncomingServer>, Option<OutgoingServer>) {
    let incoming = [
        (format!("imap.{domain}"), 993),
        (format!("mail.{domain}"), 993),
        (domain.to_owned(), 993),
        (format!("imap.{domain}"), 143),
        (format!("mail.{domain}"), 143),
    ];
    let outgoing = [
        (format!("smtp.{domain}"), 465),
        (format!("mail.{domain}"), 465),
        (domain.to_owned(), 465),
        (format!("smtp.{domain}"), 587),
        (format!("mail.{domain}"), 587),
    ];
    let (incoming, outgoing) = tokio::join!(first(guard, incoming), first(guard, outgoing));
    let incoming = incoming.map(|(host, port)| IncomingServer {
        host,
        port,
        security: if port == 993 { Security::Tls } else { Security::StartTls },
    });
    let outgoing = outgoing.map(|(host, port)| OutgoingServer {
        host,
        port,
        security: match port {
            465 => SubmissionSecurity::Tls,
            _ => SubmissionSecurity::StartTls,
        },
    });
    (incoming, outgoing)
}

/// The first place, in this order, that answers.
async fn first<const N: usize>(
    guard: &HostGuard,
    places: [(String, u16); N],
) -> Option<(String, u16)> {
    let mut asked = JoinSet::new();
    for (at, (host, port)) in places.iter().cloned().enumerate() {
        let guard = guard.clone();
        let answer = async move {
            let answers = timeout(ANSWERS_WITHIN, answers(&guard, &host, port)).await;
            (at, answers.unwrap_or(false))
        };
        asked.spawn(answer.in_current_span());
    }
    let mut answering: Vec<usize> = Vec::new();
    while let Some(asked) = asked.join_next().await {
        if let Ok((at, true)) = asked {
            answering.push(at);
        }
    }
    let best = answering.into_iter().min()?;
    places.into_iter().nth(best)
}

async fn answers(guard: &HostGuard, host: &str, port: u16) -> bool {
    let Ok(addresses) = guard.addresses(host).await else { return false };
    let Some(address) = addresses.first() else { return false };
    TcpStream::connect(SocketAddr::new(*address, port)).await.is_ok()
}
