//! What becomes of customers' files when nobody is looking: what was added and not handed over,
//! checks that could not be made, and bytes that are not needed any more.

use db::Tx;

use super::{LEASE_MS, Worker};
use crate::error::{Error, Result};
use crate::ids::{RequestId, UploadId};
use crate::uploads::{self, UploadState};

/// Rows taken on in one round.
const AT_ONCE: i64 = 20;

type Due = (i64, RequestId, UploadId, UploadState);

impl Worker {
    /// Hands over what customers added and left; answers how many requests.
    pub(super) async fn hand_over_uploads(&self) -> Result<usize> {
        let now = self.app.clock.now();
        let due = self.app.store.write(move |tx| claim_requests(tx, now)).await?;
        for (ws, request) in &due {
            let handed = uploads::hand_over_of(&self.app, *ws, request).await;
            if let Err(error) = handed {
                tracing::error!(%request, %error, "uploads were not handed over");
            }
        }
        Ok(due.len())
    }

    /// Checks again what could not be checked, and removes what is left over; answers how many.
    pub(super) async fn tend_uploads(&self) -> Result<usize> {
        let now = self.app.clock.now();
        let due = self.app.store.write(move |tx| claim_uploads(tx, now)).await?;
        let mut done = Vec::new();
        for (ws, request, id, state) in &due {
            if *state == UploadState::Checking {
                if let Err(error) = self.check_again(*ws, request, id).await {
                    tracing::error!(upload = %id, %error, "an upload could not be checked");
                }
            } else {
                self.app.blobs.arrivals().remove(id)?;
                done.push((*ws, request.clone(), id.clone()));
            }
        }
        self.app.store.write(move |tx| clear(tx, &done)).await?;
        Ok(due.len())
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
        uploads::judge_at(&self.app, &ask, &upload).await
    }
}

fn claim_requests(tx: &mut Tx<'_>, now: i64) -> Result<Vec<(i64, RequestId)>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(i64, RequestId)> = tx.all(
        &format!(
            "SELECT ws, id FROM requests WHERE hands_over_at <= ?1
             ORDER BY hands_over_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?;
    for (ws, request) in &due {
        tx.exec(
            "UPDATE requests SET hands_over_at = ?3 WHERE ws = ?1 AND id = ?2",
            &[ws, request, &(now + LEASE_MS)],
        )?;
    }
    Ok(due)
}

/// Claims what is due. What stopped arriving is removed from here on, so that nobody goes on with
/// bytes that are being thrown away.
fn claim_uploads(tx: &mut Tx<'_>, now: i64) -> Result<Vec<Due>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<Due> = tx.all(
        &format!(
            "SELECT ws, request, id, state FROM uploads WHERE due_at <= ?1
             ORDER BY due_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?;
    for (ws, request, id, _) in &due {
        tx.exec(
            "UPDATE uploads SET due_at = ?4,
                state = CASE WHEN state IN ('arriving', 'refused') THEN 'removed' ELSE state END
             WHERE ws = ?1 AND request = ?2 AND id = ?3",
            &[ws, request, id, &(now + LEASE_MS)],
        )?;
    }
    Ok(due)
}

/// Forgets the rows whose bytes are gone; a document's upload stays, without its copy.
fn clear(tx: &mut Tx<'_>, done: &[(i64, RequestId, UploadId)]) -> Result<()> {
    for (ws, request, id) in done {
        tx.exec(
            "DELETE FROM uploads
             WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'removed'",
            &[ws, request, id],
        )?;
        tx.exec(
            "UPDATE uploads SET due_at = NULL
             WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'filed'",
            &[ws, request, id],
        )?;
    }
    Ok(())
}
