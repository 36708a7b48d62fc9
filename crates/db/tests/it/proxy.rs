//! A network between a store and its PostgreSQL that a test can cut or stall.

use std::net::SocketAddr;

use db::StoreError;
use postgres::config::Host;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::harness::Database;

/// Bytes that are passed on at one time.
const PIECE_BYTES: usize = 16 * 1024;

pub struct Proxy {
    pub url: String,
    address: SocketAddr,
    server: Server,
    passing: watch::Sender<bool>,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

#[derive(Clone)]
enum Server {
    Unix(std::path::PathBuf),
    Tcp(String),
}

impl Proxy {
    pub async fn before(db: &Database) -> Proxy {
        let config = db.server();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let server = match config.get_hosts().first().unwrap() {
            Host::Unix(folder) => Server::Unix(folder.join(format!(".s.PGSQL.{port}"))),
            Host::Tcp(name) => Server::Tcp(format!("{name}:{port}")),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let user = config.get_user().unwrap();
        let url = format!("postgres://{user}@{address}/{}", db.name());
        let passing = watch::Sender::new(true);
        let mut proxy = Proxy { url, address, server, passing, serving: None };
        proxy.serve(listener);
        proxy
    }

    /// Every connection breaks off and none can be made.
    pub async fn cut(&mut self) {
        let (stop, serving) = self.serving.take().unwrap();
        stop.send(()).unwrap();
        serving.await.unwrap();
    }

    /// Connections can be made again.
    pub async fn mend(&mut self) {
        self.serve(TcpListener::bind(self.address).await.unwrap());
    }

    /// Connections stay, and can be made, but nothing comes through.
    pub fn stall(&self) {
        self.passing.send_replace(false);
    }

    /// What was held back comes through.
    pub fn pass(&self) {
        self.passing.send_replace(true);
    }

    fn serve(&mut self, listener: TcpListener) {
        let (server, passing) = (self.server.clone(), self.passing.subscribe());
        let (stop, mut stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let client = accepted.unwrap().0;
                        connections.spawn(connect(client, server.clone(), passing.clone()));
                    }
                    _ = &mut stopped => break,
                }
            }
            drop(listener);
            connections.shutdown().await;
        });
        self.serving = Some((stop, serving));
    }
}

async fn connect(client: TcpStream, server: Server, passing: watch::Receiver<bool>) {
    match server {
        Server::Unix(path) => {
            let (from, to) = UnixStream::connect(path).await.unwrap().into_split();
            join(client, from, to, passing).await;
        }
        Server::Tcp(name) => {
            let (from, to) = TcpStream::connect(name).await.unwrap().into_split();
            join(client, from, to, passing).await;
        }
    }
}

async fn join(
    client: TcpStream,
    from_server: impl AsyncRead + Unpin,
    to_server: impl AsyncWrite + Unpin,
    passing: watch::Receiver<bool>,
) {
    let (from_client, to_client) = client.into_split();
    tokio::select! {
        () = copy(from_client, to_server, passing.clone()) => {}
        () = copy(from_server, to_client, passing) => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut passing: watch::Receiver<bool>,
) {
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        let open = passing.wait_for(|passing| *passing).await.is_ok();
        if !open || to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}

/// True when a store said that the server is down.
pub fn is_outage<T>(result: &Result<T, StoreError>) -> bool {
    result.as_ref().is_err_and(StoreError::is_outage)
}
