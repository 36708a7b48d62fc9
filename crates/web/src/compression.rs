//! Compression of pages, by what the browser accepts.
//!
//! The size of a compressed page tells how much of it repeats. Somebody who puts a guess into a page
//! and watches the connection could so learn what else is in it (BREACH). Against that:
//! - Only requests from our own pages and from the address bar are answered compressed, so that no
//!   other site can have a page made as often as it needs (`Sec-Fetch-Site`).
//! - The token of forms is masked anew in each page (`visitor`).
//! - Each page ends in a random number of random characters, which hides small differences.
//!
//! Without https there is nothing to hide from somebody who watches the connection.

use std::io::Write;
use std::sync::Arc;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, Response};
use axum::middleware::Next;
use base::concurrency::blocking::spawn_blocking;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::Web;

/// Bytes below which compressing saves nothing that matters.
const SMALLEST: u64 = 1_024;
/// Bytes of the largest page that is compressed.
const LARGEST: u64 = 8 * 1024 * 1024;
/// Bytes from which on the work is not done on an async thread.
const LARGE: usize = 256 * 1024;
const ZSTD_LEVEL: i32 = 3;
const GZIP_LEVEL: u32 = 5;
/// Characters that end a page at most.
const PADDING_CHARS: usize = 64;

/// How a response may be compressed. Every browser accepts one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Zstd,
    Gzip,
}

impl Encoding {
    /// The best that the browser accepts.
    pub fn from_headers(headers: &HeaderMap) -> Option<Encoding> {
        let accepted = headers.get(ACCEPT_ENCODING)?.to_str().ok()?;
        let accepts = |wanted: &str| {
            accepted.split(',').any(|one| {
                let (name, weight) = one.split_once(';').unwrap_or((one, ""));
                let refused = weight.trim().strip_prefix("q=").and_then(|q| q.trim().parse().ok());
                name.trim().eq_ignore_ascii_case(wanted) && refused != Some(0.0)
            })
        };
        [Encoding::Zstd, Encoding::Gzip].into_iter().find(|encoding| accepts(encoding.name()))
    }

    pub fn name(self) -> &'static str {
        match self {
            Encoding::Zstd => "zstd",
            Encoding::Gzip => "gzip",
        }
    }

    pub fn compress(self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Encoding::Zstd => zstd::bulk::compress(bytes, ZSTD_LEVEL),
            Encoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
                encoder.write_all(bytes)?;
                encoder.finish()
            }
        }
    }
}

/// Compresses what is a page and whole; streams, pictures and files pass as they are.
pub async fn compress(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response<Body> {
    let encoding = Encoding::from_headers(request.headers());
    let is_own = is_own(request.headers(), web.https);
    let mut response = next.run(request).await;
    if !is_page(&response) {
        return response;
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
    response.headers_mut().append(VARY, HeaderValue::from_static("Sec-Fetch-Site"));
    let size = response.body().size_hint().exact();
    let Some(encoding) = encoding.filter(|_| is_own) else { return response };
    if !is_worth_it(size) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(page) = to_bytes(body, LARGEST as usize).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let padded = [&page[..], padding(&web).as_bytes()].concat();
    let large = padded.len() > LARGE;
    let work = move || encoding.compress(&padded).ok();
    let packed = if large { spawn_blocking(work).await.ok().flatten() } else { work() };
    let Some(packed) = packed else { return Response::from_parts(parts, Body::from(page)) };
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    Response::from_parts(parts, Body::from(packed))
}

/// True for a body whose size is known and neither small nor huge.
fn is_worth_it(size: Option<u64>) -> bool {
    size.is_some_and(|size| (SMALLEST..=LARGEST).contains(&size))
}

fn is_page(response: &Response<Body>) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    content_type.is_some_and(|kind| kind.starts_with("text/html"))
        && !response.headers().contains_key(CONTENT_ENCODING)
}

/// True for requests that no other site caused. Browsers say so wherever there is https.
fn is_own(headers: &HeaderMap, https: bool) -> bool {
    match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        Some(site) => matches!(site, b"same-origin" | b"none"),
        None => !https,
    }
}

/// A comment of a random length that does not compress.
fn padding(web: &Web) -> String {
    let random = web.app.ids.token(PADDING_CHARS + 2);
    let chars = random.bytes().take(2).fold(0, |sum, byte| sum * 31 + usize::from(byte));
    format!("<!--{}-->", &random[2..2 + chars % PADDING_CHARS])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn the_browser_chooses_among_what_it_accepts() {
        for (accepted, expected) in [
            ("gzip, deflate, br, zstd", Some(Encoding::Zstd)),
            ("gzip, deflate, br", Some(Encoding::Gzip)),
            ("zstd;q=0, gzip;q=0.5", Some(Encoding::Gzip)),
            ("br", None),
            ("", None),
            ("identity", None),
        ] {
            assert_eq!(Encoding::from_headers(&headers("accept-encoding", accepted)), expected);
        }
    }

    #[test]
    fn what_another_site_caused_is_not_compressed() {
        for (site, expected) in
            [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)]
        {
            for https in [false, true] {
                assert_eq!(is_own(&headers("sec-fetch-site", site), https), expected, "{site}");
            }
        }
        assert!(is_own(&HeaderMap::new(), false) && !is_own(&HeaderMap::new(), true));
    }

    #[test]
    fn small_pages_and_streams_pass_as_they_are() {
        assert!(!is_worth_it(None) && !is_worth_it(Some(0)) && !is_worth_it(Some(1_023)));
        assert!(is_worth_it(Some(1_024)) && !is_worth_it(Some(LARGEST + 1)));
    }

    #[test]
    fn what_is_compressed_is_read_back() {
        let page = "<p>Hello</p>".repeat(500);
        let zstd = Encoding::Zstd.compress(page.as_bytes()).unwrap();
        assert_eq!(zstd::bulk::decompress(&zstd, page.len()).unwrap(), page.as_bytes());
        let gzip = Encoding::Gzip.compress(page.as_bytes()).unwrap();
        let mut read = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&gzip[..]), &mut read)
            .unwrap();
        assert_eq!(read, page);
    }
}
