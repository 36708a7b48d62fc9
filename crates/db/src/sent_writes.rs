//! Writes of one transaction that were sent to PostgreSQL and are not waited for one by one: the server runs
//! them in their order, and whoever waits for a later statement has waited for them too.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use futures_util::future::join;
use tokio_postgres::Error;

/// Writes that may be on their way at one time.
const MOST_SENT: usize = 64;

type SentWrite = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>>;

#[derive(Default)]
pub(crate) struct SentWrites(VecDeque<SentWrite>);

impl SentWrites {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.0.len() >= MOST_SENT
    }

    /// Sends a write behind those before it.
    pub async fn send(
        &mut self,
        write: impl Future<Output = Result<u64, Error>> + Send + 'static,
    ) -> Result<(), Error> {
        let mut write: SentWrite = Box::pin(write);
        // The first poll queues it; only what could not be queued is done at once.
        match poll_fn(|cx| Poll::Ready(write.as_mut().poll(cx))).await {
            Poll::Ready(done) => done.map(drop),
            Poll::Pending => {
                self.0.push_back(write);
                Ok(())
            }
        }
    }

    /// Waits for all of them; the first failure, which made those behind it fail as well.
    pub async fn settle(&mut self) -> Result<(), Error> {
        let mut outcome = Ok(());
        while let Some(write) = self.0.pop_front() {
            let done = write.await.map(drop);
            outcome = outcome.and(done);
        }
        outcome
    }

    /// Waits for a statement that is sent behind all of them. Their answers are taken meanwhile: the
    /// connection gives out no answer as long as one before it lies around.
    pub async fn settle_with<T>(
        &mut self,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let (settled, done) = join(self.settle(), statement).await;
        settled.and(done)
    }

    /// Those of a transaction that is undone.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}
