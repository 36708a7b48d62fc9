//! What listeners share: the sentence where a port cannot be had, and how `accept` errors are handled, with a
//! short pause and a rate-limited log line.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The wait after a connection could not be accepted.
const RETRY_DELAY: Duration = Duration::from_millis(50);
/// The log gets one line about it in so long.
const LOGGED_EVERY: Duration = Duration::from_secs(1);

/// Names the setting and the address of a listener that cannot be opened, and what to do.
pub fn cannot_listen(setting: &str, address: &dyn Display, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => "another program listens there; stop it or name another place",
        io::ErrorKind::AddrNotAvailable => "this machine has no such address",
        io::ErrorKind::PermissionDenied => {
            "only root may listen on ports below 1024; name a higher one, or give the program \
             CAP_NET_BIND_SERVICE"
        }
        _ => return format!("{setting}: cannot listen on {address}: {error}"),
    };
    format!("{setting}: cannot listen on {address}: {error}: {advice}")
}

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
