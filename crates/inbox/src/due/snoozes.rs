use super::Worker;
use crate::actor::{Actor, Circle};
use crate::app::{Cx, PAGES};
use crate::conversations;
use crate::error::Result;
use crate::ids::{ConversationId, WorkspaceId};
use crate::timeline::WokenBy;

/// Snoozes ended in one transaction.
const AT_ONCE: i64 = 100;

impl Worker {
    /// Ends the snoozes whose time has come; answers how many.
    pub(super) async fn end_snoozes(&self) -> Result<usize> {
        type Due = (i64, WorkspaceId, Circle, ConversationId);
        let app = self.app.clone();
        let work = move |tx: &mut db::Tx<'_>| {
            let now = app.clock.now();
            let lock = tx.pick("", " FOR UPDATE OF c SKIP LOCKED");
            let due: Vec<Due> = tx.all(
                &format!(
                    "SELECT c.ws, w.id, c.circle, c.id
                     FROM conversations c JOIN workspaces w ON w.ws = c.ws
                     WHERE c.snoozed_until <= ?1 ORDER BY c.snoozed_until LIMIT ?2{lock}"
                ),
                &[&now, &AT_ONCE],
            )?;
            if !due.is_empty() {
                tx.wake(PAGES);
            }
            for (ws, workspace, circle, id) in &due {
                let actor = Actor::system(*ws, workspace.clone(), circle.clone());
                let cx = Cx { now, ..app.cx(&actor) };
                let mut conversation = conversations::load(tx, &actor, id.as_str())?;
                conversations::wake(tx, &cx, &mut conversation, WokenBy::Clock)?;
            }
            Ok(due.len())
        };
        self.app.store.write(work).await
    }
}
