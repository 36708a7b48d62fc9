//! Connections are kept for the next event, and given up in time.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::receiver::{Authority, HTTP1, HTTP2, Receiver, answer, write};
use super::*;
use crate::support::eventually;

#[tokio::test]
async fn events_in_a_row_share_one_connection() {
    for protocols in [HTTP1, HTTP2] {
        let authority = Authority::new();
        let receiver = Receiver::answering(&authority, protocols, || answer(200, "thanks")).await;
        let webhook_sender = courier_outside(&authority, LONG);
        for _ in 0..50 {
            assert_eq!(post(&webhook_sender, receiver.url()).await, status(200, "thanks"));
        }
        assert_eq!((receiver.seen().len(), receiver.connections()), (50, 1));
    }
}

#[tokio::test]
async fn events_at_once_are_all_answered() {
    for protocols in [HTTP1, HTTP2] {
        let authority = Authority::new();
        let receiver = Receiver::answering(&authority, protocols, || answer(200, "")).await;
        let webhook_sender = Arc::new(courier_outside(&authority, LONG));
        let calls: Vec<_> = (0..100)
            .map(|_| {
                let (webhook_sender, url) = (Arc::clone(&webhook_sender), receiver.url());
                tokio::spawn(async move { post(&webhook_sender, url).await })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap(), status(200, ""));
        }
        assert_eq!(receiver.seen().len(), 100);
    }
}

#[tokio::test]
async fn a_connection_that_the_receiver_has_closed_is_not_used_again() {
    let authority = Authority::new();
    let closed = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&closed);
    let receiver = Receiver::scripted(&authority, move |mut stream| {
        let count = Arc::clone(&count);
        async move {
            write(&mut stream, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            let _ = stream.shutdown().await;
            // The sender has noticed when it hangs up as well.
            let _ = stream.read_to_end(&mut Vec::new()).await;
            count.fetch_add(1, Ordering::SeqCst);
        }
    })
    .await;
    let webhook_sender = courier_outside(&authority, LONG);
    for events in 1..=3 {
        assert_eq!(post(&webhook_sender, receiver.url()).await, status(200, ""));
        eventually(async || closed.load(Ordering::SeqCst) == events).await;
    }
    assert_eq!(receiver.connections(), 3);
}
