//! Remote pictures of a mail, fetched by this server on request, so that the sender learns neither
//! the reader's IP address nor their browser.

use std::time::Duration;

use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use transport::net::http_client::system_roots;
use transport::net::https_fetch::{FetchedPage, Pages};
use transport::net::ssrf_guard::SsrfGuard;

/// Pictures that are fetched at one time.
const AT_ONCE: usize = 16;
/// Time for one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for one picture, with its redirects and the wait for a slot: a mail full of slow pictures
/// does not hold up those of other mails for longer.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of one picture.
const PICTURE_BYTES: usize = 5 * 1024 * 1024;
/// Redirects that are followed; each address is checked like the first.
const REDIRECTS: usize = 3;

/// The types that browsers show as a picture and do nothing else with, and how their files begin.
const TYPES: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

pub struct RemotePictureFetcher {
    ssrf_guard: SsrfGuard,
    pages: OnceCell<Option<Pages>>,
    slots: Semaphore,
}

/// A fetched picture; its type is detected from its bytes.
pub struct RemotePicture {
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

impl RemotePictureFetcher {
    pub fn new(ssrf_guard: SsrfGuard) -> RemotePictureFetcher {
        RemotePictureFetcher { ssrf_guard, pages: OnceCell::new(), slots: Semaphore::new(AT_ONCE) }
    }

    /// `None` for what cannot be fetched in time or is no picture.
    pub async fn fetch(&self, url: &str) -> Option<RemotePicture> {
        timeout(PICTURE_TIMEOUT, self.follow(url)).await.ok().flatten()
    }

    async fn follow(&self, url: &str) -> Option<RemotePicture> {
        let _slot = self.slots.acquire().await.ok()?;
        let pages = self.pages.get_or_init(async || self.open()).await.as_ref()?;
        // `http` URLs are fetched by `https`, which most servers support; nothing is fetched
        // unencrypted.
        let mut url = match url.strip_prefix("http://") {
            Some(rest) => format!("https://{rest}"),
            None => url.to_owned(),
        };
        for _ in 0..=REDIRECTS {
            let page = pages.get(&url, PICTURE_BYTES).await.ok()?;
            match page.location.clone().filter(|_| (300..400).contains(&page.status)) {
                Some(next) => url = next,
                None => return picture(page),
            }
        }
        None
    }

    fn open(&self) -> Option<Pages> {
        Pages::new(self.ssrf_guard.clone(), system_roots(), REQUEST_TIMEOUT)
            .inspect_err(|error| tracing::error!(error, "remote pictures cannot be fetched"))
            .ok()
    }
}

fn picture(page: FetchedPage) -> Option<RemotePicture> {
    let found = TYPES.iter().find(|(_, start)| page.body.starts_with(start));
    let (content_type, _) = found.filter(|_| page.status == 200)?;
    Some(RemotePicture { content_type, bytes: page.body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bytes_of_a_picture_are_one_whatever_its_type_claims() {
        let page = |status: u16, kind: &str, body: &[u8]| {
            let (kind, body) = (kind.to_owned(), body.to_vec());
            picture(FetchedPage { status, kind, location: None, body }).map(|got| got.content_type)
        };
        assert_eq!(page(200, "text/html", b"\x89PNG\r\n"), Some("image/png"));
        assert_eq!(page(200, "image/png", b"<html>"), None);
        assert_eq!(page(200, "image/svg+xml", b"<svg/>"), None);
        assert_eq!(page(404, "image/gif", b"GIF89a"), None);
    }
}
