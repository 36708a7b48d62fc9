//! Cleans up customers' uploads: submits files that the customer left unsubmitted, repeats failed
//! checks, and deletes bytes that are no longer needed.

use base::concurrency::blocking::spawn_blocking;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{RequestId, UploadId};
use db::Tx;
use model::documents::uploads::{self, UploadState};

use crate::runs::failures::{JobRevival, JobRule, notify_owners};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, ClaimRule, DueJob, JobRound, JobRuntime};

/// Rows claimed in one transaction.
const AT_ONCE: i64 = 20;

const SUBMISSIONS: JobRows = job_rows!("document_requests", "hands_over_at", "id");
const UPLOADS: JobRows = job_rows!("uploads", "due_at", "request", "id");

const SUBMISSION_CLAIM: ClaimRule =
    ClaimRule { due: SUBMISSIONS.due, lease: SUBMISSIONS.move_to, at_once: AT_ONCE };

/// Files that could not be submitted stay: the customer can still submit them.
pub(crate) const SUBMISSION_RULE: JobRule = SUBMISSIONS.clearing(Queue::Submissions, notify_owners);

/// A stalled upload counts as removed from the claim on, so that no request appends to bytes that
/// are being deleted.
const UPLOAD_CLAIM: ClaimRule = ClaimRule {
    due: UPLOADS.due,
    lease: "UPDATE uploads SET due_at = ?1,
                state = CASE WHEN state IN ('arriving', 'refused') THEN 'removed' ELSE state END
            WHERE ws = ?2 AND request = ?3 AND id = ?4",
    at_once: AT_ONCE,
};

pub(crate) const UPLOAD_RULE: JobRule = JobRule {
    queue: Queue::Uploads,
    retry_at: Some(UPLOADS.move_to),
    abandon: "UPDATE uploads SET due_at = NULL,
            problem = CASE WHEN state = 'checking'
                THEN 'The file could not be checked. Please send it again.' ELSE problem END,
            state = CASE WHEN state = 'checking' THEN 'refused' ELSE state END
           WHERE ws = ?1 AND request = ?2 AND id = ?3",
    revival: JobRevival::Never,
    report: notify_owners,
};

/// Submits files that customers left unsubmitted.
pub(crate) struct SubmitUploads {
    pub runtime: JobRuntime,
}

impl BackgroundJob for SubmitUploads {
    fn queue(&self) -> Queue {
        Queue::Submissions
    }

    fn earliest(&self) -> &'static str {
        SUBMISSIONS.earliest
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let jobs = self.runtime.claim::<(i64, String)>(&SUBMISSION_CLAIM).await?;
            let claimed = jobs.len();
            for job in jobs {
                let (app, own) = (self.runtime.app.clone(), job.clone());
                let work = async move {
                    let id = RequestId::parse(&own.key[0]).ok_or(Error::NotFound("request"))?;
                    uploads::hand_over_of(&app, own.ws, &id).await.map(drop)
                };
                self.runtime.run_claimed(&SUBMISSION_RULE, job, work).await;
            }
            Ok(claimed.into())
        })
    }
}

/// Repeats failed checks and removes leftover files.
#[derive(Clone)]
pub(crate) struct CleanUpUploads {
    pub runtime: JobRuntime,
}

impl BackgroundJob for CleanUpUploads {
    fn queue(&self) -> Queue {
        Queue::Uploads
    }

    fn earliest(&self) -> &'static str {
        UPLOADS.earliest
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let jobs = self.runtime.claim::<(i64, String, String)>(&UPLOAD_CLAIM).await?;
            let claimed = jobs.len();
            for job in jobs {
                let (this, own) = (self.clone(), job.clone());
                let work = async move { this.clean_up(own).await };
                self.runtime.run_claimed(&UPLOAD_RULE, job, work).await;
            }
            Ok(claimed.into())
        })
    }
}

impl CleanUpUploads {
    async fn clean_up(&self, job: DueJob) -> Result<()> {
        let request = RequestId::parse(&job.key[0]).ok_or(Error::NotFound("request"))?;
        let id = UploadId::parse(&job.key[1]).ok_or(Error::NotFound("upload"))?;
        let (ws, asked) = (job.ws, (request.clone(), id.clone()));
        let state = self.runtime.app.store.read(move |tx| {
            let found: (UploadState, String) = tx.one(
                "SELECT state, pieces FROM uploads WHERE ws = ?1 AND request = ?2 AND id = ?3",
                &[&ws, &asked.0, &asked.1],
            )?;
            Ok::<_, Error>(found)
        });
        let (state, pieces) = state.await?;
        if state == UploadState::Checking {
            return self.check_again(ws, &request, &id).await;
        }
        let (app, gone) = (self.runtime.app.clone(), id.clone());
        let removing = spawn_blocking(move || uploads::remove_bytes(&app, &gone, &pieces));
        removing.await??;
        self.runtime.app.store.write(move |tx| clear(tx, ws, &request, &id)).await
    }

    async fn check_again(&self, ws: i64, request: &RequestId, id: &UploadId) -> Result<()> {
        let (wanted, upload) = (request.clone(), id.clone());
        let (ask, upload) = self
            .runtime
            .app
            .store
            .read(move |tx| {
                let ask = uploads::ask_of(tx, ws, &wanted)?;
                let upload = uploads::load(tx, &ask, &upload)?;
                Ok::<_, Error>((ask, upload))
            })
            .await?;
        uploads::scan_at(&self.runtime.app, &ask, &upload).await
    }
}

/// Forgets the row whose bytes are gone; a document's upload stays, without its copy.
fn clear(tx: &mut Tx<'_>, ws: i64, request: &RequestId, id: &UploadId) -> Result<()> {
    tx.exec(
        "DELETE FROM uploads WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'removed'",
        &[&ws, request, id],
    )?;
    tx.exec(
        "UPDATE uploads SET due_at = NULL
         WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'filed'",
        &[&ws, request, id],
    )?;
    Ok(())
}
