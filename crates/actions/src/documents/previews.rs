//! Small previews of files and scaled copies of pictures, made once and kept as blobs.

use base::app::Cx;
use base::error::{Error, Result};
use base::files::blobs::{self, Blob};
use base::ids::{AttachmentId, DocumentId};
use db::Tx;
use model::documents::preview_keys::{file_of, scaled_key};

use crate::documents::files::{FileReference, find_attachment, find_document};

/// Attempts to make a preview or a scaled copy.
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
    Ok(match find(tx, cx, &file.hash)? {
        Some((Some(preview), _)) => {
            let bytes = cx.blobs.get(tx, cx.actor.ws, &preview)?;
            PreviewLookup::Kept(bytes.ok_or(Error::NotFound("preview"))?)
        }
        Some((None, attempts)) if attempts >= ATTEMPTS => PreviewLookup::Impossible,
        Some((None, _)) | None => PreviewLookup::Missing(file),
    })
}

/// What there is of the scaled copy of a picture.
#[derive(Clone, Debug)]
pub enum ScaledLookup {
    Kept(Vec<u8>),
    /// It has to be made, and kept under this key.
    Missing(String),
    /// The original is shown.
    Original,
}

/// The scaled copy of a file that is a picture.
pub fn scaled_file(tx: &mut Tx<'_>, cx: &Cx<'_>, file: &FileReference) -> Result<ScaledLookup> {
    find_scaled(tx, cx, scaled_key(&file.hash, ""))
}

/// The scaled copy of the picture at a place in a stored mail, which is named by its hash.
pub fn scaled_picture_of_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mail: &str,
    place: &str,
) -> Result<ScaledLookup> {
    find_scaled(tx, cx, scaled_key(mail, place))
}

fn find_scaled(tx: &mut Tx<'_>, cx: &Cx<'_>, key: String) -> Result<ScaledLookup> {
    Ok(match find(tx, cx, &key)? {
        Some((Some(copy), _)) => match cx.blobs.get(tx, cx.actor.ws, &copy)? {
            Some(bytes) => ScaledLookup::Kept(bytes),
            None => ScaledLookup::Missing(key),
        },
        Some((None, attempts)) if attempts >= ATTEMPTS => ScaledLookup::Original,
        Some((None, _)) | None => ScaledLookup::Missing(key),
    })
}

/// What is kept under a key, and how often it could not be made.
fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, key: &str) -> Result<Option<(Option<String>, i64)>> {
    Ok(tx.opt(
        "SELECT preview, attempts FROM previews WHERE ws = ?1 AND hash = ?2",
        &[&cx.actor.ws, &key],
    )?)
}

/// Keeps the preview of a file, or the scaled copy of a picture, under its key, if the file is still there.
pub fn keep_preview(tx: &mut Tx<'_>, cx: &Cx<'_>, key: &str, preview: &Blob) -> Result<()> {
    must_have_file(tx, cx, key)?;
    blobs::keep(tx, cx.actor.ws, preview)?;
    tx.exec(
        "INSERT INTO previews (ws, hash, preview, attempts) VALUES (?1, ?2, ?3, 0)
         ON CONFLICT (ws, hash) DO UPDATE SET preview = excluded.preview",
        &[&cx.actor.ws, &key, &preview.hash],
    )?;
    Ok(())
}

/// Counts that no preview or scaled copy could be made, if the file is still there.
pub fn count_failed_preview(tx: &mut Tx<'_>, cx: &Cx<'_>, key: &str) -> Result<()> {
    must_have_file(tx, cx, key)?;
    tx.exec(
        "INSERT INTO previews (ws, hash, preview, attempts) VALUES (?1, ?2, NULL, 1)
         ON CONFLICT (ws, hash) DO UPDATE SET attempts = previews.attempts + 1",
        &[&cx.actor.ws, &key],
    )?;
    Ok(())
}

/// Refuses a key whose file was deleted. Where transactions overlap, one that deletes it must fail and be tried again,
/// or this one: only a change of the row tells them so.
fn must_have_file(tx: &mut Tx<'_>, cx: &Cx<'_>, key: &str) -> Result<()> {
    let file = file_of(key);
    let found = tx
        .exec("UPDATE blobs SET size = size WHERE ws = ?1 AND hash = ?2", &[&cx.actor.ws, &file])?;
    if found == 0 { Err(Error::NotFound("file")) } else { Ok(()) }
}
