//! Submitting uploaded files: they become documents of the conversation.

use base::app::{App, Cx};
use base::concurrency::blocking::spawn_blocking;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::files::blobs::Blob;
use base::ids::RequestId;
use db::Tx;

use crate::conversations;
use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::trash;
use crate::documents::document_requests;
use crate::documents::uploads::{Ask, Upload, ask_at, ask_of, touch};
use crate::documents::{self, NewDocument};
use crate::figures::report_facts::{self, ReportMeasure};

/// The result of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandedOver {
    /// Files that became documents.
    pub filed: usize,
    /// True when the request is complete.
    pub complete: bool,
}

/// Submits a request's uploads: accepted files become documents. Idempotent.
pub async fn hand_over(app: &App, token: &str) -> Result<HandedOver> {
    let (token, now) = (token.to_owned(), app.clock.now());
    let ask = app.store.read(move |tx| ask_at(tx, &token, now)).await?;
    hand_over_ask(app, ask).await
}

/// The same as a job, for customers who left without submitting.
pub async fn hand_over_of(app: &App, ws: i64, request: &RequestId) -> Result<HandedOver> {
    let request = request.clone();
    let ask = app.store.read(move |tx| ask_of(tx, ws, &request)).await?;
    hand_over_ask(app, ask).await
}

async fn hand_over_ask(app: &App, ask: Ask) -> Result<HandedOver> {
    let looked = ask.clone();
    let kept: Vec<Upload> = app
        .store
        .read(move |tx| {
            Ok::<_, Error>(tx.all(
                &format!(
                    "SELECT {} FROM uploads
                     WHERE ws = ?1 AND request = ?2 AND state = 'kept' ORDER BY id",
                    Upload::COLUMNS
                ),
                &[&looked.actor.ws, &looked.request],
            )?)
        })
        .await?;
    let mut files = Vec::with_capacity(kept.len());
    for upload in kept {
        let (uploads, id) = (app.blobs.partial_uploads().clone(), upload.id.clone());
        let file = match spawn_blocking(move || uploads.read(&id)).await? {
            // Another press was faster, and the copy is gone.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            file => file?,
        };
        files.push((upload, app.blobs.put_file(file).await?));
    }
    let actor = ask.actor.clone();
    app.act(&actor, move |tx, cx| file_all(tx, cx, &ask, &files)).await
}

/// Files the accepted uploads, and checks whether the request is complete.
fn file_all(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    files: &[(Upload, Blob)],
) -> Result<HandedOver> {
    touch(tx, cx, ask)?;
    let mut conversation = conversations::load(tx, cx.actor, ask.conversation.as_str())?;
    let mut filed = 0;
    for (upload, blob) in files {
        // Taken back, or handed over by another press, while the bytes were put away.
        let taken = tx.exec(
            "UPDATE uploads SET state = 'filed', handed_over = TRUE, due_at = ?4
             WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'kept'",
            &[&cx.actor.ws, &ask.request, &upload.id, &cx.now],
        )?;
        if taken == 0 {
            continue;
        }
        let document = NewDocument {
            message: None,
            filename: &upload.filename,
            content_type: &upload.content_type,
            blob,
        };
        let document = if ask.secure {
            documents::file_protected(tx, cx, &conversation, &document)?
        } else {
            documents::file(tx, cx, &conversation, &document)?
        };
        tx.exec(
            "UPDATE uploads SET document = ?4 WHERE ws = ?1 AND request = ?2 AND id = ?3",
            &[&cx.actor.ws, &ask.request, &upload.id, &document],
        )?;
        let uploaded =
            TimelineEvent::Uploaded { request_id: ask.request.clone(), document_id: document };
        timeline::record(tx, cx, &conversation.id, &uploaded)?;
        filed += 1;
    }
    if filed > 0 {
        trash::leave(tx, cx, &mut conversation)?;
    }
    let (place, received) = (&conversation.report_place(), filed as i64);
    report_facts::count(tx, cx, place, ReportMeasure::DocumentsReceived, "", cx.now, received)?;
    tx.exec(
        "UPDATE uploads SET handed_over = TRUE
         WHERE ws = ?1 AND request = ?2 AND state = 'checking'",
        &[&cx.actor.ws, &ask.request],
    )?;
    tx.exec(
        "UPDATE document_requests SET submitted_at = ?3, hands_over_at = NULL WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &ask.request, &cx.now],
    )?;
    tx.wake(Queue::Uploads);
    let complete = document_requests::complete_if_all_in(tx, cx, &mut conversation, &ask.request)?;
    Ok(HandedOver { filed, complete })
}
