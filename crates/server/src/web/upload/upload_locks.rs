use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// One lane for each file that is on its way. After a connection breaks its other end comes back
/// before this end has noticed, so whoever comes later has the lane: the one before is told to
/// stop, writes down how far it came, and makes room.
#[derive(Clone, Default)]
pub struct UploadLocks(Arc<Mutex<HashMap<String, Lane>>>);

#[derive(Clone, Default)]
struct Lane {
    turn: Arc<tokio::sync::Mutex<()>>,
    stop: CancellationToken,
    users: usize,
}

/// The right to write one file.
pub struct UploadTurn {
    lanes: UploadLocks,
    name: String,
    /// Ready when somebody else wants to go on.
    pub stop: CancellationToken,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl UploadLocks {
    pub async fn enter(&self, name: &str) -> UploadTurn {
        let (turn, stop) = {
            let mut lanes = self.lanes();
            let lane = lanes.entry(name.to_owned()).or_default();
            lane.stop.cancel();
            lane.stop = CancellationToken::new();
            lane.users += 1;
            (Arc::clone(&lane.turn), lane.stop.clone())
        };
        // Counted from here on, also when the caller goes away while it waits.
        let mut held = UploadTurn { lanes: self.clone(), name: name.to_owned(), stop, _turn: None };
        held._turn = Some(turn.lock_owned().await);
        held
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<String, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UploadTurn {
    fn drop(&mut self) {
        let mut lanes = self.lanes.lanes();
        if let Some(lane) = lanes.get_mut(&self.name) {
            lane.users -= 1;
            if lane.users == 0 {
                lanes.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_comes_later_has_the_lane_and_nothing_is_left_over() {
        let lanes = UploadLocks::default();
        let first = lanes.enter("a").await;
        let other = lanes.enter("b").await;
        assert!(!first.stop.is_cancelled());
        let second = tokio::spawn({
            let lanes = lanes.clone();
            async move { lanes.enter("a").await }
        });
        first.stop.cancelled().await;
        assert!(!second.is_finished() && !other.stop.is_cancelled());
        drop(first);
        let second = second.await.expect("the second has its turn");
        assert!(!second.stop.is_cancelled());
        drop((second, other));
        assert!(lanes.lanes().is_empty());
    }
}
