//! The circuit breaker of a PostgreSQL store: while the server cannot be reached, callers get an
//! error at once instead of waiting for a connection.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::StoreError;

/// Callers wait this long for a server that went away, which bridges a failover of a moment; the
/// breaker then opens.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// The outage is logged this often at the most.
const LOGGED_EVERY: Duration = Duration::from_secs(1);

/// The state of the server, as observed by the threads of one store.
pub(crate) struct Breaker {
    outage: Mutex<Option<Outage>>,
    open: watch::Sender<bool>,
}

struct Outage {
    since: Instant,
    logged_at: Option<Instant>,
}

impl Breaker {
    pub fn new() -> Breaker {
        Breaker { outage: Mutex::new(None), open: watch::Sender::new(false) }
    }

    /// A connection could not be opened. The breaker opens when failures last longer than the grace
    /// period.
    pub fn note_refusal(&self, error: &StoreError) {
        let mut outage = self.outage();
        let outage = outage.get_or_insert(Outage { since: Instant::now(), logged_at: None });
        if outage.logged_at.is_none_or(|at| at.elapsed() >= LOGGED_EVERY) {
            outage.logged_at = Some(Instant::now());
            tracing::error!(%error, "the database cannot be reached");
        }
        if outage.since.elapsed() >= GRACE {
            self.open.send_replace(true);
        }
    }

    /// An open connection got no response within the timeout.
    pub fn note_stall(&self) {
        let now = Instant::now();
        *self.outage() = Some(Outage { since: now, logged_at: Some(now) });
        tracing::error!("the database does not answer");
        self.open.send_replace(true);
    }

    /// A connection was opened, or responded.
    pub fn note_answer(&self) {
        if let Some(outage) = self.outage().take() {
            let seconds = outage.since.elapsed().as_secs();
            tracing::warn!(seconds, "the database answers again");
            self.open.send_replace(false);
        }
    }

    /// True from the first sign of an outage to its end.
    pub fn is_down(&self) -> bool {
        self.outage().is_some()
    }

    /// True when callers are not kept waiting.
    pub fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    /// Ready when the breaker opens.
    pub async fn wait_until_open(&self) {
        let mut open = self.open.subscribe();
        if open.wait_for(|open| *open).await.is_err() {
            std::future::pending().await
        }
    }

    fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    #[test]
    fn it_opens_when_an_outage_goes_on_and_closes_with_the_first_answer() {
        let breaker = Breaker::new();
        breaker.note_refusal(&StoreError::Closed);
        assert!(breaker.is_down() && !breaker.is_open());
        breaker.outage().as_mut().unwrap().since -= GRACE;
        breaker.note_refusal(&StoreError::Closed);
        assert!(breaker.is_open());
        breaker.note_answer();
        assert!(!breaker.is_down() && !breaker.is_open());
        breaker.note_stall();
        assert!(breaker.is_open());
    }

    #[test]
    fn an_outage_is_logged_once_a_second_however_many_meet_it() {
        let lines = Arc::new(AtomicU32::new(0));
        tracing::subscriber::with_default(LineCount(lines.clone()), || {
            let breaker = Breaker::new();
            (0..1_000).for_each(|_| breaker.note_refusal(&StoreError::Closed));
            let seconds = breaker.outage().as_ref().unwrap().since.elapsed().as_secs();
            assert!(u64::from(lines.load(Ordering::SeqCst)) <= 1 + seconds);
            breaker.outage().as_mut().unwrap().logged_at = Instant::now().checked_sub(LOGGED_EVERY);
            let before = lines.load(Ordering::SeqCst);
            breaker.note_refusal(&StoreError::Closed);
            assert_eq!(lines.load(Ordering::SeqCst), before + 1);
        });
    }

    struct LineCount(Arc<AtomicU32>);

    impl Subscriber for LineCount {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }
}
