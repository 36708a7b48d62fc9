//! Tracks a connection's activity: requests in flight and the last progress of a response. This
//! distinguishes an idle or stalled client from one that waits for the server.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// A client that reads fewer bytes of a response within the idle timeout counts as stalled.
const TAKEN_BYTES: u64 = 1024;

pub struct Activity {
    began: Instant,
    requests: AtomicUsize,
    /// Running handlers, and response bodies whose next chunk is not ready.
    in_flight: AtomicUsize,
    /// Milliseconds from the beginning to the last request, response chunk, or bytes read by the
    /// client.
    progress: AtomicU64,
    written: AtomicU64,
}

impl Activity {
    pub fn begin() -> Arc<Activity> {
        Activity::begun_at(Instant::now())
    }

    fn begun_at(began: Instant) -> Arc<Activity> {
        Arc::new(Activity {
            began,
            requests: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            progress: AtomicU64::new(0),
            written: AtomicU64::new(0),
        })
    }

    /// Counts a request; returns a guard and whether it is the connection's first.
    pub fn request(self: &Arc<Self>) -> (InFlightGuard, bool) {
        let first = self.requests.fetch_add(1, Ordering::Relaxed) == 0;
        (InFlightGuard::take(self), first)
    }

    /// True when no request is in flight.
    pub fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0
    }

    /// The time of the last progress.
    pub fn last_progress(&self) -> Instant {
        self.began + Duration::from_millis(self.progress.load(Ordering::Relaxed))
    }

    /// When this connection is closed without further activity.
    pub fn deadline(&self, first_head: Duration, idle: Duration) -> Instant {
        match self.requests.load(Ordering::Relaxed) {
            0 => self.began + first_head,
            _ if self.is_idle() => self.last_progress() + idle,
            _ => Instant::now() + idle,
        }
    }

    fn note_progress(&self) {
        let millis = self.began.elapsed().as_millis() as u64;
        self.progress.store(millis, Ordering::Relaxed);
    }

    fn note_written(&self, bytes: usize) {
        let bytes = bytes as u64;
        if self.written.fetch_add(bytes, Ordering::Relaxed) + bytes >= TAKEN_BYTES {
            self.written.store(0, Ordering::Relaxed);
            self.note_progress();
        }
    }
}

/// Marks the connection as busy until it is dropped.
pub struct InFlightGuard(Arc<Activity>);

impl InFlightGuard {
    fn take(activity: &Arc<Activity>) -> InFlightGuard {
        activity.in_flight.fetch_add(1, Ordering::Relaxed);
        activity.note_progress();
        InFlightGuard(Arc::clone(activity))
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.0.note_progress();
    }
}

/// A response body. The connection is busy while the next chunk is not ready, and idle while a
/// chunk waits for the client to read it.
pub struct WatchedBody {
    body: Body,
    activity: Arc<Activity>,
    in_flight: Option<InFlightGuard>,
}

impl WatchedBody {
    pub fn new(body: Body, activity: Arc<Activity>) -> WatchedBody {
        WatchedBody { body, activity, in_flight: None }
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if polled.is_pending() {
            if self.in_flight.is_none() {
                self.in_flight = Some(InFlightGuard::take(&self.activity));
            }
        } else {
            self.in_flight = None;
            self.activity.note_progress();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A socket that records the bytes the client reads.
pub struct WatchedStream<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> WatchedStream<S> {
    pub fn new(stream: S, activity: Arc<Activity>) -> WatchedStream<S> {
        WatchedStream { stream, activity }
    }

    fn note_written_bytes(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            self.activity.note_written(*bytes);
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note_written_bytes(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.note_written_bytes(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Duration = Duration::from_secs(15);
    const IDLE: Duration = Duration::from_secs(60);

    #[test]
    fn a_client_has_a_deadline_when_it_is_its_turn_and_none_while_we_work() {
        let began = Instant::now() - Duration::from_secs(3_600);
        let activity = Activity::begun_at(began);
        assert_eq!(activity.deadline(HEAD, IDLE), began + HEAD);
        let (turn, first) = activity.request();
        assert!(first && !activity.is_idle());
        activity.progress.store(0, Ordering::Relaxed);
        let now = Instant::now();
        assert!(activity.deadline(HEAD, IDLE) >= now + IDLE, "we work, however long it takes");
        drop(turn);
        assert!(activity.is_idle() && activity.last_progress() > began);
        activity.progress.store(0, Ordering::Relaxed);
        activity.note_written(10);
        assert_eq!(activity.deadline(HEAD, IDLE), began + IDLE, "too little is taken");
        activity.note_written(TAKEN_BYTES as usize);
        assert_eq!(activity.deadline(HEAD, IDLE), activity.last_progress() + IDLE);
        assert!(activity.last_progress() > began);
        assert!(!activity.request().1);
    }
}
