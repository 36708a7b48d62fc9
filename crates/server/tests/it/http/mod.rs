//! HTTP over real sockets: silent clients, many of them, and a server that stops.

mod challenges;
mod deadlines;
mod https;
mod program;
mod stopping;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use transport::http::{HttpLimits, HttpServer, Stopping};

use crate::support::pieces;

/// What a test waits for from a real socket comes within this long, or never.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Short enough that a test does not wait long.
pub const SHORT: Duration = Duration::from_millis(200);
/// Long enough that nothing but the rule under test ends a connection.
pub const LONG: Duration = Duration::from_secs(3_600);

/// No deadline but those that a test sets.
pub fn patient() -> HttpLimits {
    HttpLimits {
        first_byte: LONG,
        first_head: LONG,
        next_head: LONG,
        idle: LONG,
        ping: LONG,
        grace: SHORT,
        connections: 100,
        connections_each: 100,
        waiting: 100,
    }
}

/// A server of a few addresses: a short answer, a long one, one that comes in pieces, one that ends
/// only with the server, and one that never comes.
pub struct TestServer {
    pub address: SocketAddr,
    /// Lets the next piece of an answer come.
    pub next_piece: Arc<Notify>,
    stopping: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

impl TestServer {
    pub async fn start(limits: HttpLimits) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let next_piece = Arc::new(Notify::new());
        let (stopping, told) = (CancellationToken::new(), Arc::clone(&next_piece));
        let router = Router::new()
            .route("/short", get(|| async { "short" }))
            .route("/long", get(|| async { vec![b'x'; 64 * 1024 * 1024] }))
            .route("/pieces", get(move || async move { in_pieces(told) }))
            .route("/endless", get(|axum::Extension(Stopping(end))| async { until(end) }))
            .route("/never", get(std::future::pending::<()>));
        let server = HttpServer { limits, ..HttpServer::default() };
        let serving =
            tokio::spawn(server.serve(listener, router, stopping.clone().cancelled_owned()));
        TestServer { address, next_piece, stopping, serving }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A client that has asked for an address, and heard the head of its answer.
    pub async fn asks(&self, path: &str) -> TcpStream {
        let mut client = self.connect().await;
        ask(&mut client, path).await;
        client
    }

    /// Stops it; what it still does after that is waited for.
    pub async fn stop(self) {
        self.stopping.cancel();
        timeout(PATIENCE, self.serving).await.expect("it ends").unwrap().unwrap();
    }
}

fn in_pieces(told: Arc<Notify>) -> Body {
    let (sender, body) = pieces();
    tokio::spawn(async move {
        loop {
            told.notified().await;
            if sender.send(Ok("piece".into())).await.is_err() {
                return;
            }
        }
    });
    body
}

fn until(end: CancellationToken) -> Body {
    let (sender, body) = pieces();
    tokio::spawn(async move {
        end.cancelled().await;
        drop(sender);
    });
    body
}

pub async fn ask(client: &mut TcpStream, path: &str) {
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    hears(client, "HTTP/1.1 200 ").await;
}

/// Waits for words.
pub async fn hears(client: &mut TcpStream, words: &str) {
    let mut heard = Vec::new();
    let listening = async {
        while !String::from_utf8_lossy(&heard).contains(words) {
            let mut piece = [0; 1];
            let count = client.read(&mut piece).await.unwrap();
            assert_ne!(count, 0, "{words:?} never came: {}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&piece);
        }
    };
    timeout(PATIENCE, listening).await.expect("it comes");
}

/// Reads until the server hangs up.
pub async fn is_over(client: &mut TcpStream) {
    let reading = async {
        let mut piece = vec![0; 64 * 1024];
        while client.read(&mut piece).await.is_ok_and(|count| count > 0) {}
    };
    timeout(PATIENCE, reading).await.expect("it is hung up on");
}
