//! Runs the team's rules on what happened, soon after the mail was acknowledged.

use base::app::App;
use base::error::Result;
use base::future::BoxFuture;
use base::queue::Queue;
use db::Tx;

use crate::runs::failures::{JobRevival, JobRule, notify_owners};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Things looked at in one round.
const AT_ONCE: i64 = 100;

const DUE: &str =
    "SELECT ws, id FROM rule_jobs WHERE due_at <= ?1 ORDER BY due_at, ws, id LIMIT ?2";

/// What rules cannot be run on stays as it is, and the owners hear of it.
pub(super) const RULE: JobRule = JobRule {
    queue: Queue::Rules,
    put_off: Some("UPDATE rule_jobs SET due_at = ?1 WHERE ws = ?2 AND id = ?3"),
    stop: "DELETE FROM rule_jobs WHERE ws = ?1 AND id = ?2",
    revival: JobRevival::PutOff,
    report: notify_owners,
};

pub(super) struct RunRules {
    pub runtime: JobRuntime,
}

impl BackgroundJob for RunRules {
    fn queue(&self) -> Queue {
        Queue::Rules
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(due_at) FROM rule_jobs"
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let due = self.runtime.due_rows::<(i64, String)>(DUE, AT_ONCE).await?;
            Ok(self.runtime.run_each(&RULE, due, run).await.into())
        })
    }
}

fn run(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    tx.wake(Queue::Pages);
    rules::run_due(tx, app, job.ws, &job.key[0])
}
