//! Scaled copies of pictures, as conversations and the document library show them: made once, in the sandbox, and
//! kept. Where there is none the original is shown.

use std::sync::Arc;

use actions::documents::files::{self, StoredFile};
use actions::documents::previews::{self, ScaledLookup};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Response;
use base::app::Cx;
use base::error::Error;
use base::ids::{AttachmentId, DocumentId};
use base::limits::DOCUMENT_READ_BYTES;
use db::Tx;
use document_reader::{PreviewOutcome, SCALED_BYTES};

use crate::Web;
use crate::layout::responses::{PageError, PageResult};
use crate::pages::mail_files::files::original_picture;
use crate::pages::mail_files::mail_frame::{MailReference, picture_number, picture_response};
use crate::visitor::Visitor;

/// Finds the copy of one picture, if the actor may see the picture.
type Find = dyn Fn(&mut Tx<'_>, &Cx<'_>) -> base::error::Result<ScaledLookup> + Send + Sync;
/// Reads a file, if the actor may see it.
type Open = dyn Fn(&mut Tx<'_>, &Cx<'_>) -> base::error::Result<StoredFile> + Send + Sync;

pub async fn of_document(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let id = DocumentId::parse(&id).ok_or(Error::NotFound("document"))?;
    let wanted = id.clone();
    let find: Arc<Find> = Arc::new(move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        let file = files::find_document(tx, cx, &wanted)?;
        if needs_copy(&file.content_type, file.size) {
            previews::scaled_file(tx, cx, &file)
        } else {
            Ok(ScaledLookup::Original)
        }
    });
    let open: Arc<Open> = Arc::new(move |tx: &mut Tx<'_>, cx: &Cx<'_>| files::file(tx, cx, &id));
    show_file(&web, &visitor, find, open).await
}

/// Of an attachment of an outgoing message. A copy of a sealed one would be kept outside of the seal.
pub async fn of_attachment(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let id = AttachmentId::parse(&id).ok_or(Error::NotFound("file"))?;
    let wanted = id.clone();
    let find: Arc<Find> = Arc::new(move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        match files::find_open_attachment(tx, cx, &wanted)? {
            Some(file) if needs_copy(&file.content_type, file.size) => {
                previews::scaled_file(tx, cx, &file)
            }
            Some(_) | None => Ok(ScaledLookup::Original),
        }
    });
    let open: Arc<Open> =
        Arc::new(move |tx: &mut Tx<'_>, cx: &Cx<'_>| files::attachment(tx, cx, &id));
    show_file(&web, &visitor, find, open).await
}

async fn show_file(web: &Web, visitor: &Visitor, find: Arc<Find>, open: Arc<Open>) -> PageResult {
    let copy = match look_up(web, visitor, &find).await? {
        ScaledLookup::Kept(copy) => Some(copy),
        ScaledLookup::Missing(_) => {
            let read = async { read_file(web, visitor, &open).await.map(|file| file.bytes) };
            make(web, visitor, &find, read).await?
        }
        ScaledLookup::Original => None,
    };
    match copy {
        Some(copy) => Ok(response(copy)),
        None => original_picture(read_file(web, visitor, &open).await?),
    }
}

async fn read_file(
    web: &Web,
    visitor: &Visitor,
    open: &Arc<Open>,
) -> Result<StoredFile, PageError> {
    let open = Arc::clone(open);
    web.read(visitor, move |tx, cx, _| open(tx, cx)).await
}

