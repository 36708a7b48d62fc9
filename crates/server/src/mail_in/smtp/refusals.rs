//! Counts and logs refusals to mail clients: one line each, up to a limit per window.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mail::smtp::{REASONS, RefusedEnvelope};
use metrics::counter;
use tokio::time::Instant;
use transport::http::ClientNetwork;

/// Lines are counted over this time.
const WINDOW: Duration = Duration::from_secs(60);
/// Lines about one address, or one IPv6 network of 64 bits, in a window.
const LINES_EACH: u32 = 10;
/// Lines about all addresses in a window. This also bounds the addresses that are remembered.
const LINES: u32 = 600;

/// The TLS handshake failed.
pub(super) const TLS_FAILED: &str = "tls-failure";
/// The recipient is of a domain that has no inbox here: the client takes us for a relay.
pub(super) const RELAY_DENIED: &str = "relay-denied";
pub(super) const TOO_MANY_CONNECTIONS: &str = "too-many-connections";
pub(super) const TIMEOUT: &str = "timeout";
pub(super) const SHUTS_DOWN: &str = "shutting-down";

/// Makes the series of all reasons, at 0: an alert on an increase does not see one that begins at 1.
pub fn start_refusal_counters() {
    let ours = [TLS_FAILED, RELAY_DENIED, TOO_MANY_CONNECTIONS, TIMEOUT, SHUTS_DOWN];
    for reason in REASONS.iter().copied().chain(ours) {
        counter!("mailroom_smtp_refused_total", "reason" => reason).increment(0);
    }
}

/// The log of refusals.
#[derive(Default)]
pub struct RefusalLog {
    window: Mutex<LogWindow>,
}

#[derive(Default)]
struct LogWindow {
    began: Option<Instant>,
    lines: u32,
    each: HashMap<Option<ClientNetwork>, u32>,
    /// Refusals that were counted and not logged.
    unlogged: u64,
}

/// Whether a refusal is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Logging {
    line: bool,
    /// The number of unlogged refusals of the previous window, logged once.
    unlogged_before: u64,
}

impl RefusalLog {
    /// Counts a refusal by its reason and logs it, within the span of the connection, which has the
    /// client. The reason is a fixed code, and sender and recipient are those of the envelope: nothing of a
    /// mail is in the line.
    pub fn note(&self, client: Option<IpAddr>, reason: &'static str, envelope: &RefusedEnvelope) {
        counter!("mailroom_smtp_refused_total", "reason" => reason).increment(1);
        let logging = self.admit(client, Instant::now());
        if logging.unlogged_before > 0 {
            let count = logging.unlogged_before;
            tracing::warn!(count, "further mail refusals of the last minute were not logged");
        }
        if logging.line {
            let (sender, recipient) = (envelope.sender(), envelope.recipients());
            tracing::info!(reason, sender, recipient, "mail was refused");
        }
    }

    fn admit(&self, client: Option<IpAddr>, now: Instant) -> Logging {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unlogged_before = 0;
        if window.began.is_none_or(|began| now.duration_since(began) >= WINDOW) {
            unlogged_before = window.unlogged;
            *window = LogWindow { began: Some(now), ..LogWindow::default() };
        }
        if window.lines >= LINES {
            window.unlogged += 1;
            return Logging { line: false, unlogged_before };
        }
        let each = window.each.entry(client.map(ClientNetwork::of)).or_insert(0);
        *each += 1;
        let line = *each <= LINES_EACH;
        if line {
            window.lines += 1
        } else {
            window.unlogged += 1
        }
        Logging { line, unlogged_before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_logged(log: &RefusalLog, ip: &str, times: u32, now: Instant) -> usize {
        let ip: IpAddr = ip.parse().expect("it is an address");
        (0..times).filter(|_| log.admit(Some(ip), now).line).count()
    }

    #[test]
    fn one_address_writes_few_lines_a_minute_and_silences_nobody_else() {
        let (log, now) = (RefusalLog::default(), Instant::now());
        assert_eq!(count_logged(&log, "192.0.2.1", 1_000, now), 10);
        assert_eq!(count_logged(&log, "192.0.2.2", 3, now), 3);
        assert_eq!(count_logged(&log, "2001:db8::1", 8, now), 8);
        assert_eq!(count_logged(&log, "2001:db8::2", 8, now), 2, "the same network of 64 bits");
        let later = now + WINDOW;
        let next = log.admit(Some("192.0.2.1".parse().expect("an address")), later);
        assert_eq!(next, Logging { line: true, unlogged_before: 990 + 6 });
    }

    #[test]
    fn many_addresses_together_write_a_bounded_number_of_lines() {
        let (log, now) = (RefusalLog::default(), Instant::now());
        let lines: usize = (0..5_000u32)
            .map(|n| count_logged(&log, &IpAddr::from(n.to_be_bytes()).to_string(), 1, now))
            .sum();
        assert_eq!(lines, 600);
        assert!(log.window.lock().expect("nobody panicked").each.len() <= 600);
    }
}
