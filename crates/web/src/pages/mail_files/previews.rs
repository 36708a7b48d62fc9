//! Previews of files: small ones that are made once and kept, and the first page of a PDF at a size
//! to read.

use std::sync::Arc;

use actions::documents::files::{self, FileReference};
use actions::documents::previews::{self, PreviewLookup};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, header};
use base::app::Cx;
use base::error::Error;
use base::ids::{AttachmentId, DocumentId};
use base::limits::DOCUMENT_READ_BYTES;
use db::Tx;
use document_reader::PreviewOutcome;

use crate::Web;
use crate::layout::responses::{PageError, PageResult, guard};
use crate::pages::mail_files::files::{FILE_POLICY, is_picture};
use crate::visitor::Visitor;

/// The placeholder of what cannot be rendered.
const PLACEHOLDER: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 80 60' fill='none' \
                     stroke='#888' stroke-width='1.5'><path d='M26 8h20l8 8v36H26z'/>\
                     <path d='M46 8v8h8M32 28h16M32 36h16M32 44h10'/></svg>";
/// How long a browser keeps a preview, which never changes.
const CACHING: &str = "private, max-age=86400, immutable";

/// Finds the preview of one file.
type Find = dyn Fn(&mut Tx<'_>, &Cx<'_>) -> base::error::Result<PreviewLookup> + Send + Sync;

pub async fn of_document(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let id = DocumentId::parse(&id).ok_or(Error::NotFound("document"))?;
    let find: Arc<Find> = Arc::new(move |tx, cx| previews::document_preview(tx, cx, &id));
    preview(&web, &visitor, find).await
}

/// Of an attachment of an outgoing message.
pub async fn of_attachment(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let id = AttachmentId::parse(&id).ok_or(Error::NotFound("file"))?;
    let find: Arc<Find> = Arc::new(move |tx, cx| previews::attachment_preview(tx, cx, &id));
    preview(&web, &visitor, find).await
}

async fn preview(web: &Web, visitor: &Visitor, find: Arc<Find>) -> PageResult {
    let found = look_up(web, visitor, &find).await?;
    let PreviewLookup::Missing(file) = found else { return Ok(response(found)) };
    let has_preview = is_picture(&file.content_type) || file.content_type == "application/pdf";
    if !has_preview || file.size > DOCUMENT_READ_BYTES {
        return Err(Error::NotFound("preview").into());
    }
    match make(web, visitor, &find, file).await {
        Ok(preview) => Ok(response(preview)),
        // Another request made it while this one waited for its slot.
        Err(Interrupted::Found(preview)) => Ok(response(preview)),
        Err(Interrupted::Refused(error)) => Err(error),
    }
}

async fn look_up(
    web: &Web,
    visitor: &Visitor,
    find: &Arc<Find>,
) -> Result<PreviewLookup, PageError> {
    let find = Arc::clone(find);
    web.read(visitor, move |tx, cx, _| find(tx, cx)).await
}

/// Why a preview is not made.
enum Interrupted {
    Found(PreviewLookup),
    Refused(PageError),
}

/// Makes the preview of a file and keeps it, or counts that it could not be made.
async fn make(
    web: &Web,
    visitor: &Visitor,
    find: &Arc<Find>,
    file: FileReference,
) -> Result<PreviewLookup, Interrupted> {
    let read = async {
        let found = look_up(web, visitor, find).await.map_err(Interrupted::Refused)?;
        let PreviewLookup::Missing(file) = found else { return Err(Interrupted::Found(found)) };
        let bytes = web.read(visitor, move |tx, cx, _| file.bytes(tx, cx)).await;
        bytes.map_err(Interrupted::Refused)
    };
    let outcome = web.previewer.preview(&file.content_type, read).await?;
    let kept = keep(web, visitor, file.hash, outcome).await;
    kept.map_err(Interrupted::Refused)
}

async fn keep(
    web: &Web,
    visitor: &Visitor,
    hash: String,
    outcome: PreviewOutcome,
) -> Result<PreviewLookup, PageError> {
    match outcome {
        PreviewOutcome::Made(bytes) => {
            // Small enough for the database: nothing is written to a file here.
            let blob = web.app.blobs.put(&bytes).map_err(Error::from)?;
            let keep = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
                previews::keep_preview(tx, cx, &hash, &blob)
            };
            web.act_quietly(visitor, keep).await?;
            Ok(PreviewLookup::Kept(bytes))
        }
        PreviewOutcome::Failed => {
            let count = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
                previews::count_failed_preview(tx, cx, &hash)
            };
            web.act_quietly(visitor, count).await?;
            Ok(PreviewLookup::Impossible)
        }
        PreviewOutcome::Unavailable => Ok(PreviewLookup::Impossible),
    }
}

fn response(preview: PreviewLookup) -> Response<Body> {
    match preview {
        PreviewLookup::Kept(bytes) => {
            let mut response = picture("image/jpeg", bytes);
            let caching = HeaderValue::from_static(CACHING);
            response.headers_mut().insert(header::CACHE_CONTROL, caching);
            response
        }
        PreviewLookup::Missing(_) | PreviewLookup::Impossible => {
            picture("image/svg+xml", PLACEHOLDER.into())
        }
    }
}

/// The first page of a PDF at a size to read.
pub async fn first_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let missing = || Error::NotFound("document");
    let id = DocumentId::parse(&id).ok_or_else(missing)?;
    let file = web.read(&visitor, move |tx, cx, _| files::file(tx, cx, &id)).await?;
    if file.content_type != "application/pdf" {
        return Err(missing().into());
    }
    Ok(match web.page_renderer.first_page(file.bytes).await {
        Some(page) => picture("image/png", page),
        None => picture("image/svg+xml", PLACEHOLDER.into()),
    })
}

fn picture(content_type: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    guard(&mut response, FILE_POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    response
}
