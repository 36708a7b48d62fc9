//! Reads request bodies into memory, for authenticated clients and within a limit for all bodies
//! together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout, timeout_at};

use crate::http::slots::{SlotShare, Slots};

/// Bytes that may be read before authentication.
pub const SMALL_BODY_BYTES: usize = 16 * 1024;
/// Larger bodies that are read at one time, of at most a megabyte each.
pub const LARGE_BODIES: usize = 64;
/// Those of one key, or of one person.
pub const LARGE_BODIES_EACH: usize = 8;
/// A body that came along with its head is there by then.
const CAME_ALONG: Duration = Duration::from_millis(5);

/// A body of which a part may have been read.
pub struct RequestBody {
    body: Body,
    most: usize,
    until: Instant,
    told: Option<usize>,
    /// The client waits for `100 Continue`.
    waits_to_be_asked: bool,
    read: Vec<u8>,
}

impl RequestBody {
    /// A body of at most `most` bytes that must have arrived in time.
    pub fn new(headers: &HeaderMap, body: Body, most: usize, within: Duration) -> RequestBody {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        RequestBody {
            body,
            most,
            until: Instant::now() + within,
            told: text(header::CONTENT_LENGTH).and_then(|text| text.parse().ok()),
            waits_to_be_asked: headers.contains_key(header::EXPECT),
            read: Vec::new(),
        }
    }

    /// Takes a small body that came along with its head. `None` when more must be received, which
    /// requires authentication.
    pub async fn came_along(&mut self) -> Result<Option<Bytes>, StatusCode> {
        if self.waits_to_be_asked || self.told.is_some_and(|told| told > SMALL_BODY_BYTES) {
            return Ok(None);
        }
        let small = timeout(CAME_ALONG, self.read_up_to(SMALL_BODY_BYTES)).await;
        Ok(match small {
            Ok(whole) => whole?.then(|| self.take()),
            Err(_) => None,
        })
    }

    /// Takes a small body, however long it takes. `None` for a larger one, which requires
    /// authentication.
    pub async fn small(&mut self) -> Result<Option<Bytes>, StatusCode> {
        if self.told.is_some_and(|told| told > SMALL_BODY_BYTES) {
            return Ok(None);
        }
        let small = timeout_at(self.until, self.read_up_to(SMALL_BODY_BYTES)).await;
        let whole = small.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))?;
        Ok(whole.then(|| self.take()))
    }

    /// Reads the rest, when there is room for it beside the other large bodies.
    pub async fn rest(
        mut self,
        large: &Arc<Slots>,
        shares: &[SlotShare],
    ) -> Result<Bytes, StatusCode> {
        if self.told.is_some_and(|told| told > self.most) {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let (until, most) = (self.until, self.most);
        let reading = async {
            if self.read_up_to(SMALL_BODY_BYTES).await? {
                return Ok(self.take());
            }
            let _slot = large.wait(shares).await;
            if self.read_up_to(most).await? {
                Ok(self.take())
            } else {
                Err(StatusCode::PAYLOAD_TOO_LARGE)
            }
        };
        timeout_at(until, reading).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
    }

    /// True when the body is whole; false as soon as it is longer than so many bytes.
    async fn read_up_to(&mut self, most: usize) -> Result<bool, StatusCode> {
        while self.read.len() <= most {
            match self.body.frame().await {
                None => return Ok(true),
                Some(Err(_)) => return Err(StatusCode::BAD_REQUEST),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.read.extend_from_slice(&data);
                    }
                }
            }
        }
        Ok(false)
    }

    fn take(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &'static [u8], most: usize) -> RequestBody {
        RequestBody::new(&HeaderMap::new(), Body::from(text), most, Duration::from_secs(60))
    }

    #[tokio::test]
    async fn a_small_body_comes_along_and_a_large_one_waits_for_room() {
        let small = of(b"{}", 1_000).came_along().await.expect("it is whole");
        assert_eq!(small.as_deref(), Some(&b"{}"[..]));
        static LARGE: [u8; SMALL_BODY_BYTES + 10] = [b' '; SMALL_BODY_BYTES + 10];
        for (most, fits) in [(LARGE.len(), true), (LARGE.len() - 1, false)] {
            let mut body = of(&LARGE, most);
            assert_eq!(body.came_along().await, Ok(None));
            let read = body.rest(&Slots::new(1), &[]).await.map(|bytes| bytes.len());
            let wanted = if fits { Ok(most) } else { Err(StatusCode::PAYLOAD_TOO_LARGE) };
            assert_eq!(read, wanted);
        }
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_given_up_with_and_without_room() {
        for room in [0, 1] {
            let never = Body::new(NeverEnding);
            let headers = HeaderMap::new();
            let mut body = RequestBody::new(&headers, never, 1_000, Duration::from_millis(30));
            assert_eq!(body.came_along().await, Ok(None));
            let read = body.rest(&Slots::new(room), &[]).await;
            assert_eq!(read, Err(StatusCode::REQUEST_TIMEOUT));
        }
    }

    struct NeverEnding;

    impl hyper::body::Body for NeverEnding {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
            std::task::Poll::Pending
        }
    }
}
