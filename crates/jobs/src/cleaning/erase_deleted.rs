//! Erases inboxes and workspaces that were deleted: their conversations a batch at a time, then all that
//! is left of them. Whoever takes over after a crash goes on with what is still there.

use std::time::Duration;

use base::actor::Circle;
use base::app::App;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId};
use base::limits::MINUTE_MS;
use base::states::{Status, View};
use db::Tx;
use model::erasure::deletions;
use model::{conversations, erasure};

use crate::cleaning::empty_trash::remove_uploads;
use crate::runs::failures::{JobRevival, JobRule, notify_owners, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, ClaimRule, DueJob, JobRound, JobRuntime, LEASE_MS};

/// Conversations erased in one round.
const AT_ONCE: i64 = 20;
/// The pause between two rounds, for whoever else wants to write.
const PAUSE_MS: i64 = 20;
/// What could not be erased is looked at again after this.
const LATER_MS: i64 = 60 * MINUTE_MS;
/// A command that waits for another process looks this often.
const LOOKS_EVERY: Duration = Duration::from_millis(100);

const ROWS: JobRows = job_rows!(always "deletions", "due_at", "mailbox");

const CLAIM: ClaimRule = ClaimRule { due: ROWS.due, lease: ROWS.move_to, at_once: 2 };

/// A conversation that cannot be erased keeps no other from being erased; `job_failures` holds the time
/// of the retry.
pub(crate) const CONVERSATION_RULE: JobRule = JobRule {
    queue: Queue::Deletions,
    retry_at: None,
    abandon: "UPDATE job_failures SET next_attempt_at = NULL
           WHERE ws = ?1 AND queue = 'deletions' AND job = ?2",
    revival: JobRevival::Forget,
    report: notify_owners,
};

/// A deletion itself is never given up.
pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::Deletions,
    retry_at: Some(ROWS.move_to),
    abandon: "UPDATE deletions SET due_at = due_at + 3600000 WHERE ws = ?1 AND mailbox = ?2",
    revival: JobRevival::Retry,
    report: notify_owners,
};

#[derive(Clone)]
pub(crate) struct EraseDeleted {
    pub runtime: JobRuntime,
}

impl BackgroundJob for EraseDeleted {
    fn queue(&self) -> Queue {
        Queue::Deletions
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
                let work = async move { this.erase_some(own).await };
                self.runtime.run_claimed(&RULE, job, work).await;
            }
            Ok(claimed.into())
        })
    }
}

impl EraseDeleted {
    /// One step of a deletion: a batch of conversations, or some of what is left.
    async fn erase_some(&self, job: DueJob) -> Result<()> {
        let (app, now, own) = (&self.runtime.app, self.runtime.app.clock.now(), job.clone());
        let batch = app.store.read(move |tx| next_batch(tx, &own, now)).await?;
        if !batch.is_empty() {
            self.runtime.run_each(&CONVERSATION_RULE, batch, erase).await;
            return self.go_on(job, now + PAUSE_MS).await;
        }
        let (app, own) = (app.clone(), job.clone());
        let finish = move |tx: &mut Tx<'_>| finish(tx, &app, &own);
        let next = match self.runtime.app.store.write(finish).await? {
            Finish::Done => return Ok(()),
            Finish::MoreRows => now + PAUSE_MS,
            Finish::Stuck => now + LATER_MS,
        };
        self.go_on(job, next).await
    }

    async fn go_on(&self, job: DueJob, at: i64) -> Result<()> {
        let go_on = move |tx: &mut Tx<'_>| {
            let sql = "UPDATE deletions SET due_at = ?1 WHERE ws = ?2 AND mailbox = ?3";
            tx.exec(sql, &job.args(&[&at]))?;
            Ok::<_, Error>(())
        };
        self.runtime.app.store.write(go_on).await
    }
}

/// How a step behind the last conversation ended.
enum Finish {
    Done,
    MoreRows,
    /// Conversations are left that could not be erased.
    Stuck,
}

/// Conversations that are there and may be tried: of an inbox those that people see first.
fn next_batch(tx: &mut Tx<'_>, job: &DueJob, now: i64) -> Result<Vec<DueJob>> {
    let untried = "NOT EXISTS (
             SELECT 1 FROM job_failures f
             WHERE f.ws = c.ws AND f.queue = 'deletions' AND f.job = c.id
               AND (f.next_attempt_at IS NULL OR f.next_attempt_at > ?2)
         )";
    let mut found: Vec<(i64, String)> = Vec::new();
    if job.key[0].is_empty() {
        found = tx.all(
            &format!(
                "SELECT c.ws, c.id FROM conversations c WHERE c.ws = ?1 AND {untried}
                 ORDER BY c.id LIMIT ?3"
            ),
            &[&job.ws, &now, &AT_ONCE],
        )?;
        return Ok(found.into_iter().map(DueJob::from).collect());
    }
    for view in View::ALL {
        if found.is_empty() {
            found = tx.all(
                &format!(
                    "SELECT c.ws, c.id FROM conversations c
                     WHERE c.ws = ?1 AND c.mailbox = ?4 AND c.view = ?5 AND {untried}
                     ORDER BY c.last_message_at DESC, c.id DESC LIMIT ?3"
                ),
                &[&job.ws, &now, &AT_ONCE, &job.key[0], view],
            )?;
        }
    }
    Ok(found.into_iter().map(DueJob::from).collect())
}

