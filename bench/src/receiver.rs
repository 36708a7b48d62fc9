//! Where webhooks lead: a receiver that answers at once, and three that misbehave.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, combinators::BoxBody};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::{Interval, interval};

/// Paths of the receivers that misbehave; every other path answers 200 at once.
pub const HANGING: &str = "/hanging";
pub const DRIPPING: &str = "/dripping";
pub const ENDLESS: &str = "/gigabyte";

/// A body of this many bytes comes from the last.
const GIGABYTE: u64 = 1 << 30;
const PIECE: &[u8] = &[b'x'; 16 * 1024];
/// The wait between two bytes of a dripping body.
const DRIP: Duration = Duration::from_millis(500);
/// What the system may hold of a body that nobody reads: the load shares the machine's cores, and
/// filling larger buffers for nothing would be the receiver's work, not the server's.
const SEND_BUFFER_BYTES: u32 = 64 * 1024;
const BACKLOG: u32 = 1_024;

/// Told of every event that came whole to a receiver in good order: its path and its body.
pub type EventListener = dyn Fn(&str, &Bytes) + Send + Sync;

/// Listens until the process ends, on a thread of its own.
pub fn start(told: Arc<EventListener>) -> Result<SocketAddr, String> {
    let (listening, address) = mpsc::channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    thread::spawn(move || {
        runtime.block_on(async {
            let listener = listen();
            let _ = listening.send(
                listener
                    .as_ref()
                    .map_err(|error| error.to_string())
                    .and_then(|listener| listener.local_addr().map_err(|error| error.to_string())),
            );
            if let Ok(listener) = listener {
                accept(listener, told).await;
            }
        });
    });
    address.recv().map_err(|error| error.to_string())?
}

fn listen() -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(BACKLOG)
}

async fn accept(listener: TcpListener, told: Arc<EventListener>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let told = told.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, &told));
            // A caller that breaks off has had what it wanted.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    told: &Arc<EventListener>,
) -> Result<Response<BoxBody<Bytes, Infallible>>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    Ok(match path.as_str() {
        HANGING => std::future::pending().await,
        DRIPPING => Response::new(Dripping(interval(DRIP)).boxed()),
        ENDLESS => Response::new(Endless(GIGABYTE).boxed()),
        path => {
            told(path, &body);
            Response::new(Empty::new().boxed())
        }
    })
}

/// A byte, and a while later another.
struct Dripping(Interval);

impl Body for Dripping {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_tick(context).map(|_| Some(Ok(Frame::data(Bytes::from_static(b".")))))
    }
}

/// So many bytes more.
struct Endless(u64);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let more = self.0 > 0;
        self.0 = self.0.saturating_sub(PIECE.len() as u64);
        Poll::Ready(more.then(|| Ok(Frame::data(Bytes::from_static(PIECE)))))
    }
}
