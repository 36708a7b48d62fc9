//! The process that serves: opens the store, accepts connections, and ends them in good order.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use inbox::blobs::Blobs;
use inbox::due::Worker;
use inbox::ids::Ids;
use inbox::time::SystemClock;
use inbox::uploads::Scanner;
use inbox::{App, Limiter, share_rates};
use mail::smtp::Protocol;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::authentication::DnsAuthenticator;
use crate::courier::{Gate, WebCourier, system_roots};
use crate::dns_health::DnsHealth;
use crate::doors::MailWays;
use crate::health::Readiness;
use crate::imap::{Fetchers, Pace};
use crate::relay::Target;
use crate::services::HttpReader;
use crate::settings::Settings;
use crate::smtp::{self, Door, Doors};
use crate::storage_check::{FREE_BYTES_LEAST, StorageCheck};
use crate::vault::Vault;
use crate::web::Peer;
use crate::{doors, health, node_files, metrics, reader, services};

/// Connections served at once; further ones wait to be accepted.
const CONNECTIONS: usize = 10_000;
/// A client must have sent its request's head by then.
const HEAD_SECONDS: u64 = 30;
/// What is read of a connection at one time, in bytes; a request's head must fit in it.
const READ_BYTES: usize = 64 * 1024;
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
    let app = App {
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(Ids::random()),
        blobs,
        limiter: Arc::new(Limiter::new(settings.rate_per_minute)),
        scanner: settings.clamd.clone().map(|clamd| Arc::new(clamd) as Arc<dyn Scanner>),
        public_url: public_url.into(),
    };
    node_files::check(settings, &app)?;
    Ok(app)
}

/// Says what to do where nobody can sign in yet.
pub async fn warn_without_workspace(app: &App) -> Result<(), String> {
    let workspaces = app.store.read(inbox::people::list_workspaces).await;
    if workspaces.map_err(|error| error.to_string())?.is_empty() {
        tracing::warn!(
            "there is no workspace yet, so nobody can sign in and no mail is taken in: make one \
             with `mailroom setup --workspace NAME --owner-email ADDRESS --owner-name NAME \
             --inbox ADDRESS --inbox-name NAME`"
        );
    }
    Ok(())
}

/// Takes the listen address; answers it with the port that was given.
pub async fn listen(settings: &Settings) -> Result<(TcpListener, String), String> {
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", settings.listen))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok((listener, format!("http://{address}")))
}

/// Opens the ways out: the relay for mail, the courier for events, the reader of documents.
pub fn open_worker(settings: &Settings, app: &App) -> Result<Worker, String> {
    let relay = settings.relay.open(settings)?;
    if settings.relay == Target::Nowhere {
        tracing::warn!("no relay is configured (MAILROOM_RELAY): outgoing mail waits");
    }
    let courier = WebCourier::of(settings)?;
    let word_reader = HttpReader::new(Vault::open(&settings.data, &app.ids)?)?;
    let worker = Worker::new(app.clone(), relay, Arc::new(courier), reader::of(settings)?);
    Ok(worker.reading_with(Arc::new(word_reader)))
}

/// Those who fetch mail from mailboxes elsewhere.
fn open_fetchers(settings: &Settings, app: &App) -> Result<Fetchers, String> {
    let authenticator = Arc::new(DnsAuthenticator::of(settings)?);
    let vault = Vault::open(&settings.data, &app.ids)?;
    Fetchers::new(app.clone(), authenticator, vault, system_roots(), Pace::default())
}

/// The doors for mail, open, and who stands at them.
pub struct MailIn {
    doors: Doors,
    open: Vec<Door>,
}

/// Opens the doors that the settings name.
pub async fn open_mail(settings: &Settings, app: &App) -> Result<MailIn, String> {
    let places = [(&settings.smtp_listen, Protocol::Smtp), (&settings.lmtp_listen, Protocol::Lmtp)];
    let mut open = Vec::new();
    for (place, protocol) in places {
        open.extend(Door::open(place, protocol).await?);
    }
    let name = our_name(&app.public_url);
    let authenticator = Arc::new(DnsAuthenticator::of(settings)?);
    let tls = smtp::certificate(settings, &name)?;
    let (trusted, limits) = (settings.trusted_networks.clone(), smtp::Limits::default());
    let doors = Doors::new(app.clone(), authenticator, tls, &name, trusted, limits);
    Ok(MailIn { doors, open })
}

impl MailIn {
    /// Where mail can be sent to by SMTP.
    pub fn smtp_address(&self) -> Option<SocketAddr> {
        self.open.iter().find(|door| door.protocol() == Protocol::Smtp).and_then(Door::address)
    }
}

/// The name in the address by which the service is reached.
fn our_name(public_url: &str) -> String {
    match url::Url::parse(public_url).ok().and_then(|url| url.domain().map(str::to_owned)) {
        Some(name) => name,
        None => "localhost".to_owned(),
    }
}

/// Serves the API and the app, takes mail in and does what falls due until `stop` is ready; what is
/// in flight is finished.
pub async fn serve(
    listener: TcpListener,
    app: App,
    worker: Worker,
    mail: MailIn,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let stopping = CancellationToken::new();
    if let Some(address) = settings.metrics_listen {
        let (listener, stopping) = (TcpListener::bind(address).await?, stopping.clone());
        tokio::spawn(async move {
            if let Err(error) = metrics::serve(listener, stopping.cancelled_owned()).await {
                tracing::error!(%error, "metrics are not served");
            }
        });
    }
    let due_work = tokio::spawn({
        let stopping = stopping.clone();
        async move { worker.run(stopping.cancelled_owned()).await }
    });
    let fetchers = open_fetchers(settings, &app).map_err(io::Error::other)?;
    let fetching = tokio::spawn({
        let stopping = stopping.clone();
        async move { fetchers.run(stopping.cancelled_owned()).await }
    });
    tokio::spawn({
        let (app, stopping) = (app.clone(), stopping.clone());
        async move { share_rates(&app, &stopping).await }
    });
    let vault = Vault::open(&settings.data, &app.ids).map_err(io::Error::other)?;
    let storage = StorageCheck::new(app.clone(), &settings.data, &settings.blobs, FREE_BYTES_LEAST);
    let dns = DnsHealth::of(settings.dns);
    let readiness = Readiness { app: app.clone(), storage, dns };
    let router = health::router(readiness).merge(services::router(app.clone(), vault));
    let mail_in = tokio::spawn(mail.doors.serve(mail.open, stopping.clone().cancelled_owned()));
    let options = doors::Options {
        developer_site: settings.developer_site.clone(),
        gate: Gate::of(settings).map_err(io::Error::other)?,
        mails: settings.relay.reaches_people(),
        ways: MailWays::of(settings),
    };
    let router = router.merge(doors::router(app, options));
    let served = serve_router(listener, router, stop).await;
    stopping.cancel();
    // The doors have their own patience with what is in flight.
    let _ = mail_in.await;
    let goodbyes = async { tokio::join!(due_work, fetching) };
    if tokio::time::timeout(Duration::from_secs(GOODBYE_SECONDS), goodbyes).await.is_err() {
        tracing::warn!("some due work did not finish in time; its claims will lapse");
    }
    served
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
        .max_buf_size(READ_BYTES)
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
