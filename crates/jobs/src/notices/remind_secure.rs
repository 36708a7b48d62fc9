//! Reminds readers of secure messages that they have not opened, once.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, MessageId};
use base::limits::DAY_MS;
use db::Tx;
use model::conversations;
use outbound::link_mail;

use crate::runs::failures::{notify_owners, system};
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

const ROWS: JobRows = job_rows!(outward "secure_messages", "remind_at", "message");

/// Writes the due reminders as scheduled messages.
pub(crate) static JOB: RowJob = RowJob {
    rule: ROWS.clearing(Queue::SecureReminders, notify_owners),
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
            "SELECT conversation FROM secure_messages
             WHERE ws = ?1 AND message = ?2 AND remind_at <= ?3{lock}"
        ),
        &[&job.ws, id, &now],
    )?;
    let Some((conversation,)) = due else { return Ok(false) };
    let message = MessageId::parse(id).ok_or(Error::NotFound("message"))?;
    let (circle, is_removed): (Circle, bool) = tx.one(
        "SELECT circle, removed IS NOT NULL FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&job.ws, &conversation],
    )?;
    if is_removed {
        // It may come back until then.
        tx.exec(
            "UPDATE secure_messages SET remind_at = ?3 WHERE ws = ?1 AND message = ?2",
            &[&job.ws, &message, &(now + DAY_MS)],
        )?;
        return Ok(true);
    }
    let actor = system(tx, job.ws, circle)?;
    let conversation = conversations::load(tx, &actor, conversation.as_str())?;
    link_mail::remind(tx, &Cx { now, ..app.cx(&actor) }, &conversation, &message)?;
    tx.wake(Queue::Pages);
    Ok(true)
}
