//! Small previews of files, made once and kept as blobs.

use base::app::Cx;
use base::error::{Error, Result};
use base::files::blobs::{self, Blob};
use base::ids::{AttachmentId, DocumentId};
use db::Tx;

use crate::documents::files::{FileReference, find_attachment, find_document};

/// Attempts to make the preview of a file.
const ATTEMPTS: i64 = 3;

/// What there is of a preview.
#[derive(Clone, Debug)]
pub enum PreviewLookup {
    Kept(Vec<u8>),
    /// It has to be made of this file.
    Missing(FileReference),
    /// The file has none.
    Impossible,
}

/// The preview of a document, if the actor may see the document.
pub fn document_preview(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &DocumentId) -> Result<PreviewLookup> {
    let file = find_document(tx, cx, id)?;
    look_up(tx, cx, file)
}

/// The preview of an attachment of an outgoing message, if the actor may see the attachment.
pub fn attachment_preview(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AttachmentId,
) -> Result<PreviewLookup> {
    let file = find_attachment(tx, cx, id)?;
    look_up(tx, cx, file)
}

fn look_up(tx: &mut Tx<'_>, cx: &Cx<'_>, file: FileReference) -> Result<PreviewLookup> {
    let found: Option<(Option<String>, i64)> = tx.opt(
        "SELECT preview, attempts FROM previews WHERE ws = ?1 AND hash = ?2",
        &[&cx.actor.ws, &file.hash],
    )?;
    Ok(match found {
        Some((Some(preview), _)) => {
            let bytes = cx.blobs.get(tx, cx.actor.ws, &preview)?;
            PreviewLookup::Kept(bytes.ok_or(Error::NotFound("preview"))?)
        }
        Some((None, attempts)) if attempts >= ATTEMPTS => PreviewLookup::Impossible,
        Some((None, _)) | None => PreviewLookup::Missing(file),
    })
}

/// Keeps the preview of a file.
pub fn keep_preview(tx: &mut Tx<'_>, cx: &Cx<'_>, file: &str, preview: &Blob) -> Result<()> {
    blobs::keep(tx, cx.actor.ws, preview)?;
    tx.exec(
        "INSERT INTO previews (ws, hash, preview, attempts) VALUES (?1, ?2, ?3, 0)
         ON CONFLICT (ws, hash) DO UPDATE SET preview = excluded.preview",
        &[&cx.actor.ws, &file, &preview.hash],
    )?;
    Ok(())
}

/// Counts that no preview could be made of a file.
pub fn count_failed_preview(tx: &mut Tx<'_>, cx: &Cx<'_>, file: &str) -> Result<()> {
    tx.exec(
        "INSERT INTO previews (ws, hash, preview, attempts) VALUES (?1, ?2, NULL, 1)
         ON CONFLICT (ws, hash) DO UPDATE SET attempts = previews.attempts + 1",
        &[&cx.actor.ws, &file],
    )?;
    Ok(())
}
