//! The stylesheet, the icons and the scripts, inside the binary.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::header;
use axum::http::{HeaderValue, Response};
use rust_embed::RustEmbed;

use super::answers::{self, guard};

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Files;

/// Changes whenever a file does, so that browsers may keep them for good.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    use sha2::{Digest, Sha256};
    let mut names: Vec<_> = Files::iter().collect();
    names.sort();
    let mut all = Sha256::new();
    for file in names.iter().filter_map(|name| Files::get(name)) {
        all.update(file.metadata.sha256_hash());
    }
    all.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

const NO_SCRIPTS: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Names are `name.version.ending`; what a script imports has none and is asked for again.
pub async fn asset(Path(name): Path<String>) -> Response<Body> {
    let (plain, kept) = match name.split('.').collect::<Vec<_>>().as_slice() {
        [stem, version, ending] if *version == *VERSION => (format!("{stem}.{ending}"), true),
        _ => (name, false),
    };
    let Some(file) = Files::get(&plain) else { return answers::nothing_here().await };
    let kind = match plain.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let mut response = Response::new(Body::from(file.data.into_owned()));
    guard(&mut response, NO_SCRIPTS);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let keep = if kept { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    response
}
