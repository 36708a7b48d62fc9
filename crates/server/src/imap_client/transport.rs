//! The IMAP byte stream, with a limit on the bytes read.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Anything bytes go over.
pub trait ImapTransport: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ImapTransport for T {}

/// A stream with a read limit, because a response is buffered in memory until it is complete.
pub struct ImapWire {
    stream: Box<dyn ImapTransport>,
    allowance: u64,
}

/// Bytes of the responses to one command, unless a larger limit was set.
pub const ANSWER_BYTES: u64 = 4 * 1024 * 1024;

impl ImapWire {
    pub fn new(stream: impl ImapTransport + 'static) -> ImapWire {
        ImapWire { stream: Box::new(stream), allowance: ANSWER_BYTES }
    }

    /// The stream underneath.
    pub fn into_stream(self) -> Box<dyn ImapTransport> {
        self.stream
    }

    /// Allows so many bytes from here on.
    pub fn allow(&mut self, bytes: u64) {
        self.allowance = bytes;
    }
}

impl fmt::Debug for ImapWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wire")
    }
}

impl AsyncRead for ImapWire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let read = (buffer.filled().len() - before) as u64;
        match self.allowance.checked_sub(read) {
            Some(left) => self.allowance = left,
            None => return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into())),
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ImapWire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
