//! Ends the snoozes that are due.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{MailboxId, TopicId};
use db::Tx;
use model::conversations;
use model::conversations::follow_ups;
use model::figures::counters::{self, Counter};

use crate::runs::failures::{JobFailure, JobRevival, JobRule, notify_owners, system};
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

const ROWS: JobRows = job_rows!("conversations", "snoozed_until", "id");

/// A conversation whose snooze cannot be ended as usual is reopened, because otherwise it would
/// stay hidden.
pub(super) static JOB: RowJob = RowJob {
    rule: JobRule {
        queue: Queue::Snoozes,
        retry_at: Some(ROWS.move_if_due),
        abandon: "UPDATE conversations SET snoozed_until = NULL, status = 'open', view = 'open'
               WHERE ws = ?1 AND id = ?2 AND snoozed_until IS NOT NULL",
        revival: JobRevival::Never,
        report: record_and_count,
    },
    rows: ROWS,
    at_once: 100,
    together: 1,
    is_outward: false,
    run: end,
};

fn end(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let (now, id) = (app.clock.now(), &job.key[0]);
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(i64,)> = tx.opt(
        &format!(
            "SELECT num FROM conversations
             WHERE ws = ?1 AND id = ?2 AND snoozed_until <= ?3{lock}"
        ),
        &[&job.ws, id, &now],
    )?;
    if due.is_none() {
        return Ok(false);
    }
    let (circle,): (Circle,) =
        tx.one("SELECT circle FROM conversations WHERE ws = ?1 AND id = ?2", &[&job.ws, id])?;
    let actor = system(tx, job.ws, circle)?;
    let cx = Cx { now, ..app.cx(&actor) };
    let mut conversation = conversations::load(tx, &actor, id)?;
    follow_ups::end_snooze(tx, &cx, &mut conversation)?;
    tx.wake(Queue::Pages);
    Ok(true)
}

fn record_and_count(tx: &mut Tx<'_>, app: &App, failure: &JobFailure) -> Result<()> {
    if failure.given_up {
        let (ws, id) = (failure.job.ws, &failure.job.key[0]);
        let (circle, mailbox, topic): (Circle, MailboxId, Option<TopicId>) = tx.one(
            "SELECT circle, mailbox, topic FROM conversations WHERE ws = ?1 AND id = ?2",
            &[&ws, id],
        )?;
        counters::add(tx, ws, &circle, Counter::Open(&mailbox), id, 1)?;
        if let Some(topic) = topic {
            counters::add(tx, ws, &circle, Counter::OpenOfTopic(&topic), id, 1)?;
        }
        tx.wake(Queue::Pages);
    }
    notify_owners(tx, app, failure)
}
