//! Reminds customers of documents that were asked for.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, RequestId};
use base::limits::DAY_MS;
use db::Tx;
use outbound::reminders;

use crate::runs::failures::{notify_owners, system};
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

const ROWS: JobRows = job_rows!(outward "document_requests", "remind_at", "id");

/// Writes the due reminders as scheduled messages.
pub(crate) static JOB: RowJob = RowJob {
    rule: ROWS.clearing(Queue::Reminders, notify_owners),
    rows: ROWS,
    at_once: 50,
    together: 1,
    is_outward: true,
    run: remind,
};

fn remind(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let (now, id) = (app.clock.now(), &job.key[0]);
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(ConversationId,)> = tx.opt(
        &format!(
            "SELECT conversation FROM document_requests
             WHERE ws = ?1 AND id = ?2 AND remind_at <= ?3{lock}"
        ),
        &[&job.ws, id, &now],
    )?;
    let Some((conversation,)) = due else { return Ok(false) };
    let (request, circle, is_removed): (RequestId, Circle, bool) = tx.one(
        "SELECT r.id, c.circle, c.removed IS NOT NULL
         FROM document_requests r JOIN conversations c ON c.ws = r.ws AND c.id = r.conversation
         WHERE r.ws = ?1 AND r.id = ?2",
        &[&job.ws, id],
    )?;
    if is_removed {
        // It may come back until then.
        tx.exec(
            "UPDATE document_requests SET remind_at = ?3 WHERE ws = ?1 AND id = ?2",
            &[&job.ws, &request, &(now + DAY_MS)],
        )?;
        return Ok(true);
    }
    let actor = system(tx, job.ws, circle)?;
    reminders::remind(tx, &Cx { now, ..app.cx(&actor) }, &request, &conversation)?;
    tx.wake(Queue::Pages);
    Ok(true)
}
