//! Runs the team's rules on what happened, soon after the mail was acknowledged.

use base::app::App;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::unless_suspended;
use db::Tx;

use crate::runs::failures::notify_owners;
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

const ROWS: JobRows = JobRows {
    // What happened in the same moment runs in its order.
    due: concat!(
        "SELECT ws, id FROM rule_jobs WHERE due_at <= ?1 AND ",
        unless_suspended!(),
        " ORDER BY due_at, ws, id LIMIT ?2"
    ),
    ..job_rows!("rule_jobs", "due_at", "id")
};

/// What rules cannot be run on stays as it is, and the owners hear of it.
pub(super) static JOB: RowJob = RowJob {
    rule: ROWS.deleting(Queue::Rules, notify_owners),
    rows: ROWS,
    at_once: 100,
    together: 50,
    is_outward: false,
    run,
};

fn run(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    tx.wake(Queue::Pages);
    rules::run_due(tx, app, job.ws, &job.key[0])
}
