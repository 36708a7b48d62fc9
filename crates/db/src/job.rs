//! A closure queued for a database thread, with its durability.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;
use tracing::Span;

use crate::{StoreError, Tx};

/// Said to a closure that took no notice of a failed statement and went on.
const HAD_FAILED: &str = "one of its statements had failed";

/// A queued closure and the channel for its result. The closure's types are erased, so that the
/// code around it is compiled once and not for every caller.
pub(crate) struct Job {
    closure: Closure,
    /// Of the request or background job that queued it: what the closure logs belongs there.
    span: Span,
    pub durability: Durability,
    answer: JobAnswer,
    reply: oneshot::Sender<JobAnswer>,
    given_up: Arc<AtomicBool>,
}

/// A caller's closure with its result type.
pub(crate) type Closure = Box<dyn FnMut(&mut Tx<'_>) -> ClosureResult + Send>;

/// A closure's result: a `Result` of its own types.
pub(crate) struct ClosureResult {
    is_ok: bool,
    value: Box<dyn Any + Send>,
}

/// A closure's result, or the reason why it does not count.
pub(crate) type JobAnswer = Result<ClosureResult, StoreError>;

/// Whether a commit waits until the disk has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    Synced,
    /// The last moments may be gone after a power cut.
    Relaxed,
}

impl Job {
    pub fn new(closure: Closure, durability: Durability, reply: oneshot::Sender<JobAnswer>) -> Job {
        let (answer, given_up) = (Err(StoreError::Closed), Arc::default());
        Job { closure, span: Span::current(), durability, answer, reply, given_up }
    }

    /// Set it to keep the closure from being run any more.
    pub fn given_up(&self) -> Arc<AtomicBool> {
        self.given_up.clone()
    }

    /// True when the caller already got the error that the database is down: the closure must not
    /// run then.
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Acquire)
    }

    /// Runs the closure and stores its result; true when its writes should be committed.
    pub fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let (closure, span) = (&mut self.closure, &self.span);
        self.answer = match catch_unwind(AssertUnwindSafe(|| span.in_scope(|| closure(tx)))) {
            Ok(result) if result.is_ok && tx.has_failed() => {
                Err(StoreError::Commit(HAD_FAILED.into()))
            }
            Ok(result) if result.is_ok => tx.settle().map(|()| result),
            Ok(result) => Ok(result),
            Err(_) => Err(StoreError::Panicked),
        };
        self.answer.as_ref().is_ok_and(|result| result.is_ok)
    }

    /// Gives the caller the kept result, or the reason why it does not count.
    pub fn answer(self, fate: Result<(), StoreError>) {
        // The caller may be gone; its committed writes stay.
        let _ = self.reply.send(fate.and(self.answer));
    }
}

impl ClosureResult {
    pub fn new<T: Send + 'static, E: Send + 'static>(result: Result<T, E>) -> ClosureResult {
        ClosureResult { is_ok: result.is_ok(), value: Box::new(result) }
    }

    /// The result, downcast to the caller's types.
    pub fn downcast<T: 'static, E: 'static>(self) -> Result<T, E> {
        *self.value.downcast().expect("a closure's result has the types of its caller")
    }
}
