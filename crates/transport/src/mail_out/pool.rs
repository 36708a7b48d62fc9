//! Keeps SMTP sessions open for the next mail.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::smtp::SmtpClientSession;

/// Sessions kept for the next mail, in all and with one server.
const KEPT: usize = 16;
const KEPT_EACH: usize = 8;
/// The idle timeout of a session, below the timeout of common servers.
const IDLE: Duration = Duration::from_secs(20);
/// Mails sent in one session; some servers allow no more.
const MAILS_EACH: usize = 100;

/// Open sessions that wait for another mail to the same server.
#[derive(Clone, Default)]
pub struct SmtpPool(Arc<Mutex<Vec<IdleSession>>>);

struct IdleSession {
    server: String,
    session: SmtpClientSession,
    since: Instant,
}

impl SmtpPool {
    pub fn take(&self, server: &str) -> Option<SmtpClientSession> {
        self.let_go(Instant::now());
        let mut kept = self.lock();
        let place = kept.iter().rposition(|one| one.server == server)?;
        Some(kept.remove(place).session)
    }

    /// Keeps a session if another mail can go through it and there is room.
    pub fn give(&self, server: &str, session: SmtpClientSession) {
        let worn_out = !session.is_open() || session.mails() >= MAILS_EACH;
        let mut kept = self.lock();
        let alike = kept.iter().filter(|one| one.server == server).count();
        if worn_out || kept.len() >= KEPT || alike >= KEPT_EACH {
            tokio::spawn(session.quit());
            return;
        }
        kept.push(IdleSession { server: server.to_owned(), session, since: Instant::now() });
        let pool = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(IDLE).await;
            pool.let_go(Instant::now());
        });
    }

    /// Closes idle sessions after the timeout.
    fn let_go(&self, now: Instant) {
        let old: Vec<IdleSession> =
            self.lock().extract_if(.., |one| now.duration_since(one.since) >= IDLE).collect();
        for one in old {
            tokio::spawn(one.session.quit());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<IdleSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
