//! Reminds customers of documents that were asked for.

use base::actor::Circle;
use base::app::{App, Cx};
use base::error::Result;
use base::future::BoxFuture;
use base::ids::{ConversationId, RequestId};
use base::limits::DAY_MS;
use base::queue::Queue;
use db::Tx;
use outbound::reminders;

use crate::runs::failures::{JobRevival, JobRule, notify_owners, system};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Reminders written in one round.
const AT_ONCE: i64 = 50;

const DUE: &str =
    "SELECT ws, id FROM document_requests WHERE remind_at <= ?1 ORDER BY remind_at LIMIT ?2";

pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::Reminders,
    put_off: Some("UPDATE document_requests SET remind_at = ?1 WHERE ws = ?2 AND id = ?3"),
    stop: "UPDATE document_requests SET remind_at = NULL WHERE ws = ?1 AND id = ?2",
    revival: JobRevival::PutOff,
    report: notify_owners,
};

/// Writes the due reminders as scheduled messages.
pub(crate) struct Remind {
    pub runtime: JobRuntime,
}

impl BackgroundJob for Remind {
    fn queue(&self) -> Queue {
        Queue::Reminders
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(remind_at) FROM document_requests WHERE remind_at IS NOT NULL"
    }

    fn is_outward(&self) -> bool {
        true
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let due = self.runtime.due_rows::<(i64, String)>(DUE, AT_ONCE).await?;
            Ok(self.runtime.run_each(&RULE, due, remind).await.into())
        })
    }
}

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
