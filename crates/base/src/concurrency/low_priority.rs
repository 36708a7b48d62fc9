//! A thread for computing that nobody waits for: it takes what the processor has left over, so that mail and pages
//! are as fast beside it as without it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;
use tracing::Span;

use crate::error::{Error, Result};

/// Beside a busy thread of the usual priority, a tenth of a core.
const NICE: i32 = 10;

type Work = Box<dyn FnOnce() + Send>;

static THREAD: LazyLock<std::io::Result<Sender<Work>>> = LazyLock::new(|| {
    let (sender, work) = channel::<Work>();
    let run = move || {
        // Of this thread alone, on Linux; where it is not allowed, it computes at the usual priority.
        if let Err(error) = rustix::process::setpriority_process(None, NICE) {
            tracing::debug!(%error, "the priority of a thread stays as it is");
        }
        for work in work {
            // Whoever asked learns of a panic by getting no answer.
            let _ = catch_unwind(AssertUnwindSafe(work));
        }
    };
    std::thread::Builder::new().name("low-priority".into()).spawn(run)?;
    Ok(sender)
});

/// Computes something when the processor has time, one after the other.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let ((done, answer), span) = (oneshot::channel(), Span::current());
    let work = move || {
        // Whoever asked may have gone.
        let _ = done.send(span.in_scope(work));
    };
    let lost = || Error::Files(std::io::Error::other("the computing panicked"));
    let thread = THREAD.as_ref().map_err(|_| lost())?;
    thread.send(Box::new(work)).map_err(|_| lost())?;
    answer.await.map_err(|_| lost())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_computed_comes_back() {
        assert_eq!(compute(|| 6 * 7).await.unwrap(), 42);
        assert!(compute(|| panic!("one that fails")).await.is_err());
        assert_eq!(compute(|| 6 * 7).await.unwrap(), 42);
    }
}
