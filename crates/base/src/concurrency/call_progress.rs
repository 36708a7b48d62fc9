//! How far a call of a key is, for a caller who wants to know, and whether they still want it. The operation says it on
//! the thread of its transaction; whoever waits for the call hears it on another.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::error::{Error, Result};

tokio::task_local! {
    static OF_TASK: Arc<CallProgress>;
}

thread_local! {
    static OF_THREAD: RefCell<Option<Arc<CallProgress>>> = const { RefCell::new(None) };
}

/// The progress of one call.
#[derive(Default)]
pub struct CallProgress {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
    moved: Notify,
}

impl CallProgress {
    /// Runs what makes a call, whose progress this is.
    pub async fn follow<F: Future>(self: &Arc<Self>, call: F) -> F::Output {
        OF_TASK.scope(Arc::clone(self), call).await
    }

    /// The progress of the call that this task makes.
    pub fn of_task() -> Option<Arc<CallProgress>> {
        OF_TASK.try_with(Arc::clone).ok()
    }

    /// Runs the operation of the call, on whichever thread.
    pub fn run<T>(progress: Option<&Arc<Self>>, operation: impl FnOnce() -> T) -> T {
        let Some(progress) = progress else { return operation() };
        let _reset = ThreadProgress::set(Arc::clone(progress));
        operation()
    }

    /// Waits until more is done.
    pub async fn next_step(&self) -> (u64, u64) {
        self.moved.notified().await;
        self.so_far()
    }

    /// How many steps are done, of how many.
    pub fn so_far(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// The caller does not want it any more: the next step ends it, and nothing of it is kept.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    fn step(&self, done: usize, total: usize) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Conflict("The call was cancelled; nothing was changed.".into()));
        }
        self.total.store(total as u64, Ordering::Relaxed);
        self.done.store(done as u64, Ordering::Relaxed);
        self.moved.notify_one();
        Ok(())
    }
}

/// Says how far the operation on this thread is; an error where its caller has cancelled it.
pub fn step(done: usize, total: usize) -> Result<()> {
    OF_THREAD.with_borrow(|current| match current {
        Some(progress) => progress.step(done, total),
        None => Ok(()),
    })
}

/// Leaves the thread as it was, also when an operation panics.
struct ThreadProgress;

impl ThreadProgress {
    fn set(progress: Arc<CallProgress>) -> ThreadProgress {
        OF_THREAD.with_borrow_mut(|current| *current = Some(progress));
        ThreadProgress
    }
}

impl Drop for ThreadProgress {
    fn drop(&mut self) {
        OF_THREAD.with_borrow_mut(|current| *current = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_operation_that_is_followed_moves_and_is_cancelled() {
        let progress = Arc::new(CallProgress::default());
        assert!(step(1, 2).is_ok());
        assert_eq!(progress.so_far(), (0, 0));
        CallProgress::run(Some(&progress), || step(1, 2)).unwrap();
        assert_eq!(progress.so_far(), (1, 2));
        progress.cancel();
        assert!(CallProgress::run(Some(&progress), || step(2, 2)).is_err());
        assert!(step(2, 2).is_ok());
        assert_eq!(progress.so_far(), (1, 2));
    }
}
