//! Files one batch of an import while the next one is read.

use std::future::Future;

use tokio::task::JoinHandle;

use crate::cli::command::sentence;

/// The batch that is being filed. Batches are filed one after the other, in their order.
pub struct BatchFiling<T>(Option<JoinHandle<base::error::Result<T>>>);

impl<T> Default for BatchFiling<T> {
    fn default() -> BatchFiling<T> {
        BatchFiling(None)
    }
}

impl<T: Send + 'static> BatchFiling<T> {
    /// Begins to file a batch when the one before is filed; gives what became of that one.
    pub async fn begin(
        &mut self,
        filing: impl Future<Output = base::error::Result<T>> + Send + 'static,
    ) -> Result<Option<T>, String> {
        let before = self.finish().await?;
        self.0 = Some(tokio::spawn(filing));
        Ok(before)
    }

    /// Waits for the batch that is being filed, if there is one.
    pub async fn finish(&mut self) -> Result<Option<T>, String> {
        let Some(filing) = self.0.take() else { return Ok(None) };
        let filed = filing.await.map_err(|_| "A batch of mails could not be filed.".to_owned())?;
        filed.map(Some).map_err(sentence)
    }
}
