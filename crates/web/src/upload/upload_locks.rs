//! One lock for each file that is being uploaded; a reconnecting client takes it over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// One lock for each file that is being uploaded. After a connection breaks, the client may return
/// before the server has noticed, so a later request takes the lock over: the earlier one is told
/// to stop, saves its offset and releases the lock.
#[derive(Clone, Default)]
pub struct UploadLocks(Arc<Mutex<HashMap<String, UploadLock>>>);

#[derive(Clone, Default)]
struct UploadLock {
    turn: Arc<tokio::sync::Mutex<()>>,
    stop: CancellationToken,
    users: usize,
}

/// Holds the lock of one file.
pub struct UploadTurn {
    locks: UploadLocks,
    name: String,
    /// Cancelled when a later request wants the lock.
    pub stop: CancellationToken,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl UploadLocks {
    pub async fn enter(&self, name: &str) -> UploadTurn {
        let (turn, stop) = {
            let mut locks = self.locks();
            let lock = locks.entry(name.to_owned()).or_default();
            lock.stop.cancel();
            lock.stop = CancellationToken::new();
            lock.users += 1;
            (Arc::clone(&lock.turn), lock.stop.clone())
        };
        // Counted from here on, even if the request is cancelled while it waits.
        let mut held = UploadTurn { locks: self.clone(), name: name.to_owned(), stop, _turn: None };
        held._turn = Some(turn.lock_owned().await);
        held
    }

    fn locks(&self) -> MutexGuard<'_, HashMap<String, UploadLock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UploadTurn {
    fn drop(&mut self) {
        let mut locks = self.locks.locks();
        if let Some(lock) = locks.get_mut(&self.name) {
            lock.users -= 1;
            if lock.users == 0 {
                locks.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_later_request_takes_the_lock_over_and_nothing_is_left() {
        let locks = UploadLocks::default();
        let first = locks.enter("a").await;
        let other = locks.enter("b").await;
        assert!(!first.stop.is_cancelled());
        let second = tokio::spawn({
            let locks = locks.clone();
            async move { locks.enter("a").await }
        });
        first.stop.cancelled().await;
        assert!(!second.is_finished() && !other.stop.is_cancelled());
        drop(first);
        let second = second.await.expect("the second has its turn");
        assert!(!second.stop.is_cancelled());
        drop((second, other));
        assert!(locks.locks().is_empty());
    }
}
