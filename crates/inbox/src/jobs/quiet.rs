//! The sandbox's messages while the installation is quiet: simulated, as always, and apart from the
//! live ones, which wait.

use db::Tx;

use super::{DueQueue, Worker};
use crate::app::{App, Cx};
use crate::base::actor::{Actor, Circle};
use crate::base::error::Result;
use crate::base::ids::{MessageId, WorkspaceId};
use crate::base::queue::Queue;
use crate::inbound::sandbox;

/// Simulated messages taken on in one transaction.
const AT_ONCE: i64 = 50;

/// Stands in for the queue of messages in a quiet worker.
pub(super) const SIMULATED_MESSAGES: DueQueue = DueQueue {
    name: Queue::Messages,
    outward: false,
    earliest: "SELECT min(m.sends_at)
               FROM messages m JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
               WHERE m.sends_at IS NOT NULL AND c.circle = 'sandbox'",
    work: |worker| Box::pin(async { Ok(worker.simulate_messages().await?.into()) }),
};

impl Worker {
    /// Delivers the sandbox's messages whose undo window is over; answers how many.
    async fn simulate_messages(&self) -> Result<usize> {
        let app = self.app.clone();
        self.app.store.write(move |tx| simulate_due(tx, &app)).await
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
             WHERE m.sends_at <= ?1 AND c.circle = 'sandbox'
             ORDER BY m.sends_at, m.id LIMIT ?2{lock}"
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
