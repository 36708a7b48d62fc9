//! The stylesheet, the icons and the scripts, inside the binary.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::header;
use axum::http::{HeaderMap, HeaderValue, Response};
use rust_embed::RustEmbed;

use crate::web::layout::responses::{self, guard};

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

/// Each file packed once, for browsers that take it so. They hold nothing of anybody's, so that
/// packing them gives nothing away; pages do and are sent as they are.
static PACKED: LazyLock<HashMap<String, Vec<u8>>> = LazyLock::new(|| {
    let packed = |name: Cow<'static, str>| {
        let file = Files::get(&name)?;
        Some((name.into_owned(), zstd::bulk::compress(&file.data, ZSTD_LEVEL).ok()?))
    };
    Files::iter().filter_map(packed).collect()
});

const ZSTD_LEVEL: i32 = 19;
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Names are `name.version.ending`; what is asked for without the version is not kept.
pub async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    let (plain, kept) = match name.split('.').collect::<Vec<_>>().as_slice() {
        [stem, version, ending] if *version == *VERSION => (format!("{stem}.{ending}"), true),
        _ => (name, false),
    };
    let Some(file) = Files::get(&plain) else { return responses::nothing_here().await };
    let kind = match plain.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let packed = PACKED.get(&plain).filter(|_| takes_zstd(&headers));
    let bytes = packed.cloned().unwrap_or_else(|| file.data.into_owned());
    let mut response = Response::new(Body::from(bytes));
    guard(&mut response, POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if packed.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("zstd"));
    }
    let keep = if kept { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    response
}

fn takes_zstd(headers: &HeaderMap) -> bool {
    let taken = headers.get(header::ACCEPT_ENCODING).and_then(|taken| taken.to_str().ok());
    taken.is_some_and(|taken| taken.split(',').any(|one| one.trim() == "zstd"))
}
