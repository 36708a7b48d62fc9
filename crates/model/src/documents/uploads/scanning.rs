//! Checks a file whose bytes are all here: its format, and viruses where a scanner is set up.

use std::fs::File;

use base::app::{App, Cx};
use base::concurrency::backoff::retry_after;
use base::concurrency::blocking::spawn_blocking;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::files::scanner::ScanResult;
use base::ids::UploadId;
use base::limits::{HAND_OVER_AFTER_MS, UPLOAD_LEFT_MS};
use db::Tx;

use crate::documents::file_checks::{self, FileFormat, FileRefusal};
use crate::documents::uploads::{
    Ask, Upload, UploadState, counted_pieces, load, remove_bytes, remove_pieces,
};

enum Verdict {
    Accepted(FileFormat),
    Refused(FileRefusal),
    Later,
}

/// Checks a file whose bytes are all here and writes down whether it is kept. While a scanner is
/// set up and cannot be reached, the file waits: it is neither lost nor let in unseen.
pub async fn scan(app: &App, ask: &Ask, id: &UploadId) -> Result<Upload> {
    let (looked, wanted) = (ask.clone(), id.clone());
    let upload = app.store.read(move |tx| load(tx, &looked, &wanted)).await?;
    if !waits_for_scan(&upload) {
        return Ok(upload);
    }
    let scanned = scan_at(app, ask, &upload).await;
    let (looked, wanted) = (ask.clone(), id.clone());
    let upload = app.store.read(move |tx| load(tx, &looked, &wanted)).await?;
    match scanned {
        // Another request scanned the same file, and it has gone where it belongs.
        Err(_) if !waits_for_scan(&upload) => Ok(upload),
        scanned => scanned.map(|()| upload),
    }
}

fn waits_for_scan(upload: &Upload) -> bool {
    match upload.state {
        UploadState::Arriving => upload.received == upload.size,
        UploadState::Checking => true,
        _ => false,
    }
}

pub async fn scan_at(app: &App, ask: &Ask, upload: &Upload) -> Result<()> {
    let verdict = verdict(app, upload).await?;
    let is_accepted = matches!(verdict, Verdict::Accepted(_));
    let (scanned, checked) = (ask.clone(), upload.clone());
    let is_refused = app
        .act(&ask.actor, move |tx, cx| match &verdict {
            Verdict::Accepted(form) => keep(tx, cx, &scanned, &checked, *form).map(|()| false),
            Verdict::Refused(refusal) => turn_down(tx, cx, &scanned, &checked.id, *refusal),
            Verdict::Later => wait(tx, cx, &scanned, &checked.id).map(|()| false),
        })
        .await?;
    if is_refused {
        let (app, upload) = (app.clone(), upload.clone());
        let removing = spawn_blocking(move || remove_bytes(&app, &upload.id, &upload.pieces));
        if let Err(error) = removing.await? {
            tracing::warn!(%error, "the bytes of a refused upload were not removed yet");
        }
    }
    if is_accepted {
        // The file is whole. What is left of its pieces goes with it at the latest.
        let (app, upload) = (app.clone(), upload.clone());
        let removing = spawn_blocking(move || remove_pieces(&app, &upload.id, &upload.pieces));
        if let Err(error) = removing.await? {
            tracing::warn!(%error, "the pieces of an upload were not removed");
        }
    }
    Ok(())
}

async fn verdict(app: &App, upload: &Upload) -> Result<Verdict> {
    let file = whole_file(app, upload).await?;
    let (size, name) = (upload.size.unsigned_abs(), upload.filename.clone());
    let looking = spawn_blocking(move || file_checks::look(&mut { file }, size, &name));
    let looked = looking.await??;
    let form = match looked {
        Ok(form) => form,
        Err(refusal) => return Ok(Verdict::Refused(refusal)),
    };
    let Some(scanner) = &app.scanner else { return Ok(Verdict::Accepted(form)) };
    let whole = whole_file(app, upload).await?;
    Ok(match scanner.scan(whole).await {
        ScanResult::Clean => Verdict::Accepted(form),
        ScanResult::Infected => {
            tracing::warn!(upload = %upload.id, "the virus scanner refused an upload");
            Verdict::Refused(FileRefusal::Infected)
        }
        ScanResult::Later(reason) => {
            tracing::warn!(reason, "the virus scanner cannot be reached; uploads wait");
            Verdict::Later
        }
    })
}

/// The whole file, made of its pieces where that has not been done.
async fn whole_file(app: &App, upload: &Upload) -> Result<File> {
    let (uploads, upload) = (app.blobs.partial_uploads().clone(), upload.clone());
    let reading = spawn_blocking(move || {
        let pieces = counted_pieces(&upload.id, &upload.pieces);
        if !pieces.is_empty() {
            uploads.assemble(&upload.id, &pieces, upload.size)?;
        }
        uploads.read(&upload.id)
    });
    Ok(reading.await??)
}

/// Accepts a checked file. If it was submitted during the check, it is filed at once.
fn keep(tx: &mut Tx<'_>, cx: &Cx<'_>, ask: &Ask, upload: &Upload, form: FileFormat) -> Result<()> {
    let known = upload.filename.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=5).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let filename = match known {
        true => upload.filename.clone(),
        false => format!("{}.{}", upload.filename, form.ending()),
    };
    let kept = tx.exec(
        "UPDATE uploads SET state = 'kept', content_type = ?4, filename = ?5, due_at = NULL
         WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state IN ('arriving', 'checking')",
        &[&cx.actor.ws, &ask.request, &upload.id, &form.content_type(), &filename],
    )?;
    if kept == 0 {
        return Ok(());
    }
    tx.exec(
        "UPDATE document_requests SET hands_over_at = CASE
            WHEN EXISTS (
                SELECT 1 FROM uploads u
                WHERE u.ws = ?1 AND u.request = ?2 AND u.id = ?3 AND u.handed_over = TRUE
            ) THEN CAST(?4 AS BIGINT) ELSE CAST(?5 AS BIGINT) END
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &ask.request, &upload.id, &cx.now, &(cx.now + HAND_OVER_AFTER_MS)],
    )?;
    tx.wake(Queue::Submissions);
    Ok(())
}

/// Refuses a checked file; false when somebody else has decided about it meanwhile.
fn turn_down(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    id: &UploadId,
    refusal: FileRefusal,
) -> Result<bool> {
    let refused = tx.exec(
        "UPDATE uploads SET state = 'refused', problem = ?4, due_at = ?5, handed_over = FALSE
         WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state IN ('arriving', 'checking')",
        &[&cx.actor.ws, &ask.request, id, &refusal.sentence(), &(cx.now + UPLOAD_LEFT_MS)],
    )?;
    Ok(refused > 0)
}

fn wait(tx: &mut Tx<'_>, cx: &Cx<'_>, ask: &Ask, id: &UploadId) -> Result<()> {
    let attempts: Option<(i64,)> = tx.opt(
        "UPDATE uploads SET state = 'checking', attempts = attempts + 1
         WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state IN ('arriving', 'checking')
         RETURNING attempts",
        &[&cx.actor.ws, &ask.request, id],
    )?;
    let Some((attempts,)) = attempts else { return Ok(()) };
    tx.exec(
        "UPDATE uploads SET due_at = ?4 WHERE ws = ?1 AND request = ?2 AND id = ?3",
        &[&cx.actor.ws, &ask.request, id, &(cx.now + retry_after(attempts))],
    )?;
    tx.wake(Queue::Uploads);
    Ok(())
}
