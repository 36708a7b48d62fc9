//! Any bytes as what an IMAP server says, in pieces of any size, while a mailbox is opened and read.
#![no_main]

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use inbound::imap::{ImapServer, PostFetchAction, Security};
use libfuzzer_sys::fuzz_target;
use transport::imap_client::{Folder, ImapConnection, ImapCredential, ImapTimeouts, ImapWire};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, said) = input;
    let script = Script { said: said.to_vec(), at: 0, piece: usize::from(piece).max(1) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(talk(script));
});

async fn talk(script: Script) {
    let long = Duration::from_secs(60);
    let timeouts = ImapTimeouts { connecting: long, answering: long, downloading: long };
    let server = ImapServer {
        host: "imap.example".into(),
        port: 993,
        security: Security::Tls,
        username: "a".into(),
        folder: "INBOX".into(),
        by_operator: false,
    };
    let mut line = ImapConnection::new(ImapWire::new(script));
    if line.greeting().await.is_err() {
        return;
    }
    let credential = ImapCredential::Password("b");
    let opened = Folder::open(line, &server, credential, &PostFetchAction::Seen, timeouts).await;
    let Ok(mut folder) = opened else { return };
    if let Ok(uids) = folder.uids_after(0).await {
        let _ = folder.outlines(&uids[..uids.len().min(10)]).await;
    }
    let _ = folder.mail(1, 1_000).await;
    let _ = folder.find_sent().await;
}

/// Says what it has, however it is asked.
struct Script {
    said: Vec<u8>,
    at: usize,
    piece: usize,
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let end = self.said.len().min(self.at + self.piece.min(buffer.remaining()));
        buffer.put_slice(&self.said[self.at..end]);
        self.at = end;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
