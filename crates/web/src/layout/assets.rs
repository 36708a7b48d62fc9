//! The address of the stylesheet, the icons and the scripts.

use axum::body::Body;
use axum::extract::Path;
use axum::http::header;
use axum::http::{HeaderMap, HeaderValue, Response};

use crate::compression::Encoding;
use crate::layout::asset_files::{VERSION, compressed_file, file};
use crate::layout::responses::{self, guard};

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// What the service worker fetches goes by the policy of its own script: pages, and the style of the one it keeps.
const WORKER_POLICY: &str = "default-src 'none'; connect-src 'self'";

/// The service worker at the root of the site, whose pages it belongs to. Browsers look for a new one at every
/// visit.
pub async fn service_worker(headers: HeaderMap) -> Response<Body> {
    let mut response = asset(Path("service-worker.js".to_owned()), headers).await;
    guard(&mut response, WORKER_POLICY);
    response
}

/// Names are `name.version.ending`; what is requested without the version is not cached.
pub async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    let (plain, versioned) = match name.split('.').collect::<Vec<_>>().as_slice() {
        [stem, version, ending] if *version == *VERSION => (format!("{stem}.{ending}"), true),
        _ => (name, false),
    };
    let Some(bytes) = file(&plain) else { return responses::nothing_here().await };
    let content_type = match plain.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let encoding = Encoding::from_headers(&headers);
    let compressed = encoding.and_then(|encoding| compressed_file(&plain, encoding));
    let body = compressed.map_or_else(|| Body::from(bytes.into_owned()), Body::from);
    let mut response = Response::new(body);
    guard(&mut response, POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Some(encoding) = encoding.filter(|_| compressed.is_some()) {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    }
    let caching = if versioned { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}
