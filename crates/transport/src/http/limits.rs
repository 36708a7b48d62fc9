//! Every limit of HTTP connections, by name.

use std::time::Duration;

use crate::net::descriptors::ConnectionBudget;

#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// A client must have sent its first byte by then.
    pub first_byte: Duration,
    /// The head of its first request must be whole by then.
    pub first_head: Duration,
    /// The timeout for the head of a further request, counted from the previous response.
    pub next_head: Duration,
    /// The idle timeout: no request received and no response read.
    pub idle: Duration,
    /// The interval of HTTP/2 pings, and the timeout of their replies.
    pub ping: Duration,
    /// The grace period for running requests at shutdown.
    pub grace: Duration,
    /// Connections in total.
    pub connections: usize,
    /// Connections of one client network. A proxy of ours has no such limit.
    pub connections_each: usize,
    /// Connections that have not yet sent a whole head.
    pub waiting: usize,
}

/// Connections of one client network, and those that have not sent a head, at the most.
const CONNECTIONS_EACH: usize = 1_000;
const WAITING: usize = 1_000;

impl HttpLimits {
    /// So many connections as there are descriptors for.
    pub fn within(budget: ConnectionBudget) -> HttpLimits {
        HttpLimits {
            first_byte: Duration::from_secs(10),
            first_head: Duration::from_secs(15),
            next_head: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            ping: Duration::from_secs(20),
            grace: Duration::from_secs(2),
            connections: budget.http,
            connections_each: CONNECTIONS_EACH.min(budget.http.div_ceil(2)),
            waiting: WAITING.min(budget.http.div_ceil(2)),
        }
    }
}

impl Default for HttpLimits {
    fn default() -> HttpLimits {
        HttpLimits::within(ConnectionBudget::current())
    }
}
