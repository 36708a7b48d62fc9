//! Handling of `accept` errors: a short pause and a rate-limited log line.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The wait after a connection could not be accepted.
const RETRY_DELAY: Duration = Duration::from_millis(50);
/// The log gets one line about it in so long.
const LOGGED_EVERY: Duration = Duration::from_secs(1);

pub struct AcceptPause {
    protocol: &'static str,
    logged: Option<Instant>,
}

impl AcceptPause {
    pub fn new(protocol: &'static str) -> AcceptPause {
        AcceptPause { protocol, logged: None }
    }

    /// Where descriptors have run out, accepting at once again would fail at once again.
    pub async fn after(&mut self, error: &io::Error) {
        if self.logged.is_none_or(|logged| logged.elapsed() >= LOGGED_EVERY) {
            self.logged = Some(Instant::now());
            tracing::warn!(%error, protocol = self.protocol, "a connection could not be accepted");
        }
        sleep(RETRY_DELAY).await;
    }
}
