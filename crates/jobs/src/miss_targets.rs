//! Records the response targets that are missed.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::ConversationId;
use db::Tx;
use model::conversations::targets;

use crate::runs::failures::{send_no_notice, system};
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

const ROWS: JobRows = job_rows!("conversations", "target_due_at", "id");

pub(super) static JOB: RowJob = RowJob {
    rule: ROWS.clearing(Queue::Targets, send_no_notice),
    rows: ROWS,
    at_once: 100,
    together: 1,
    is_outward: false,
    run: miss,
};

fn miss(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let (now, id) = (app.clock.now(), &job.key[0]);
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(ConversationId, Circle)> = tx.opt(
        &format!(
            "SELECT id, circle FROM conversations
             WHERE ws = ?1 AND id = ?2 AND target_due_at <= ?3{lock}"
        ),
        &[&job.ws, id, &now],
    )?;
    let Some((id, circle)) = due else { return Ok(false) };
    let actor = system(tx, job.ws, circle)?;
    targets::miss(tx, &Cx { now, ..app.cx(&actor) }, &id)?;
    tx.wake(Queue::Pages);
    Ok(true)
}