/// False for a conversation that is gone, as one is that was merged into another of the batch.
fn erase(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let found: Option<(i64, ConversationId, Circle)> = tx.opt(
        &format!("SELECT num, id, circle FROM conversations WHERE ws = ?1 AND id = ?2{lock}"),
        &[&job.ws, &job.key[0]],
    )?;
    let Some((num, id, circle)) = found else { return Ok(false) };
    let actor = system(tx, job.ws, circle)?;
    let cx = app.cx(&actor);
    remove_uploads(tx, app, job.ws, &id)?;
    let mut conversation = conversations::load_itself(tx, &actor, id.as_str())?;
    erasure::overwriting(tx, |tx| {
        // It is counted with the open ones no longer.
        conversations::settle(tx, &cx, &mut conversation, Status::Closed)?;
        erasure::erase(tx, &cx, num, &id)
    })?;
    tx.wake(Queue::Pages);
    Ok(true)
}

fn finish(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<Finish> {
    let ours: Option<(i64,)> = tx.opt(
        "SELECT due_at FROM deletions WHERE ws = ?1 AND mailbox = ?2",
        &[&job.ws, &job.key[0]],
    )?;
    if ours.is_none() {
        return Ok(Finish::Done);
    }
    let actor = system(tx, job.ws, Circle::team())?;
    let cx = app.cx(&actor);
    let mailbox = MailboxId::parse(&job.key[0]);
    let is_left: Option<(ConversationId,)> = match &mailbox {
        Some(id) => tx.opt(
            "SELECT id FROM conversations WHERE ws = ?1 AND mailbox = ?2 LIMIT 1",
            &[&job.ws, id],
        )?,
        None => tx.opt("SELECT id FROM conversations WHERE ws = ?1 LIMIT 1", &[&job.ws])?,
    };
    if is_left.is_some() {
        return Ok(Finish::Stuck);
    }
    let is_done = erasure::overwriting(tx, |tx| match &mailbox {
        Some(id) => deletions::finish_inbox(tx, &cx, id),
        None => deletions::finish_workspace(tx, &cx),
    })?;
    tx.wake(Queue::Pages);
    Ok(if is_done { Finish::Done } else { Finish::MoreRows })
}

/// How far a deletion is that a command carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionOutcome {
    Erased,
    /// Something could not be erased; a running server tries again.
    Waits,
}

/// Carries out every deletion that was begun.
pub async fn finish_deletions(app: &App) -> Result<DeletionOutcome> {
    let begun: Vec<(i64, String)> = app
        .store
        .read(|tx| {
            let sql = "SELECT ws, mailbox FROM deletions ORDER BY begun_at, ws, mailbox";
            Ok::<_, Error>(tx.all(sql, &[])?)
        })
        .await?;
    let mut outcome = DeletionOutcome::Erased;
    for (ws, mailbox) in begun {
        if finish_deletion(app, ws, &mailbox).await? == DeletionOutcome::Waits {
            outcome = DeletionOutcome::Waits;
        }
    }
    Ok(outcome)
}

/// Carries out the deletion of an inbox, or with an empty name of a workspace, together with any server
/// that works on the same database.
pub async fn finish_deletion(app: &App, ws: i64, mailbox: &str) -> Result<DeletionOutcome> {
    let job = EraseDeleted { runtime: JobRuntime::new(app.clone()) };
    loop {
        let round = job.run().await?;
        let name = mailbox.to_owned();
        let due: Option<(i64,)> = app
            .store
            .read(move |tx| {
                let sql = "SELECT due_at FROM deletions WHERE ws = ?1 AND mailbox = ?2";
                Ok::<_, Error>(tx.opt(sql, &[&ws, &name])?)
            })
            .await?;
        let Some((due_at,)) = due else { return Ok(DeletionOutcome::Erased) };
        // Longer than a lease of another process.
        if due_at > app.clock.now() + LEASE_MS + PAUSE_MS {
            return Ok(DeletionOutcome::Waits);
        }
        if round.claimed == 0 {
            tokio::time::sleep(LOOKS_EVERY).await;
        }
    }
}
