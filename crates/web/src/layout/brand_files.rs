//! Logos and colours of workspaces as files. A name says what is in the file, so browsers keep it; whoever knows a name
//! has seen the page that it is on.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, header};
use axum::response::IntoResponse;
use base::error::Error;
use base::limits::LOGO_BYTES;
use db::Tx;
use document_reader::PreviewOutcome;
use model::branding::{self, BrandColour};

use crate::Web;
use crate::layout::responses::{self, PageError, guard};

const POLICY: &str = "default-src 'none'; sandbox";
/// For a day: a logo that was removed is not shown for long.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=86400");
/// Letters of a colour's name.
const COLOUR_DIGITS: usize = 6;

/// `7a4a12.css` is the style sheet of a colour, `HASH.png` a logo.
pub async fn brand_file(State(web): State<Arc<Web>>, Path(file): Path<String>) -> Response<Body> {
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    match file.rsplit_once('.').filter(|(name, _)| name.bytes().all(is_hex)) {
        Some((digits, "css")) if digits.len() == COLOUR_DIGITS => colour(digits).await,
        Some((name, "png")) => logo(&web, name.to_owned()).await,
        _ => responses::nothing_here().await,
    }
}

/// The picture of a JPEG that somebody chose as a logo, as a PNG. It is decoded in the sandbox.
pub async fn png_of_jpeg(web: &Web, jpeg: Vec<u8>) -> base::error::Result<Vec<u8>> {
    if jpeg.len() > LOGO_BYTES {
        let sentence = format!("The logo must be at most {} KB.", LOGO_BYTES / 1024);
        return Err(Error::invalid("logo", sentence));
    }
    let sentence = match web.previewer.logo(jpeg).await {
        PreviewOutcome::Made(png) => return Ok(png),
        PreviewOutcome::Failed => {
            "This JPEG file is damaged. Save it again and choose it once more."
        }
        PreviewOutcome::Unavailable => {
            "A JPEG cannot be read just now. Try again, or choose a PNG."
        }
    };
    Err(Error::invalid("logo", sentence))
}

async fn colour(digits: &str) -> Response<Body> {
    match BrandColour::parse(digits) {
        Some(colour) => answer("text/css; charset=utf-8", colour.style_sheet().into_bytes()),
        None => responses::nothing_here().await,
    }
}

async fn logo(web: &Web, name: String) -> Response<Body> {
    let work = move |tx: &mut Tx<'_>| branding::logo_named(tx, &name);
    match web.app.store.read(work).await {
        Ok(Some(png)) => answer("image/png", png),
        Ok(None) => responses::nothing_here().await,
        Err(error) => PageError::Domain(error).into_response(),
    }
}

fn answer(content_type: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    guard(&mut response, POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, KEPT);
    response
}