/// Of a picture that a mail brought, in the frame of the mail.
pub async fn of_mail(
    web: &Web,
    visitor: &Visitor,
    mail: MailReference,
    number: &str,
) -> PageResult {
    let number = picture_number(number)?;
    let found = mail.clone();
    let find: Arc<Find> = Arc::new(move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        let stored = found.hash(tx, cx)?;
        previews::scaled_picture_of_mail(tx, cx, &stored, &found.place_of_picture(number))
    });
    let may_be_made = match look_up(web, visitor, &find).await? {
        ScaledLookup::Kept(copy) => return Ok(response(copy)),
        ScaledLookup::Missing(_) => true,
        ScaledLookup::Original => false,
    };
    let original = web.inline_picture(visitor, &mail, number).await?;
    if !may_be_made || !needs_copy(original.content_type, original.bytes.len() as i64) {
        return Ok(picture_response(original.content_type, original.bytes));
    }
    // Waiting holds no picture in memory.
    drop(original);
    let read = async { web.inline_picture(visitor, &mail, number).await.map(|found| found.bytes) };
    if let Some(copy) = make(web, visitor, &find, read).await? {
        return Ok(response(copy));
    }
    let original = web.inline_picture(visitor, &mail, number).await?;
    Ok(picture_response(original.content_type, original.bytes))
}

/// True for a picture that is worth a copy. GIFs mostly move.
fn needs_copy(content_type: &str, bytes: i64) -> bool {
    let is_still = matches!(content_type, "image/png" | "image/jpeg" | "image/webp");
    is_still && bytes > SCALED_BYTES as i64 && bytes <= DOCUMENT_READ_BYTES
}

async fn look_up(
    web: &Web,
    visitor: &Visitor,
    find: &Arc<Find>,
) -> Result<ScaledLookup, PageError> {
    let find = Arc::clone(find);
    web.read(visitor, move |tx, cx, _| find(tx, cx)).await
}

/// Why a copy is not made.
enum Interrupted {
    /// Another request made it, or gave up, while this one waited for its slot.
    Settled(Option<Vec<u8>>),
    Refused(PageError),
}

/// Makes the copy of a picture and keeps it; `None` where it cannot be made.
async fn make(
    web: &Web,
    visitor: &Visitor,
    find: &Arc<Find>,
    read: impl Future<Output = Result<Vec<u8>, PageError>>,
) -> Result<Option<Vec<u8>>, PageError> {
    let read = async {
        match look_up(web, visitor, find).await.map_err(Interrupted::Refused)? {
            ScaledLookup::Kept(copy) => Err(Interrupted::Settled(Some(copy))),
            ScaledLookup::Original => Err(Interrupted::Settled(None)),
            ScaledLookup::Missing(_) => read.await.map_err(Interrupted::Refused),
        }
    };
    let copy = match web.previewer.scale(read).await {
        Ok(PreviewOutcome::Made(copy)) => Some(copy),
        Ok(PreviewOutcome::Failed) => None,
        Ok(PreviewOutcome::Unavailable) => return Ok(None),
        Err(Interrupted::Settled(copy)) => return Ok(copy),
        Err(Interrupted::Refused(error)) => return Err(error),
    };
    // Small enough for the database: nothing is written to a file here.
    let blob = copy.as_deref().map(|copy| web.app.blobs.put(copy)).transpose();
    let (blob, find) = (blob.map_err(Error::from)?, Arc::clone(find));
    let kept = web.act_quietly(visitor, move |tx, cx, _| {
        // The picture may be gone by now, or out of sight.
        match (find(tx, cx)?, &blob) {
            (ScaledLookup::Missing(key), Some(blob)) => previews::keep_preview(tx, cx, &key, blob),
            (ScaledLookup::Missing(key), None) => previews::count_failed_preview(tx, cx, &key),
            (ScaledLookup::Kept(_) | ScaledLookup::Original, _) => Ok(()),
        }
    });
    match kept.await {
        Ok(()) => Ok(copy),
        // A picture is shown, too, while nothing can be written.
        Err(PageError::Domain(error)) if error.is_temporary() => {
            tracing::warn!(%error, "a scaled copy of a picture was not kept");
            Ok(copy)
        }
        Err(error) => Err(error),
    }
}

fn response(copy: Vec<u8>) -> Response<Body> {
    let kind = if copy.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" };
    picture_response(kind, copy)
}
