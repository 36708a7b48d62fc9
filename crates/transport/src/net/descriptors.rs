//! File descriptors: as many as the system allows, and a part of them kept back, so that mail and
//! the database go on while HTTP is full.

use metrics::gauge;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most that is requested, even if the hard limit is higher.
const MOST: u64 = 1 << 20;
/// Kept back for the database, files, and connections of our own.
const FOR_OTHERS: u64 = 192;
/// HTTP connections and mail connections, where there are descriptors for them.
const HTTP_CONNECTIONS: u64 = 10_000;
const MAIL_CONNECTIONS: u64 = 500;

/// How many connections the descriptors of this process are enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionBudget {
    /// The soft limit of open files, `RLIMIT_NOFILE`.
    pub open_files: u64,
    pub http: usize,
    pub mail: usize,
}

impl ConnectionBudget {
    /// By the limit as it is now.
    pub fn current() -> ConnectionBudget {
        ConnectionBudget::of(getrlimit(Resource::Nofile).current.unwrap_or(MOST))
    }

    fn of(open_files: u64) -> ConnectionBudget {
        let left = open_files - FOR_OTHERS.min(open_files / 3);
        let mail = MAIL_CONNECTIONS.min(left / 4);
        let http = HTTP_CONNECTIONS.min(left - mail).max(1);
        ConnectionBudget { open_files, http: http as usize, mail: mail.max(1) as usize }
    }

    /// Shows the limit where figures are kept.
    pub fn report(self) {
        gauge!("mailroom_open_files_limit").set(self.open_files as f64);
        gauge!("mailroom_http_connections_limit").set(self.http as f64);
        gauge!("mailroom_mail_connections_limit").set(self.mail as f64);
    }
}

/// Raises the soft limit of open files to the hard one, and logs the result.
pub fn raise_open_files() -> ConnectionBudget {
    let before = getrlimit(Resource::Nofile);
    let wanted = before.maximum.unwrap_or(MOST).min(MOST);
    if before.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum: before.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "the limit of open files could not be raised");
        }
    }
    let budget = ConnectionBudget::current();
    tracing::info!(
        open_files = budget.open_files,
        http_connections = budget.http,
        mail_connections = budget.mail,
        "the limit of open files is set"
    );
    budget
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_never_gets_all_descriptors() {
        for open_files in [16, 64, 256, 1_024, 4_096, 20_000, MOST] {
            let budget = ConnectionBudget::of(open_files);
            let kept = open_files - budget.http as u64 - budget.mail as u64;
            assert!(kept >= FOR_OTHERS.min(open_files / 3), "{budget:?}");
            assert!(budget.mail as u64 >= MAIL_CONNECTIONS.min(open_files / 7), "{budget:?}");
        }
        let plenty = ConnectionBudget::of(MOST);
        assert_eq!((plenty.http, plenty.mail), (10_000, 500));
    }
}
