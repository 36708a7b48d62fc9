use super::Worker;
use crate::actor::{Actor, Circle};
use crate::app::{Cx, PAGES};
use crate::error::Result;
use crate::ids::{ConversationId, RequestId, WorkspaceId};
use crate::requests;

/// Reminders written in one transaction.
const AT_ONCE: i64 = 50;

impl Worker {
    /// Writes the reminders whose time has come; the mail leaves as any other. Answers how many
    /// requests were looked at.
    pub(super) async fn send_reminders(&self) -> Result<usize> {
        type Due = (i64, WorkspaceId, Circle, ConversationId, RequestId);
        let app = self.app.clone();
        let work = move |tx: &mut db::Tx<'_>| {
            let now = app.clock.now();
            let lock = tx.pick("", " FOR UPDATE OF r SKIP LOCKED");
            let due: Vec<Due> = tx.all(
                &format!(
                    "SELECT r.ws, w.id, c.circle, c.id, r.id
                     FROM requests r
                     JOIN conversations c ON c.ws = r.ws AND c.id = r.conversation
                     JOIN workspaces w ON w.ws = r.ws
                     WHERE r.remind_at <= ?1 ORDER BY r.remind_at LIMIT ?2{lock}"
                ),
                &[&now, &AT_ONCE],
            )?;
            if !due.is_empty() {
                tx.wake(PAGES);
            }
            for (ws, workspace, circle, conversation, request) in &due {
                let actor = Actor::system(*ws, workspace.clone(), circle.clone());
                let cx = Cx { now, ..app.cx(&actor) };
                requests::remind(tx, &cx, request, conversation)?;
            }
            Ok(due.len())
        };
        self.app.store.write(work).await
    }
}
