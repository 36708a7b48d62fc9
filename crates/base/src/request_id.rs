//! The id of the request that a task answers, which its log lines and its response name.

use std::future::Future;

tokio::task_local! {
    static CURRENT: String;
}

/// Runs what answers a request under its id.
pub async fn scope<T>(id: String, answer: impl Future<Output = T>) -> T {
    CURRENT.scope(id, answer).await
}

/// Empty outside of a request.
pub fn current() -> String {
    CURRENT.try_with(String::clone).unwrap_or_default()
}
