//! Work that blocks its thread, on the threads that tokio has for it. What it logs belongs to the
//! request or job that asked for it.

use tokio::task::JoinHandle;
use tracing::Span;

/// [`tokio::task::spawn_blocking`] within the span of the caller.
pub fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let span = Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(work))
}
