//! The sandbox's messages while the installation is quiet: simulated, as always, and apart from the
//! live ones, which wait.

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{MessageId, WorkspaceId};
use base::unless_resting;
use db::Tx;
use inbound::sandbox;

use crate::runs::runtime::{BackgroundJob, JobRound, JobRuntime};

/// Messages simulated in one transaction.
const AT_ONCE: i64 = 50;

/// Stands in for the job that sends messages in a quiet worker.
pub(crate) struct SimulateMessages {
    pub runtime: JobRuntime,
}

impl BackgroundJob for SimulateMessages {
    fn queue(&self) -> Queue {
        Queue::Messages
    }

    fn earliest(&self) -> &'static str {
        concat!(
            "SELECT min(m.sends_at)
             FROM messages m JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE m.sends_at IS NOT NULL AND c.circle = 'sandbox' AND m.",
            unless_resting!()
        )
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let app = self.runtime.app.clone();
            let simulated = self.runtime.app.store.write(move |tx| simulate_due(tx, &app)).await?;
            Ok(simulated.into())
        })
    }
}

fn simulate_due(tx: &mut Tx<'_>, app: &App) -> Result<usize> {
    let now = app.clock.now();
    let lock = tx.pick("", " FOR UPDATE OF m SKIP LOCKED");
    let due: Vec<(i64, WorkspaceId, MessageId)> = tx.all(
        &format!(
            "SELECT m.ws, w.id, m.id
             FROM messages m
             JOIN workspaces w ON w.ws = m.ws
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE m.sends_at <= ?1 AND c.circle = 'sandbox' AND m.{}
             ORDER BY m.sends_at, m.id LIMIT ?2{lock}",
            unless_resting!()
        ),
        &[&now, &AT_ONCE],
    )?;
    for (ws, workspace, message) in &due {
        tx.wake(Queue::Pages);
        let actor = Actor::system(*ws, workspace.clone(), Circle::sandbox());
        let cx = Cx { now, ..app.cx(&actor) };
        sandbox::deliver(tx, &cx, message)?;
    }
    Ok(due.len())
}
