//! The process that serves: opens the store, accepts connections, and ends them in good order.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use inbox::blobs::Blobs;
use inbox::ids::Ids;
use inbox::time::SystemClock;
use inbox::{App, Limiter};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;

use crate::doors;
use crate::settings::Settings;
use crate::web::Peer;

/// Connections served at once; further ones wait to be accepted.
const CONNECTIONS: usize = 10_000;
/// A client must have sent its request's head by then.
const HEAD_SECONDS: u64 = 30;
/// What is in flight at shutdown has this long to finish.
const GOODBYE_SECONDS: u64 = 20;

/// Opens everything that operations stand on.
pub fn open_app(settings: &Settings, public_url: &str) -> Result<App, String> {
    std::fs::create_dir_all(&settings.data)
        .map_err(|error| format!("{}: {error}", settings.data.display()))?;
    let options = db::Options { commit_batch: settings.commit_batch, ..db::Options::default() };
    let store = db::Store::open(&settings.database_url, &options, inbox::MIGRATIONS)
        .map_err(|error| format!("the database cannot be opened: {error}"))?;
    let blobs = Blobs::open(&settings.blobs)
        .map_err(|error| format!("{}: {error}", settings.blobs.display()))?;
    Ok(App {
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(Ids::random()),
        blobs,
        limiter: Arc::new(Limiter::new(settings.rate_per_minute)),
        public_url: public_url.into(),
    })
}

/// Takes the listen address; answers it with the port that was given.
pub async fn listen(settings: &Settings) -> Result<(TcpListener, String), String> {
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", settings.listen))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok((listener, format!("http://{address}")))
}

/// Serves the API and the app until `stop` is ready.
pub async fn serve(
    listener: TcpListener,
    app: App,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let options = doors::Options {
        developer_site: settings.developer_site.clone(),
        webhooks_allow_private: settings.webhooks_allow_private,
    };
    serve_router(listener, doors::router(app, options), stop).await
}

/// Serves until `stop` is ready, then lets what is in flight finish.
pub async fn serve_router(
    listener: TcpListener,
    router: axum::Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut stop => break,
        };
        let Ok(place) = place else { break };
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => (stream, Peer(address.ip())),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        serve_connection(stream, peer, router.clone(), place, &graceful);
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(Duration::from_secs(GOODBYE_SECONDS)) => {
            tracing::warn!("some requests did not finish in time");
        }
    }
    Ok(())
}

fn serve_connection(
    stream: TcpStream,
    peer: Peer,
    router: axum::Router,
    place: OwnedSemaphorePermit,
    graceful: &GracefulShutdown,
) {
    let _ = stream.set_nodelay(true);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(HEAD_SECONDS))
        .pipeline_flush(true);
    builder.http2().timer(TokioTimer::new());
    let router = router.map_request(move |mut request: axum::http::Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request
    });
    let connection = builder
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .into_owned();
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        // A client that breaks off or breaks the protocol concerns nobody else.
        let _ = connection.await;
        drop(place);
    });
}

/// Ready when the process is asked to stop.
pub async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
