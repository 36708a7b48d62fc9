//! What becomes of customers' files when nobody is looking: what was added and not handed over,
//! checks that could not be made, and bytes that are not needed any more.

use db::Tx;

use super::failures::{DueJob, JobRule, tell_owners};
use super::{LEASE_MS, Worker};
use crate::base::error::{Error, Result};
use crate::base::ids::{RequestId, UploadId};
use crate::base::queue::Queue;
use crate::model::uploads::{self, UploadState};

/// Rows taken on in one round.
const AT_ONCE: i64 = 20;

/// What was not handed over stays kept: the customer can still press the button.
const HAND_OVERS: JobRule = JobRule {
    queue: Queue::Submissions,
    put_off: Some("UPDATE document_requests SET hands_over_at = ?1 WHERE ws = ?2 AND id = ?3"),
    stop: "UPDATE document_requests SET hands_over_at = NULL WHERE ws = ?1 AND id = ?2",
    tell: tell_owners,
};

const UPLOADS: JobRule = JobRule {
    queue: Queue::Uploads,
    put_off: Some("UPDATE uploads SET due_at = ?1 WHERE ws = ?2 AND request = ?3 AND id = ?4"),
    stop: "UPDATE uploads SET due_at = NULL,
            problem = CASE WHEN state = 'checking'
                THEN 'The file could not be checked. Please send it again.' ELSE problem END,
            state = CASE WHEN state = 'checking' THEN 'refused' ELSE state END
           WHERE ws = ?1 AND request = ?2 AND id = ?3",
    tell: tell_owners,
};

impl Worker {
    /// Hands over what customers added and left; answers how many requests.
    pub(super) async fn hand_over_uploads(&self) -> Result<usize> {
        let now = self.app.clock.now();
        let due = self.app.store.write(move |tx| claim_requests(tx, now)).await?;
        let count = due.len();
        for job in due {
            let (app, own) = (self.app.clone(), job.clone());
            let work = async move {
                let request = RequestId::parse(&own.key[0]).ok_or(Error::NotFound("request"))?;
                uploads::hand_over_of(&app, own.ws, &request).await.map(drop)
            };
            self.run_claimed(&HAND_OVERS, job, work).await;
        }
        Ok(count)
    }

    /// Checks again what could not be checked, and removes what is left over; answers how many.
    pub(super) async fn tend_uploads(&self) -> Result<usize> {
        let now = self.app.clock.now();
        let due = self.app.store.write(move |tx| claim_uploads(tx, now)).await?;
        let count = due.len();
        for job in due {
            let (worker, own) = (self.clone(), job.clone());
            let work = async move { worker.tend(own).await };
            self.run_claimed(&UPLOADS, job, work).await;
        }
        Ok(count)
    }

    async fn tend(&self, job: DueJob) -> Result<()> {
        let request = RequestId::parse(&job.key[0]).ok_or(Error::NotFound("request"))?;
        let id = UploadId::parse(&job.key[1]).ok_or(Error::NotFound("upload"))?;
        let (ws, asked) = (job.ws, (request.clone(), id.clone()));
        let state = self.app.store.read(move |tx| {
            let found: (UploadState,) = tx.one(
                "SELECT state FROM uploads WHERE ws = ?1 AND request = ?2 AND id = ?3",
                &[&ws, &asked.0, &asked.1],
            )?;
            Ok::<_, Error>(found.0)
        });
        if state.await? == UploadState::Checking {
            return self.check_again(ws, &request, &id).await;
        }
        self.app.blobs.partial_uploads().remove(&id)?;
        self.app.store.write(move |tx| clear(tx, ws, &request, &id)).await
    }

    async fn check_again(&self, ws: i64, request: &RequestId, id: &UploadId) -> Result<()> {
        let (wanted, upload) = (request.clone(), id.clone());
        let (ask, upload) = self
            .app
            .store
            .read(move |tx| {
                let ask = uploads::ask_of(tx, ws, &wanted)?;
                let upload = uploads::load(tx, &ask, &upload)?;
                Ok::<_, Error>((ask, upload))
            })
            .await?;
        uploads::scan_at(&self.app, &ask, &upload).await
    }
}

fn claim_requests(tx: &mut Tx<'_>, now: i64) -> Result<Vec<DueJob>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(i64, String)> = tx.all(
        &format!(
            "SELECT ws, id FROM document_requests WHERE hands_over_at <= ?1
             ORDER BY hands_over_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?;
    for (ws, request) in &due {
        tx.exec(
            "UPDATE document_requests SET hands_over_at = ?3 WHERE ws = ?1 AND id = ?2",
            &[ws, request, &(now + LEASE_MS)],
        )?;
    }
    Ok(due.into_iter().map(DueJob::from).collect())
}

/// Claims what is due. What stopped arriving is removed from here on, so that nobody goes on with
/// bytes that are being thrown away.
fn claim_uploads(tx: &mut Tx<'_>, now: i64) -> Result<Vec<DueJob>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(i64, String, String)> = tx.all(
        &format!(
            "SELECT ws, request, id FROM uploads WHERE due_at <= ?1
             ORDER BY due_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?;
    for (ws, request, id) in &due {
        tx.exec(
            "UPDATE uploads SET due_at = ?4,
                state = CASE WHEN state IN ('arriving', 'refused') THEN 'removed' ELSE state END
             WHERE ws = ?1 AND request = ?2 AND id = ?3",
            &[ws, request, id, &(now + LEASE_MS)],
        )?;
    }
    Ok(due.into_iter().map(DueJob::from).collect())
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
