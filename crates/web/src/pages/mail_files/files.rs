//! Downloads of documents and attachments.

use std::sync::Arc;

use actions::documents::files::{self, StoredFile};
use actions::writing::secure_messages;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, header};
use base::error::Error;
use base::ids::{AttachmentId, DocumentId, MessageId};
use transport::http::download::disposition;

use crate::Web;
use crate::forms::form::{Asked, FormFields};
use crate::layout::responses::{PageResult, guard};
use crate::visitor::Visitor;

/// A file runs no script, sends no form and has an opaque origin.
pub const FILE_POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";
/// A PDF is shown by the browser's own viewer, which does not start in a sandbox; it can load
/// nothing and cannot be framed.
const PDF_POLICY: &str = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; \
                          frame-ancestors 'none'";

/// True for pictures that browsers show without running anything.
pub fn is_picture(content_type: &str) -> bool {
    matches!(content_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

pub async fn document(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let id = DocumentId::parse(&id).ok_or(Error::NotFound("document"))?;
    let file = web.read(&visitor, move |tx, cx, _| files::file(tx, cx, &id)).await?;
    Ok(file_response(file, &asked))
}

/// An attachment of an outgoing message.
pub async fn attachment(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let id = AttachmentId::parse(&id).ok_or(Error::NotFound("file"))?;
    let file = web.read(&visitor, move |tx, cx, _| files::attachment(tx, cx, &id)).await?;
    Ok(file_response(file, &asked))
}

/// A file of a secure message; only pictures are shown.
pub async fn secure_file(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((message, file)): Path<(String, String)>,
    Asked(asked): Asked,
) -> PageResult {
    let message = MessageId::parse(&message).ok_or(Error::NotFound("file"))?;
    let read =
        web.read(&visitor, move |tx, cx, _| secure_messages::secure_file(tx, cx, &message, &file));
    Ok(picture_or_download(read.await?, &asked))
}

/// A picture as a response, shown if that was asked for; any other file is downloaded.
pub fn picture_or_download(file: StoredFile, asked: &FormFields) -> Response<Body> {
    if is_picture(&file.content_type) {
        file_response(file, asked)
    } else {
        file_response(file, &FormFields::default())
    }
}

/// A file as a response: shown if that was asked for and is safe, else downloaded.
pub fn file_response(file: StoredFile, asked: &FormFields) -> Response<Body> {
    respond(file, asked.has("shown"))
}

/// A picture as it came, shown.
pub fn original_picture(file: StoredFile) -> PageResult {
    if is_picture(&file.content_type) {
        Ok(respond(file, true))
    } else {
        Err(Error::NotFound("picture").into())
    }
}

fn respond(file: StoredFile, is_asked_for: bool) -> Response<Body> {
    let is_pdf = file.content_type == "application/pdf";
    let shown = is_asked_for && (is_pdf || is_picture(&file.content_type));
    let kind = if shown { file.content_type.as_str() } else { "application/octet-stream" };
    let place = if shown { "inline" } else { "attachment" };
    let disposition = disposition(place, &file.filename);
    let kind = HeaderValue::from_str(kind)
        .unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"));
    let mut response = Response::new(Body::from(file.bytes));
    guard(&mut response, if shown && is_pdf { PDF_POLICY } else { FILE_POLICY });
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}
