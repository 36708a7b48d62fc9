//! Erases what was deleted long enough ago, and the files that nothing refers to any more.

use base::actor::{Actor, Circle};
use base::app::App;
use base::concurrency::blocking::spawn_blocking;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, UploadId, WorkspaceId};
use base::limits::MINUTE_MS;
use base::unless_suspended;
use db::Tx;
use model::documents::uploads;
use model::erasure;

use crate::runs::failures::{JobRevival, JobRule, send_no_notice};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime, LEASE_MS};

/// Conversations erased in one round.
const AT_ONCE: i64 = 20;
/// Files looked at in one round.
const FILES_AT_ONCE: i64 = 100;
/// Mail that refers to a file that was there is filed by then.
const SET_ASIDE_MS: i64 = 10 * MINUTE_MS;

const ROWS: JobRows = job_rows!("conversations", "erase_at", "id");

/// A conversation that cannot be erased stays in the trash and is tried again.
pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::Trash,
    retry_at: Some(
        "UPDATE conversations SET erase_at = ?1 WHERE ws = ?2 AND id = ?3 AND removed = 'trash'",
    ),
    abandon: ROWS.clear,
    revival: JobRevival::Retry,
    report: send_no_notice,
};

pub(crate) struct EmptyTrash {
    pub runtime: JobRuntime,
}

impl BackgroundJob for EmptyTrash {
    fn queue(&self) -> Queue {
        Queue::Trash
    }

    fn earliest(&self) -> &'static str {
        concat!(
            "SELECT min(at) FROM (
                 SELECT (SELECT erase_at FROM conversations WHERE erase_at IS NOT NULL AND ",
            unless_suspended!(),
            " ORDER BY erase_at LIMIT 1) AS at
                 UNION ALL SELECT min(due_at) FROM unused_blobs
             ) AS due"
        )
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let due = self.runtime.due_rows::<(i64, String)>(ROWS.due, AT_ONCE).await?;
            let erased = self.runtime.run_each(&RULE, due, erase).await;
            let files = remove_files(&self.runtime.app).await?;
            Ok((erased + files).into())
        })
    }
}

fn erase(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let (now, lock) = (app.clock.now(), tx.pick("", " FOR UPDATE SKIP LOCKED"));
    let due: Option<(i64, ConversationId)> = tx.opt(
        &format!(
            "SELECT num, id FROM conversations
             WHERE ws = ?1 AND id = ?2 AND erase_at <= ?3 AND removed = 'trash'{lock}"
        ),
        &[&job.ws, &job.key[0], &now],
    )?;
    let Some((num, id)) = due else { return Ok(false) };
    if wait_for_bookings(tx, job.ws, &id, now)? {
        return Ok(true);
    }
    remove_uploads(tx, app, job.ws, &id)?;
    let (workspace,): (WorkspaceId,) =
        tx.one("SELECT id FROM workspaces WHERE ws = ?1", &[&job.ws])?;
    let actor = Actor::system(job.ws, workspace, Circle::team());
    erasure::overwriting(tx, |tx| erasure::erase(tx, &app.cx(&actor), num, &id))?;
    tx.wake(Queue::Pages);
    Ok(true)
}

/// Puts the erasure off while an appointment is still to come: host and guest rely on it.
fn wait_for_bookings(tx: &mut Tx<'_>, ws: i64, id: &ConversationId, now: i64) -> Result<bool> {
    let (ends_at,): (Option<i64>,) = tx.one(
        "SELECT max(ends_at) FROM bookings
         WHERE ws = ?1 AND conversation = ?2 AND ends_at > ?3 AND cancelled_at IS NULL",
        &[&ws, id, &now],
    )?;
    let Some(ends_at) = ends_at else { return Ok(false) };
    tx.exec(
        "UPDATE conversations SET erase_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, id, &ends_at],
    )?;
    Ok(true)
}

/// Removes what customers uploaded and did not submit. Who tries again finds nothing to remove.
pub(crate) fn remove_uploads(
    tx: &mut Tx<'_>,
    app: &App,
    ws: i64,
    id: &ConversationId,
) -> Result<()> {
    let left: Vec<(UploadId, String)> = tx.all(
        "SELECT id, pieces FROM uploads WHERE ws = ?1 AND request IN (
             SELECT id FROM document_requests WHERE ws = ?1 AND conversation = ?2
         )",
        &[&ws, id],
    )?;
    for (upload, pieces) in &left {
        uploads::remove_bytes(app, upload, pieces)?;
    }
    Ok(())
}

/// Sets unused files aside, and removes those that were set aside and are still unused.
async fn remove_files(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let claim = move |tx: &mut Tx<'_>| {
        let due: Vec<(String, bool)> = tx.all(
            "SELECT hash, set_aside FROM unused_blobs WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2",
            &[&now, &FILES_AT_ONCE],
        )?;
        let mut files = Vec::new();
        for (hash, set_aside) in due {
            let used: Option<(i64,)> = tx.opt(
                "SELECT size FROM blobs WHERE hash = ?1 AND packed IS NULL LIMIT 1",
                &[&hash],
            )?;
            tx.exec(
                "UPDATE unused_blobs SET due_at = ?2 WHERE hash = ?1",
                &[&hash, &(now + LEASE_MS)],
            )?;
            files.push((hash, set_aside, used.is_some()));
        }
        Ok::<_, Error>(files)
    };
    let files = app.store.write(claim).await?;
    let count = files.len();
    for (hash, set_aside, used) in files {
        let (blobs, name) = (app.blobs.clone(), hash.clone());
        let moved = spawn_blocking(move || match (set_aside, used) {
            (false, true) => Ok(()),
            (false, false) => blobs.set_aside(&name),
            (true, true) => blobs.put_back(&name),
            (true, false) => blobs.remove_aside(&name),
        });
        if let Err(error) = moved.await? {
            tracing::warn!(%error, hash, "a file that is not used any more could not be removed");
            continue;
        }
        let is_over = set_aside || used;
        let settle = move |tx: &mut Tx<'_>| {
            // One that became unused once more meanwhile has another time.
            let claimed = now + LEASE_MS;
            match is_over {
                true => tx.exec(
                    "DELETE FROM unused_blobs WHERE hash = ?1 AND due_at = ?2",
                    &[&hash, &claimed],
                )?,
                false => tx.exec(
                    "UPDATE unused_blobs SET set_aside = TRUE, due_at = ?3
                     WHERE hash = ?1 AND due_at = ?2",
                    &[&hash, &claimed, &(now + SET_ASIDE_MS)],
                )?,
            };
            Ok::<_, Error>(())
        };
        app.store.write(settle).await?;
    }
    Ok(count)
}
