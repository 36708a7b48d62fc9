//! What is kept of a job that failed.

use crate::{DAY, MINUTE, TestApp};

/// The waits between the attempts of a job that fails, in minutes.
pub const JOB_WAITS: [i64; 5] = [1, 5, 15, 60, 240];

/// What is kept of a job that failed.
#[derive(Debug, PartialEq, Eq)]
pub struct FailureRecord {
    pub attempts: i64,
    pub next_try_in: Option<i64>,
}

impl TestApp {
    /// The one failure that is kept of a queue.
    pub async fn failure(&self, queue: &'static str) -> FailureRecord {
        let read = self.app.store.read(move |tx| {
            tx.all::<(i64, Option<i64>)>(
                "SELECT attempts, next_attempt_at FROM job_failures WHERE queue = ?1",
                &[&queue],
            )
        });
        let rows = read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}"));
        assert_eq!(rows.len(), 1, "{queue}: {rows:?}");
        let (attempts, next) = rows[0];
        FailureRecord { attempts, next_try_in: next.map(|next| next - self.now()) }
    }

    /// The poisoned job of a queue has failed once and is put off; over the following attempts it is
    /// put off further and further, and then given up.
    pub async fn is_put_off_and_given_up(&self, queue: &'static str) {
        for (before, wait) in JOB_WAITS.iter().enumerate() {
            let expected =
                FailureRecord { attempts: before as i64 + 1, next_try_in: Some(wait * MINUTE) };
            assert_eq!(self.failure(queue).await, expected, "{queue}");
            self.pass(wait * MINUTE).await;
        }
        assert_eq!(
            self.failure(queue).await,
            FailureRecord { attempts: 6, next_try_in: None },
            "{queue}"
        );
        self.pass(DAY).await;
        assert_eq!(self.failure(queue).await.attempts, 6, "{queue}: it is not tried any more");
    }
}
