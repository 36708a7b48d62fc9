//! Folds what reports count into their counters, and counts the history of older installations.

use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::Result;

use crate::runs::runtime::{BackgroundJob, JobRound, JobRuntime};

pub(super) struct CountReports {
    pub runtime: JobRuntime,
}

impl BackgroundJob for CountReports {
    fn queue(&self) -> Queue {
        Queue::Reports
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(due_at) FROM report_facts"
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let now = self.runtime.app.clock.now();
            let folded = self.runtime.app.store.write_relaxed(move |tx| reports::fold(tx, now));
            Ok(folded.await?.into())
        })
    }
}

pub(super) struct BackfillReports {
    pub runtime: JobRuntime,
}

impl BackgroundJob for BackfillReports {
    fn queue(&self) -> Queue {
        Queue::ReportBackfill
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(due_at) FROM report_backfill"
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let app = self.runtime.app.clone();
            let counted = self.runtime.app.store.write(move |tx| reports::backfill(tx, &app));
            Ok(counted.await?.into())
        })
    }
}
