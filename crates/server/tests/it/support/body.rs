//! Request bodies that arrive in pieces.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::Frame;
use tokio::sync::mpsc::{Receiver, Sender};

/// A body whose pieces the test hands out.
struct Pieces(Receiver<std::io::Result<Bytes>>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// A body that goes on for as long as the other end of the channel is there.
pub fn pieces() -> (Sender<std::io::Result<Bytes>>, Body) {
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    (sender, Body::new(Pieces(receiver)))
}
