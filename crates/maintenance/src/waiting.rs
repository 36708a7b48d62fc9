//! What waits to leave: it does as soon as an installation is no longer quiet.

use std::collections::BTreeMap;

use base::actor::{Actor, Circle};
use base::app::App;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, MessageId, WorkspaceId};
use db::Tx;
use model::conversations::leaving;
use model::messages::send_effects;
use reports::mailing;

/// The queues by their names, and what is in them.
const QUEUES: &[(&str, &str)] = &[
    ("messages", "messages WHERE sends_at IS NOT NULL"),
    ("notices", "notices"),
    ("notices that wait for others", "notice_facts WHERE due_at IS NOT NULL"),
    ("notices to browsers", "push_messages"),
    ("webhook calls", "deliveries WHERE next_attempt_at IS NOT NULL"),
    ("reminders of protected messages", "secure_messages WHERE remind_at IS NOT NULL"),
    ("reminders of documents", "document_requests WHERE remind_at IS NOT NULL"),
    ("questions how it was", "conversations WHERE satisfaction_due_at IS NOT NULL"),
    ("reminders of bookings", "bookings WHERE remind_at IS NOT NULL"),
    ("bookings of agents", "bookings WHERE act_at IS NOT NULL"),
    ("reports by mail", "report_schedules"),
];

/// How much waits in each queue.
pub fn waiting(tx: &mut Tx<'_>) -> Result<BTreeMap<&'static str, i64>> {
    let mut counts = BTreeMap::new();
    for (name, rows) in QUEUES {
        let (count,): (i64,) = tx.one(&format!("SELECT count(*) FROM {rows}"), &[])?;
        counts.insert(*name, count);
    }
    Ok(counts)
}

db::row! {
    struct OverdueMessage from "m" {
        ws: i64,
        id: MessageId,
        conversation: ConversationId,
        circle: Circle = "c.circle",
        workspace: WorkspaceId = "w.id",
    }
}

/// Makes messages drafts again that should have left by now, because the installation that this one
/// is a copy of may have sent them. What sending them changed is taken back. Says how many. Reports that should have
/// been mailed by now are not mailed.
pub fn stop_overdue(tx: &mut Tx<'_>, app: &App) -> Result<u64> {
    let overdue: Vec<OverdueMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             JOIN workspaces w ON w.ws = m.ws
             WHERE m.sends_at <= ?1 AND m.status IN ('scheduled', 'sending')
               AND c.circle <> 'sandbox'",
            OverdueMessage::COLUMNS
        ),
        &[&app.clock.now()],
    )?;
    let count = overdue.len() as u64;
    for message in overdue {
        stop(tx, app, message)?;
    }
    skip_overdue_reports(tx, app)?;
    tx.wake(Queue::Pages);
    Ok(count)
}

fn stop(tx: &mut Tx<'_>, app: &App, message: OverdueMessage) -> Result<()> {
    let OverdueMessage { ws, id, conversation, circle, workspace } = message;
    tx.exec(
        "UPDATE messages
         SET status = 'draft', sends_at = NULL, approved = NULL, revision = revision + 1
         WHERE ws = ?1 AND id = ?2",
        &[&ws, &id],
    )?;
    tx.exec(
        "UPDATE conversations SET has_draft = TRUE WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation],
    )?;
    leaving::note(tx, ws, &conversation)?;
    let actor = Actor::system(ws, workspace, circle);
    send_effects::take_back(tx, &app.cx(&actor), &conversation, &id)
}

fn skip_overdue_reports(tx: &mut Tx<'_>, app: &App) -> Result<()> {
    let overdue: Vec<(i64, WorkspaceId)> = tx.all(
        "SELECT s.ws, w.id FROM report_schedules s JOIN workspaces w ON w.ws = s.ws
         WHERE s.due_at <= ?1",
        &[&app.clock.now()],
    )?;
    for (ws, workspace) in overdue {
        let actor = Actor::system(ws, workspace, Circle::team());
        mailing::skip_due(tx, &app.cx(&actor))?;
    }
    Ok(())
}
