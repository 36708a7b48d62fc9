//! No receiver costs more than the deadline, or more memory than the kept start of its answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes};
use hyper::body::Frame;

use super::receiver::{Authority, HTTP1, HTTP2, Receiver, answer, drip, write};
use super::*;
use crate::support::eventually;

const TOO_SLOW: &str = "No answer came within 0.3 seconds.";
/// What a machine under load may take beyond the deadline.
const SLACK: Duration = Duration::from_secs(10);

async fn timed(webhook_sender: &HttpWebhookSender, url: String) -> WebhookResponse {
    let start = Instant::now();
    let answer = post(webhook_sender, url).await;
    let took = start.elapsed();
    assert!(took < SHORT + SLACK, "{took:?} for {answer:?}");
    answer
}

#[tokio::test]
async fn a_receiver_that_hangs_costs_no_more_than_the_deadline() {
    let authority = Authority::new();
    let before_tls = Receiver::raw(OUTSIDE, |stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let before_the_head = Receiver::scripted(&authority, |stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let webhook_sender = courier_outside(&authority, SHORT);
    assert_eq!(timed(&webhook_sender, before_tls.url()).await, failed(TOO_SLOW));
    assert_eq!(timed(&webhook_sender, before_the_head.url()).await, failed(TOO_SLOW));
}

#[tokio::test]
async fn a_receiver_that_drips_its_head_costs_no_more_than_the_deadline() {
    let authority = Authority::new();
    let receiver = Receiver::scripted(&authority, |mut stream| async move {
        write(&mut stream, b"HTTP/1.1 200 OK\r\nx-drip: ").await;
        drip(&mut stream).await;
    })
    .await;
    let webhook_sender = courier_outside(&authority, SHORT);
    assert_eq!(timed(&webhook_sender, receiver.url()).await, failed(TOO_SLOW));
}

#[tokio::test]
async fn a_receiver_that_promises_an_answer_forever_costs_no_more_than_the_deadline() {
    let authority = Authority::new();
    let receiver = Receiver::scripted(&authority, |mut stream| async move {
        while write(&mut stream, b"HTTP/1.1 102 Processing\r\n\r\n").await {}
    })
    .await;
    let webhook_sender = courier_outside(&authority, SHORT);
    assert_eq!(timed(&webhook_sender, receiver.url()).await, failed(TOO_SLOW));
}

#[tokio::test]
async fn a_receiver_that_drips_its_body_has_answered_when_the_deadline_comes() {
    let authority = Authority::new();
    let receiver = Receiver::scripted(&authority, |mut stream| async move {
        write(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await;
        drip(&mut stream).await;
    })
    .await;
    let webhook_sender = courier_outside(&authority, SHORT);
    let WebhookResponse::Status { code: 200, body } = timed(&webhook_sender, receiver.url()).await
    else {
        panic!("the receiver has answered");
    };
    assert!((1..20).contains(&body.len()), "{body:?}");
    assert!(body.bytes().all(|byte| byte == b'a'), "{body:?}");
}

#[tokio::test]
async fn empty_pieces_without_end_cost_no_more_than_the_deadline() {
    let authority = Authority::new();
    let sent = Arc::default();
    let receiver =
        Receiver::answering(&authority, HTTP2, move || answer(200, Endless::of(&[], &sent))).await;
    let webhook_sender = courier_outside(&authority, SHORT);
    assert_eq!(timed(&webhook_sender, receiver.url()).await, status(200, ""));
}

#[tokio::test]
async fn a_gigabyte_over_http_1_is_left_unread() {
    let authority = Authority::new();
    let sent = Arc::<Sent>::default();
    let count = Arc::clone(&sent);
    let receiver = Receiver::scripted(&authority, move |mut stream| {
        let count = Arc::clone(&count);
        async move {
            write(&mut stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n").await;
            let piece = [b'a'; 16 * 1024];
            while write(&mut stream, &piece).await {
                count.bytes.fetch_add(piece.len(), Ordering::SeqCst);
            }
            count.ended.fetch_add(1, Ordering::SeqCst);
        }
    })
    .await;
    let webhook_sender = courier_outside(&authority, LONG);
    let answer = post(&webhook_sender, receiver.url()).await;
    assert_eq!(answer, status(200, &"a".repeat(transport::webhooks::BODY_BYTES)));
    // The buffers of both sockets fill; nothing else does.
    cut_off(&sent, 16 * 1024 * 1024).await;
}

#[tokio::test]
async fn a_gigabyte_over_http_2_is_left_unread() {
    let authority = Authority::new();
    let sent = Arc::<Sent>::default();
    let count = Arc::clone(&sent);
    let receiver = Receiver::answering(&authority, HTTP2, move || {
        answer(200, Endless::of(&[b'a'; 16 * 1024], &count))
    })
    .await;
    let webhook_sender = courier_outside(&authority, LONG);
    let answer = post(&webhook_sender, receiver.url()).await;
    assert_eq!(answer, status(200, &"a".repeat(transport::webhooks::BODY_BYTES)));
    cut_off(&sent, 2 * 1024 * 1024).await;
    // The connection is as good as before for the next event.
    assert!(matches!(
        post(&webhook_sender, receiver.url()).await,
        WebhookResponse::Status { code: 200, .. }
    ));
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn receivers_that_misbehave_do_not_delay_another() {
    let authority = Authority::new();
    let hanging = Receiver::scripted(&authority, |stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let dripping = Receiver::scripted(&authority, |mut stream| async move {
        write(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await;
        drip(&mut stream).await;
    })
    .await;
    let endless = Receiver::scripted(&authority, |mut stream| async move {
        write(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await;
        while write(&mut stream, &[b'a'; 16 * 1024]).await {}
    })
    .await;
    let healthy = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    let webhook_sender = Arc::new(courier_outside(&authority, LONG));
    let mut bad = Vec::new();
    for url in [hanging.url(), dripping.url(), endless.url()] {
        for _ in 0..50 {
            let (webhook_sender, url) = (Arc::clone(&webhook_sender), url.clone());
            bad.push(tokio::spawn(async move { post(&webhook_sender, url).await }));
        }
    }
    eventually(async || hanging.connections() + dripping.connections() >= 100).await;
    let start = Instant::now();
    for _ in 0..50 {
        assert_eq!(post(&webhook_sender, healthy.url()).await, status(200, ""));
    }
    assert!(start.elapsed() < SLACK, "{:?}", start.elapsed());
    let waiting = bad.iter().filter(|call| !call.is_finished()).count();
    assert!(waiting >= 100, "only {waiting} calls still misbehave");
}

/// What receivers sent, and how often one came to its end.
#[derive(Default)]
struct Sent {
    bytes: AtomicUsize,
    ended: AtomicUsize,
}

/// Waits until a receiver has been cut off, and looks at how much it got rid of.
async fn cut_off(sent: &Sent, at_most: usize) {
    eventually(async || sent.ended.load(Ordering::SeqCst) > 0).await;
    let bytes = sent.bytes.load(Ordering::SeqCst);
    assert!(bytes <= at_most, "{bytes} bytes were taken");
}

/// A body of the same piece over and over, which lets others run in between.
struct Endless {
    piece: &'static [u8],
    sent: Arc<Sent>,
    pause: bool,
}

impl Endless {
    fn of(piece: &'static [u8], sent: &Arc<Sent>) -> Body {
        Body::new(Endless { piece, sent: Arc::clone(sent), pause: false })
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.sent.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.pause = !self.pause;
        if self.pause {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.sent.bytes.fetch_add(self.piece.len(), Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(self.piece)))))
    }
}
