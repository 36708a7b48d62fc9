//! Moves closed conversations that nobody touched for long into the trash, in inboxes that say how long
//! they keep them. The trash erases them later, as it does what people delete.

use base::actor::Circle;
use base::app::App;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId};
use base::limits::DAY_MS;
use base::states::Removal;
use db::Tx;
use model::conversations;
use model::erasure::retention;
use outbound::removals;

use crate::runs::failures::{JobRevival, JobRule, notify_owners, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, ClaimRule, DueJob, JobRound, JobRuntime};

/// Conversations moved in one round.
const AT_ONCE: i64 = 20;
/// The pause between two rounds, for whoever else wants to write.
const PAUSE_MS: i64 = 20;

const ROWS: JobRows = job_rows!("mailboxes", "retention_at", "id");

const CLAIM: ClaimRule = ClaimRule { due: ROWS.due, lease: ROWS.move_to, at_once: 2 };

/// The inbox is looked at again the next day.
pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::Retention,
    retry_at: Some(ROWS.move_if_due),
    abandon: "UPDATE mailboxes SET retention_at = retention_at + 86400000 WHERE ws = ?1 AND id = ?2",
    revival: JobRevival::Retry,
    report: notify_owners,
};

/// A conversation that cannot be moved keeps no other from it.
pub(crate) const CONVERSATION_RULE: JobRule = JobRule {
    queue: Queue::Retention,
    retry_at: None,
    abandon: "UPDATE job_failures SET next_attempt_at = NULL
           WHERE ws = ?1 AND queue = 'conversation retention' AND job = ?2",
    revival: JobRevival::Forget,
    report: notify_owners,
};

#[derive(Clone)]
pub(crate) struct RetireConversations {
    pub runtime: JobRuntime,
}

impl BackgroundJob for RetireConversations {
    fn queue(&self) -> Queue {
        Queue::Retention
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let jobs = self.runtime.claim::<(i64, String)>(&CLAIM).await?;
            let claimed = jobs.len();
            for job in jobs {
                let (this, own) = (self.clone(), job.clone());
                let work = async move { this.retire_some(own).await };
                self.runtime.run_claimed(&RULE, job, work).await;
            }
            Ok(claimed.into())
        })
    }
}

impl RetireConversations {
    async fn retire_some(&self, job: DueJob) -> Result<()> {
        let (app, now, own) = (&self.runtime.app, self.runtime.app.clock.now(), job.clone());
        let due = app.store.read(move |tx| due_conversations(tx, &own, now)).await?;
        let count = due.len() as i64;
        self.runtime.run_each(&CONVERSATION_RULE, due, retire).await;
        let next = if count < AT_ONCE { now + DAY_MS } else { now + PAUSE_MS };
        let go_on = move |tx: &mut Tx<'_>| {
            let sql = "UPDATE mailboxes SET retention_at = ?1
                       WHERE ws = ?2 AND id = ?3 AND retention_at IS NOT NULL";
            tx.exec(sql, &job.args(&[&next]))?;
            Ok::<_, Error>(())
        };
        app.store.write(go_on).await
    }
}

fn due_conversations(tx: &mut Tx<'_>, job: &DueJob, now: i64) -> Result<Vec<DueJob>> {
    let mailbox = MailboxId::parse(&job.key[0]).ok_or(Error::NotFound("inbox"))?;
    let Some(days) = retention::kept_days(tx, job.ws, &mailbox)? else { return Ok(Vec::new()) };
    let found: Vec<(i64, String)> = tx.all(
        &format!(
            "SELECT c.ws, c.id {} AND NOT EXISTS (
                 SELECT 1 FROM job_failures f
                 WHERE f.ws = c.ws AND f.queue = 'conversation retention' AND f.job = c.id
                   AND (f.next_attempt_at IS NULL OR f.next_attempt_at > ?4)
             )
             ORDER BY c.last_message_at, c.id LIMIT ?5",
            retention::UNTOUCHED
        ),
        &[&job.ws, &mailbox, &(now - days * DAY_MS), &now, &AT_ONCE],
    )?;
    Ok(found.into_iter().map(DueJob::from).collect())
}

/// Looks again in the transaction that moves it: somebody may have written meanwhile.
fn retire(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let now = app.clock.now();
    let found: Option<(ConversationId, Circle, MailboxId, Option<i64>)> = tx.opt(
        "SELECT c.id, c.circle, m.id, m.kept_days FROM conversations c
         JOIN mailboxes m ON m.ws = c.ws AND m.id = c.mailbox
         WHERE c.ws = ?1 AND c.id = ?2",
        &[&job.ws, &job.key[0]],
    )?;
    let Some((id, circle, mailbox, Some(days))) = found else { return Ok(false) };
    if !retention::is_untouched(tx, job.ws, &mailbox, now - days * DAY_MS, &id)? {
        return Ok(false);
    }
    let actor = system(tx, job.ws, circle)?;
    let mut conversation = conversations::load_itself(tx, &actor, id.as_str())?;
    removals::set_removed(tx, &app.cx(&actor), &mut conversation, Some(Removal::Trash))?;
    tx.wake(Queue::Pages);
    Ok(true)
}
