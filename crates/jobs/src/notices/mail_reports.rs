//! Mails reports to those who were chosen for them.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::Result;
use db::Tx;
use reports::mailing;

use crate::runs::failures::{JobRevival, JobRule, notify_owners, system};
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

const ROWS: JobRows = job_rows!(outward "report_schedules", "due_at", "pace");

/// Queues the reports that are due as notices, in the transaction that moves the schedule on.
pub(crate) static JOB: RowJob = RowJob {
    rule: JobRule {
        queue: Queue::ReportMails,
        retry_at: Some(ROWS.move_to),
        // What could not be mailed is tried again after a week.
        abandon: "UPDATE report_schedules SET due_at = due_at + 604800000 WHERE ws = ?1 AND pace = ?2",
        revival: JobRevival::Retry,
        report: notify_owners,
    },
    rows: ROWS,
    at_once: 50,
    together: 1,
    is_outward: true,
    run: mail_report,
};

fn mail_report(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let now = app.clock.now();
    let actor = system(tx, job.ws, Circle::team())?;
    mailing::mail_due(tx, &Cx { now, ..app.cx(&actor) })
}
