//! The HTTP server: accepting connections, timeouts, and graceful shutdown.
//!
//! A connection is closed when the client exceeds a timeout: for the first byte, for a request's
//! head, or for reading a response. There is no timeout while the client waits for the server, so
//! live pages stay open.

mod activity;
mod client;
mod connections;
pub mod download;
mod handshake;
mod limits;
pub mod redirect;
pub mod request_body;
pub mod request_log;
pub mod secure_listeners;
pub mod slots;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use metrics::counter;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::acme::challenges::ChallengeAnswers;
use crate::net::listen_address::Networks;
use crate::net::listening::AcceptPause;
use crate::net::tls_certificate::TlsCertificate;
use activity::{WatchedBody, WatchedStream};
pub use client::{ClientNetwork, Peer};
use connections::{Admission, HttpConnections};
pub use limits::HttpLimits;

/// The read buffer in bytes; a request's head must fit in it.
const READ_BYTES: usize = 64 * 1024;
/// Concurrent requests of one HTTP/2 connection.
const STREAMS: u32 = 100;
/// The HTTP/2 flow-control windows per request and per connection, in bytes.
const STREAM_BYTES: u32 = 128 * 1024;
const CONNECTION_BYTES: u32 = 256 * 1024;

/// Ready when the server stops, to end endless responses.
#[derive(Clone)]
pub struct Stopping(pub CancellationToken);

/// How HTTP is served.
#[derive(Clone)]
pub struct HttpServer {
    /// The listener's name in the metrics.
    pub listener: &'static str,
    pub limits: HttpLimits,
    /// Where the proxies are that speak for clients, beside this machine.
    pub proxies: Arc<Networks>,
    /// The certificate of HTTPS; without it the listener speaks HTTP.
    pub tls: Option<Arc<TlsCertificate>>,
    /// Who answers the certificate authority that asks in a handshake.
    pub challenges: Option<ChallengeAnswers>,
}

/// State shared by all connections.
struct Serving {
    server: HttpServer,
    router: Router,
    connections: Arc<HttpConnections>,
    stopping: CancellationToken,
    /// Aborts connections after the grace period.
    over: CancellationToken,
}

impl Default for HttpServer {
    fn default() -> HttpServer {
        let (limits, proxies) = (HttpLimits::default(), Arc::default());
        HttpServer { listener: "app", limits, proxies, tls: None, challenges: None }
    }
}

impl HttpServer {
    /// Serves until `stop` is ready. Running requests then have a grace period; endless responses
    /// end at once.
    pub async fn serve(
        self,
        listener: TcpListener,
        router: Router,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let grace = self.limits.grace;
        let serving = Arc::new(Serving {
            connections: HttpConnections::new(self.listener, &self.limits),
            server: self,
            router,
            stopping: CancellationToken::new(),
            over: CancellationToken::new(),
        });
        let tasks = TaskTracker::new();
        accept(&serving, &listener, &tasks, stop).await;
        drop(listener);
        serving.stopping.cancel();
        tasks.close();
        if timeout(grace, tasks.wait()).await.is_err() {
            tracing::warn!("some requests did not finish before shutdown");
            serving.over.cancel();
        }
        Ok(())
    }
}

async fn accept(
    serving: &Arc<Serving>,
    listener: &TcpListener,
    tasks: &TaskTracker,
    stop: impl Future<Output = ()>,
) {
    let mut stop = pin!(stop);
    let mut pause = AcceptPause::new("HTTP");
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => return,
        };
        match accepted {
            Ok((stream, address)) => serving.admit(stream, address, tasks),
            Err(error) => {
                serving.connections.make_room();
                tokio::select! {
                    () = pause.after(&error) => {}
                    () = &mut stop => return,
                }
            }
        }
    }
}

