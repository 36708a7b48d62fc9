//! Records the response targets that are missed.

use base::actor::Circle;
use base::app::{App, Cx};
use base::error::Result;
use base::future::BoxFuture;
use base::ids::ConversationId;
use base::queue::Queue;
use db::Tx;
use model::conversations::targets;

use crate::runs::failures::{JobRevival, JobRule, send_no_notice, system};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Conversations looked at in one round.
const AT_ONCE: i64 = 100;

const DUE: &str = "SELECT ws, id FROM conversations WHERE target_due_at <= ?1
                   ORDER BY target_due_at LIMIT ?2";

pub(super) const RULE: JobRule = JobRule {
    queue: Queue::Targets,
    put_off: Some("UPDATE conversations SET target_due_at = ?1 WHERE ws = ?2 AND id = ?3"),
    stop: "UPDATE conversations SET target_due_at = NULL WHERE ws = ?1 AND id = ?2",
    revival: JobRevival::PutOff,
    report: send_no_notice,
};

pub(super) struct MissTargets {
    pub runtime: JobRuntime,
}

impl BackgroundJob for MissTargets {
    fn queue(&self) -> Queue {
        Queue::Targets
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(target_due_at) FROM conversations WHERE target_due_at IS NOT NULL"
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let due = self.runtime.due_rows::<(i64, String)>(DUE, AT_ONCE).await?;
            Ok(self.runtime.run_each(&RULE, due, miss).await.into())
        })
    }
}

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
