//! The IMAP byte stream, with limits on what is read.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::framing::ResponseFraming;

/// Anything bytes go over.
pub trait ImapTransport: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ImapTransport for T {}

/// A stream with a read limit, because a response is buffered in memory until it is complete. It hands
/// over whole lines only, because the reader behind it parses a response from its beginning with each
/// piece that arrives.
pub struct ImapWire {
    stream: Box<dyn ImapTransport>,
    allowance: u64,
    framing: ResponseFraming,
    /// Where a piece is read into.
    piece: Vec<u8>,
    /// What was read and not handed over.
    held: Vec<u8>,
    /// Bytes of it that may be handed over.
    whole: usize,
    /// Bytes handed over since others had their turn.
    burst: usize,
    ended: bool,
}

/// Bytes of the responses to one command, unless a larger limit was set.
pub const ANSWER_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that are read at once.
const PIECE_BYTES: usize = 8 * 1024;
/// Bytes that are handed over at once, before other work of the thread has its turn.
const BURST_BYTES: usize = 256 * 1024;

impl ImapWire {
    pub fn new(stream: impl ImapTransport + 'static) -> ImapWire {
        ImapWire {
            stream: Box::new(stream),
            allowance: ANSWER_BYTES,
            framing: ResponseFraming::default(),
            piece: vec![0; PIECE_BYTES],
            held: Vec::new(),
            whole: 0,
            burst: 0,
            ended: false,
        }
    }

    /// The stream underneath.
    pub fn into_stream(self) -> Box<dyn ImapTransport> {
        self.stream
    }

    /// Allows so many bytes from here on.
    pub fn allow(&mut self, bytes: u64) {
        self.allowance = bytes;
    }

    /// Reads on until something may be handed over, or the stream ends.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.whole == 0 && !self.ended {
            let mut buffer = ReadBuf::new(&mut self.piece);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            let length = buffer.filled().len();
            let read = &mut self.piece[..length];
            if read.is_empty() {
                // The reader tells an end within a response from one between two.
                (self.ended, self.whole) = (true, self.held.len());
                break;
            }
            match self.allowance.checked_sub(read.len() as u64) {
                Some(left) => self.allowance = left,
                None => return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into())),
            }
            let whole = self.framing.take(read);
            let whole = whole.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            if whole > 0 {
                self.whole = self.held.len() + whole;
            }
            self.held.extend_from_slice(read);
        }
        Poll::Ready(Ok(()))
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
        if self.burst >= BURST_BYTES {
            self.burst = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        ready!(self.poll_fill(cx))?;
        let length = self.whole.min(buffer.remaining());
        buffer.put_slice(&self.held[..length]);
        self.held.drain(..length);
        self.whole -= length;
        self.burst += length;
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
