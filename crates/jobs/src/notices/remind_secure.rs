//! Reminds readers of secure messages that they have not opened, once.

use base::actor::Circle;
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::future::BoxFuture;
use base::ids::{ConversationId, MessageId};
use base::limits::DAY_MS;
use base::queue::Queue;
use db::Tx;
use model::conversations;
use outbound::link_mail;

use crate::runs::failures::{JobRevival, JobRule, notify_owners, system};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Reminders written in one round.
const AT_ONCE: i64 = 50;

const DUE: &str =
    "SELECT ws, message FROM secure_messages WHERE remind_at <= ?1 ORDER BY remind_at LIMIT ?2";

pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::SecureReminders,
    put_off: Some("UPDATE secure_messages SET remind_at = ?1 WHERE ws = ?2 AND message = ?3"),
    stop: "UPDATE secure_messages SET remind_at = NULL WHERE ws = ?1 AND message = ?2",
    revival: JobRevival::PutOff,
    report: notify_owners,
};

/// Writes the due reminders as scheduled messages.
pub(crate) struct RemindSecure {
    pub runtime: JobRuntime,
}

impl BackgroundJob for RemindSecure {
    fn queue(&self) -> Queue {
        Queue::SecureReminders
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(remind_at) FROM secure_messages WHERE remind_at IS NOT NULL"
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
