//! Asks customers how a closed conversation was.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::Result;
use db::Tx;
use model::conversations;
use outbound::satisfaction;

use crate::runs::failures::{notify_owners, system};
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

const ROWS: JobRows = job_rows!(outward "conversations", "satisfaction_due_at", "id");

/// Writes the due questions as scheduled messages.
pub(crate) static JOB: RowJob = RowJob {
    rule: ROWS.clearing(Queue::Satisfaction, notify_owners),
    rows: ROWS,
    at_once: 50,
    together: 1,
    is_outward: true,
    run: ask,
};

fn ask(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let (now, id) = (app.clock.now(), &job.key[0]);
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(i64,)> = tx.opt(
        &format!(
            "SELECT num FROM conversations
             WHERE ws = ?1 AND id = ?2 AND satisfaction_due_at <= ?3{lock}"
        ),
        &[&job.ws, id, &now],
    )?;
    if due.is_none() {
        return Ok(false);
    }
    let (circle,): (Circle,) =
        tx.one("SELECT circle FROM conversations WHERE ws = ?1 AND id = ?2", &[&job.ws, id])?;
    let actor = system(tx, job.ws, circle)?;
    let conversation = conversations::load_itself(tx, &actor, id)?;
    satisfaction::ask(tx, &Cx { now, ..app.cx(&actor) }, &conversation)?;
    tx.wake(Queue::Pages);
    Ok(true)
}
