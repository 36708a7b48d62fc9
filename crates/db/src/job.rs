//! A closure on its way to a writer, with the durability it asks for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;

use crate::{StoreError, Tx};

/// Said to a closure that took no notice of a failed statement and went on.
const HAD_FAILED: &str = "one of its statements had failed";

/// A closure waiting for a thread, and the caller waiting for its answer.
pub(crate) trait Job: Send {
    fn durability(&self) -> Durability;
    /// True when the caller was told that the database cannot be reached: then it must not run.
    fn is_given_up(&self) -> bool;
    /// Runs the closure and keeps its result; true when what it wrote should be kept.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Gives the caller the kept result, or the reason why it does not count.
    fn answer(self: Box<Self>, fate: Result<(), StoreError>);
}

/// Whether a commit waits until the disk has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    Synced,
    /// The last moments may be gone after a power cut.
    Relaxed,
}

pub(crate) struct Work<F, T, E> {
    closure: F,
    durability: Durability,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
    given_up: Arc<AtomicBool>,
}

impl<F, T, E> Work<F, T, E> {
    pub fn new(closure: F, durability: Durability, reply: oneshot::Sender<Result<T, E>>) -> Self {
        Work { closure, durability, result: None, reply, given_up: Arc::default() }
    }

    /// Set it to keep the closure from being run any more.
    pub fn given_up(&self) -> Arc<AtomicBool> {
        self.given_up.clone()
    }
}

impl<F, T, E> Job for Work<F, T, E>
where
    F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Acquire)
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let closure = &mut self.closure;
        let result = match catch_unwind(AssertUnwindSafe(|| closure(tx))) {
            Ok(Ok(_)) if tx.failed() => Err(E::from(StoreError::Commit(HAD_FAILED.into()))),
            Ok(result) => result,
            Err(_) => Err(E::from(StoreError::Panicked)),
        };
        let durability = result.is_ok();
        self.result = Some(result);
        durability
    }

    fn answer(self: Box<Self>, fate: Result<(), StoreError>) {
        let result = match fate {
            Ok(()) => self.result.unwrap_or_else(|| Err(E::from(StoreError::Closed))),
            Err(error) => Err(E::from(error)),
        };
        // A caller that went away does not want the answer; what was committed stays committed.
        let _ = self.reply.send(result);
    }
}
