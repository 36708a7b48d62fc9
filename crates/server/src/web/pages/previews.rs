//! The first page of a PDF as a picture, with a placeholder for one that cannot be rendered.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, header};
use inbox::Error;
use inbox::actions;
use inbox::base::ids::DocumentId;

use crate::web::Web;
use crate::web::layout::responses::{PageResult, guard};
use crate::web::visitor::Visitor;

/// The placeholder of a page that cannot be rendered.
const PLACEHOLDER: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 80 60' fill='none' \
                     stroke='#888' stroke-width='1.5'><path d='M26 8h20l8 8v36H26z'/>\
                     <path d='M46 8v8h8M32 28h16M32 36h16M32 44h10'/></svg>";

const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

pub async fn first_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let missing = || Error::NotFound("document");
    let id = DocumentId::parse(&id).ok_or_else(missing)?;
    let blobs = web.app.blobs.clone();
    let file = web.read(&visitor, move |tx, cx, _| actions::file(tx, cx, &blobs, &id)).await?;
    if file.content_type != "application/pdf" {
        return Err(missing().into());
    }
    let (kind, picture) = match web.previews.first_page(file.bytes).await {
        Some(picture) => ("image/png", picture),
        None => ("image/svg+xml", PLACEHOLDER.into()),
    };
    let mut response = Response::new(Body::from(picture));
    guard(&mut response, POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    Ok(response)
}
