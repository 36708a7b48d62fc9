//! The last part of forgetting a person and of deleting an inbox: bytes that no row refers to any more leave the search index
//! and the folder of files. It may be repeated, so that what broke off is finished.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use base::app::App;
use base::error::Result;
use base::ids::UploadId;
use db::Tx;

/// Mail that is being filed may have found the file there until then.
pub(super) const FRESH: Duration = Duration::from_secs(60 * 60);

/// What was removed, and what a running server removes later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgedFiles {
    pub removed: u64,
    /// Files that were used within the last hour: mail that comes in might use them again.
    pub later: u64,
}

/// Removes the files that no row refers to, then merges the search index.
pub async fn purge(app: &App) -> Result<PurgedFiles> {
    let mut purged = PurgedFiles::default();
    for hash in app.store.write(unused_files).await? {
        let touched = app.blobs.touched_at(&hash);
        if touched.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|d| d < FRESH)) {
            purged.later += 1;
            continue;
        }
        app.blobs.remove_file(&hash)?;
        purged.removed += 1;
        app.store.write(move |tx| settle(tx, &hash)).await?;
    }
    // The files first: an upload has its row before its file.
    let files = app.blobs.partial_uploads().list()?;
    let known = app.store.read(known_uploads).await?;
    for upload in files {
        if !known.contains(&upload) {
            app.blobs.partial_uploads().remove_here(&upload)?;
        }
    }
    app.store.write(purge_index).await?;
    Ok(purged)
}

/// The files that wait to be removed. Those that a row refers to again are in use.
fn unused_files(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    tx.exec(
        "DELETE FROM unused_blobs WHERE NOT set_aside AND hash IN (
             SELECT hash FROM blobs WHERE packed IS NULL
         )",
        &[],
    )?;
    let found: Vec<(String,)> =
        tx.all("SELECT hash FROM unused_blobs WHERE NOT set_aside ORDER BY hash", &[])?;
    Ok(found.into_iter().map(|(hash,)| hash).collect())
}

fn settle(tx: &mut Tx<'_>, hash: &str) -> Result<()> {
    tx.exec("DELETE FROM unused_blobs WHERE hash = ?1 AND NOT set_aside", &[&hash])?;
    Ok(())
}

/// The uploads that have a row; the files of others were left behind.
fn known_uploads(tx: &mut Tx<'_>) -> Result<BTreeSet<UploadId>> {
    let found: Vec<(UploadId,)> = tx.all("SELECT id FROM uploads", &[])?;
    Ok(found.into_iter().map(|(id,)| id).collect())
}

/// Merges the search index, so that nothing of removed mails is left in it (SQLite).
fn purge_index(tx: &mut Tx<'_>) -> Result<()> {
    if tx.pick(true, false) {
        for index in ["message_index", "document_index"] {
            tx.exec(&format!("INSERT INTO {index} ({index}) VALUES ('optimize')"), &[])?;
        }
    }
    Ok(())
}