impl Serving {
    fn admit(self: &Arc<Self>, stream: TcpStream, address: SocketAddr, tasks: &TaskTracker) {
        let peer = Peer::new(address.ip(), Arc::clone(&self.server.proxies));
        let network = (!peer.is_proxy()).then(|| peer.network());
        let Some(admission) = self.connections.admit(network) else { return };
        let serving = Arc::clone(self);
        tasks.spawn(async move {
            let evicted = admission.evicted.clone();
            tokio::select! {
                () = serving.converse(stream, peer, &admission) => {}
                () = evicted.cancelled() => {}
                () = serving.over.cancelled() => {}
            }
        });
    }

    async fn converse(&self, stream: TcpStream, peer: Peer, admission: &Admission) {
        let limits = &self.server.limits;
        let _ = stream.set_nodelay(true);
        // No HTTP state is allocated before the client's first byte.
        let mut first = [0];
        tokio::select! {
            heard = timeout(limits.first_byte, stream.peek(&mut first)) => {
                if !matches!(heard, Ok(Ok(1..))) {
                    return log_closing("first_byte");
                }
            }
            () = self.stopping.cancelled() => return,
        }
        let Some(certificate) = &self.server.tls else {
            return self.exchange(stream, peer, admission).await;
        };
        let handshake = handshake::accept(stream, certificate, self.server.challenges.as_ref());
        tokio::select! {
            done = timeout(limits.first_head, handshake) => match done {
                Ok(Some(stream)) => self.exchange(stream, peer, admission).await,
                // Broken off, no TLS that we speak, or a question that was answered.
                Ok(None) => {}
                Err(_) => log_closing("handshake"),
            },
            () = self.stopping.cancelled() => {}
        }
    }

    /// Answers the requests of a connection.
    async fn exchange<S>(&self, stream: S, peer: Peer, admission: &Admission)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limits = &self.server.limits;
        let activity = Arc::clone(&admission.activity);
        let stream = TokioIo::new(WatchedStream::new(stream, Arc::clone(&activity)));
        let service = service_fn(|request| self.answer(request, &peer, admission));
        let builder = self.builder();
        let mut connection = pin!(builder.serve_connection(stream, service));
        loop {
            // Looked at again after the idle time, because a request changes the deadline.
            let deadline = activity.deadline(limits.first_head, limits.idle);
            let look = deadline.min(Instant::now() + limits.idle);
            tokio::select! {
                biased;
                // Client disconnects and protocol errors are not logged.
                _ = connection.as_mut() => return,
                () = self.stopping.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                    return;
                }
                () = sleep_until(look) => {
                    if activity.deadline(limits.first_head, limits.idle) <= Instant::now() {
                        return log_closing("idle");
                    }
                }
            }
        }
    }

    fn builder(&self) -> auto::Builder<TokioExecutor> {
        let limits = &self.server.limits;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.next_head)
            .max_buf_size(READ_BYTES)
            .pipeline_flush(true);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(limits.ping)
            .keep_alive_timeout(limits.ping)
            .max_concurrent_streams(STREAMS)
            .initial_stream_window_size(STREAM_BYTES)
            .initial_connection_window_size(CONNECTION_BYTES);
        builder
    }

    fn answer(
        &self,
        mut request: Request<Incoming>,
        peer: &Peer,
        admission: &Admission,
    ) -> impl Future<Output = Result<Response<WatchedBody>, Infallible>> + Send + use<> {
        let activity = Arc::clone(&admission.activity);
        let (turn, first) = activity.request();
        if first {
            admission.note_request();
        }
        let extensions = request.extensions_mut();
        extensions.insert(peer.clone());
        extensions.insert(Stopping(self.stopping.clone()));
        let mut router = self.router.clone();
        async move {
            let response = Service::call(&mut router, request).await?;
            // Before the turn ends, so that the connection is never taken for an idle one.
            let response = response.map(|body: Body| WatchedBody::new(body, activity));
            drop(turn);
            Ok(response)
        }
    }
}

fn log_closing(deadline: &'static str) {
    counter!("mailroom_http_connections_timed_out_total", "deadline" => deadline).increment(1);
}
