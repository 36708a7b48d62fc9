//! Writes that no response waits for, such as read marks. They are finished before the process ends.

use std::future::Future;

use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::error::Result;

/// Cheap to clone; clones share their writes.
#[derive(Clone, Default)]
pub struct BackgroundWrites(TaskTracker);

impl BackgroundWrites {
    /// Starts a write. A failure is logged under its name, unless the database is down: that is
    /// logged once, where it is noticed.
    pub fn start(
        &self,
        name: &'static str,
        write: impl Future<Output = Result<()>> + Send + 'static,
    ) {
        let write = async move {
            if let Err(error) = write.await
                && !error.is_outage()
            {
                tracing::warn!(%error, name, "background write failed");
            }
        };
        self.0.spawn(write.in_current_span());
    }

    /// Waits until all started writes have finished.
    pub async fn finish(&self) {
        self.0.close();
        self.0.wait().await;
        self.0.reopen();
    }
}
