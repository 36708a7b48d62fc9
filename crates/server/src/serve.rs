//! The process that serves: opens the store, accepts connections, and ends them in good order.

mod panel;
mod tasks;

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use actions::inboxes::setup;
use base::app::App;
use base::files::blob_files::BlobFiles;
use base::files::blobs::Blobs;
use base::files::private_files;
use base::files::scanner::Scanner;
use base::ids::Ids;
use base::mail_reading::MailReading;
use base::rate_limit::RateLimiter;
use base::time::SystemClock;
use document_reader as documents;
use jobs::Worker;
use mail::smtp::Protocol;
use node::health::{self, Readiness};
use node::quiet::{QuietConfig, QuietMode};
use node::storage_check::{FREE_BYTES_LEAST, StorageCheck};
use node::supervisor::Supervisor;
use node::vault::{KEY_FILE, Vault};
use node::{node_files, permissions};
use tokio::net::TcpListener;
use transport::acme::challenges::ChallengeAnswers;
use transport::calendars::HttpCalendarReader;
use transport::http::HttpServer;
use transport::http::secure_listeners::SecureListeners;
use transport::mail_oauth::{AccessTokens, MailboxTokens};
use transport::mail_out::dns_records::SendingSetup;
use transport::mail_out::{RelayConfig, RelayTarget, ServerConnectConfig};
use transport::mailbox_setup::MailboxFinder;
use transport::net::bucket::Bucket;
use transport::net::config::NetConfig;
use transport::net::descriptors::ConnectionBudget;
use transport::net::dns_health::DnsHealth;
use transport::net::host_guard::HostGuard;
use transport::net::http_client::system_roots;
use transport::net::https_fetch::Pages;
use transport::net::listening::cannot_listen;
use transport::net::ssrf_guard::SsrfGuard;
use transport::net::tls_certificate::{self, CertificateSource, TlsCertificate};
use transport::oidc::OidcClient;
use transport::reply_model::HttpReplyModel;
use transport::webhooks::HttpWebhookSender;
use web::{DemoVisits, FirstRun, Presence};

use crate::demo::public::PublicDemo;
use crate::mail_in::authentication::{AuthenticationConfig, DnsAuthenticator};
use crate::mail_in::imap::{Fetchers, ImapTiming};
use crate::mail_in::services::{self, HttpReader, SnsCalls};
use crate::mail_in::smtp::{self, MailListener, MailListeners};
use crate::router::{self, MailSetup};
use crate::settings::Settings;
use crate::tracker_calls;
use panel::PanelCalls;
use tasks::{
    start_backups, start_certificate_orders, start_due_work, start_metrics, start_sharing,
    start_watch,
};

pub use tasks::reload_on_hangup;

/// The grace period of running jobs at shutdown. After it their leases expire and they are
/// repeated.
const GRACE: Duration = Duration::from_secs(2);
/// The time that read marks and the like, which no response waits for, have afterwards.
const BACKGROUND_GRACE: Duration = Duration::from_millis(500);

/// The folder of the journals of mails that are being read, in the data folder.
const READING: &str = "reading";

/// Opens the dependencies of operations, and brings the schema up to date.
pub fn open_app(settings: &Settings, public_url: &str) -> Result<App, String> {
    open_with(settings, public_url, model::schema::MIGRATIONS)
}

/// The same with the schema as it is, so that a command that only reads changes nothing for a server
/// of an earlier version.
pub fn open_app_as_is(settings: &Settings) -> Result<App, String> {
    let version = db::Store::schema_version(&settings.database_url)
        .map_err(|error| cannot_open(settings, &error))?;
    if version == 0 {
        return Err("There is no installation in this database yet.".into());
    }
    let steps = model::schema::MIGRATIONS.iter().filter(|step| step.version <= version);
    let steps: Vec<db::Migration> = steps.copied().collect();
    open_with(settings, "", &steps)
}

fn open_with(
    settings: &Settings,
    public_url: &str,
    migrations: &[db::Migration],
) -> Result<App, String> {
    private_files::make_folder(&settings.data)
        .map_err(|error| format!("{}: {error}", settings.data.display()))?;
    let options =
        db::StoreOptions { commit_batch: settings.commit_batch, ..db::StoreOptions::default() };
    let store = db::Store::open(&settings.database_url, &options, migrations)
        .map_err(|error| cannot_open(settings, &error))?;
    let blobs = open_blobs(settings)?;
    let ids = Arc::new(Ids::random());
    let sealer =
        Arc::new(node_files::check(&settings.data, (&settings.blobs, &blobs), &store, &ids)?);
    Ok(App {
        store,
        clock: Arc::new(SystemClock),
        ids,
        blobs,
        reading: MailReading::new(
            &settings.data.join(READING),
            Arc::new(documents::SandboxedTrial::of_this_program()),
        ),
        limiter: Arc::new(RateLimiter::new(settings.rate_per_minute)),
        agents: Arc::default(),
        calls: Arc::default(),
        sorters: Arc::default(),
        panels: Arc::default(),
        background: base::concurrency::background_writes::BackgroundWrites::default(),
        scanner: settings.clamd.clone().map(|clamd| Arc::new(clamd) as Arc<dyn Scanner>),
        sealer,
        has_relay: settings.relay != RelayTarget::Nowhere,
        public_url: public_url.into(),
    })
}

/// Names the database, without its password, and why it cannot be opened.
fn cannot_open(settings: &Settings, error: &db::StoreError) -> String {
    match db::DatabaseUrl::parse(&settings.database_url) {
        Ok(url) => format!("the database cannot be opened: {url}: {error}"),
        Err(error) => format!("database_url: {error}"),
    }
}

/// Lets reports and the audit log be read from the standby that the settings name.
pub async fn with_replica(settings: &Settings, app: App) -> Result<App, String> {
    let Some(url) = &settings.database_replica_url else { return Ok(app) };
    let store = app.store.clone().with_replica(db::ReplicaOptions::at(url)).await;
    let store = store.map_err(|error| format!("database_replica_url: {error}"))?;
    Ok(App { store, ..app })
}

/// The blobs, in a bucket where the settings name one.
pub fn open_blobs(settings: &Settings) -> Result<Blobs, String> {
    let shared = match &settings.bucket {
        Some(config) => Some(Arc::new(Bucket::open(config)?) as Arc<dyn BlobFiles>),
        None => None,
    };
    Blobs::open_with(&settings.blobs, shared)
        .map_err(|error| format!("{}: {error}", settings.blobs.display()))
}

/// Where there is no workspace yet: the set-up in the browser, with the link to it.
pub async fn open_first_run(app: &App) -> Result<Option<(Arc<FirstRun>, String)>, String> {
    let workspaces = app.store.read(setup::list_workspaces).await;
    if !workspaces.map_err(|error| error.to_string())?.is_empty() {
        return Ok(None);
    }
    tracing::warn!(
        "there is no workspace yet, so nobody can sign in and no mail is taken in: make one with the \
         link that is printed, or with `mailroom setup --workspace NAME --owner-email ADDRESS \
         --owner-name NAME --inbox ADDRESS --inbox-name NAME`"
    );
    Ok(Some(FirstRun::begin(app)))
}

/// Seals the secrets that an earlier version kept as they were.
async fn seal_plain_secrets(app: &App) -> io::Result<()> {
    let sealed =
        model::installation::sealing::seal_plain_secrets(app).await.map_err(io::Error::other)?;
    if sealed > 0 {
        tracing::warn!(
            sealed,
            "secrets that were kept in the clear are sealed with secret.key from now on; backups \
             made before still hold them in the clear"
        );
    }
    Ok(())
}

/// Binds the listen address; returns it with the actual port.
pub async fn listen(settings: &Settings) -> Result<(TcpListener, String), String> {
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|error| cannot_listen("listen", &settings.listen, &error))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok((listener, reached_at(address)))
}

/// The URL under which a server that listens there is reached from the same machine.
pub fn reached_at(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

/// How the outside is reached.
pub fn net_config(settings: &Settings) -> NetConfig {
    NetConfig {
        dns: settings.dns,
        allow_private: settings.webhooks_allow_private,
        mail_allow_private: settings.mail_allow_private,
        sealed_off: settings.sealed_off,
    }
}

/// How mail is sent.
pub fn relay_config(settings: &Settings) -> RelayConfig {
    RelayConfig {
        target: settings.relay.clone(),
        public_url: settings.public_url.clone(),
        net: net_config(settings),
    }
}

fn authentication_config(settings: &Settings) -> AuthenticationConfig {
    AuthenticationConfig { dns: settings.dns, trusted_results: settings.trusted_results.clone() }
}

fn certificate_source(settings: &Settings) -> CertificateSource {
    match (settings.tls.clone(), &settings.acme) {
        (Some((cert, key)), _) => CertificateSource::Files { cert, key },
        (None, Some(_)) => CertificateSource::Ordered(settings.data.clone()),
        (None, None) => CertificateSource::SelfSigned(settings.data.clone()),
    }
}

fn mail_setup(settings: &Settings) -> MailSetup {
    MailSetup {
        smtp: settings.smtp_listen.clone(),
        lmtp: settings.lmtp_listen.clone(),
        sending: SendingSetup::of(&relay_config(settings)),
        writes_files: matches!(relay_config(settings).target, RelayTarget::Folder(_)),
        dns: settings.dns,
    }
}

/// Restricts the data to this process's user.
fn tighten_permissions(settings: &Settings) {
    let mut folders = vec![settings.data.clone(), settings.blobs.clone()];
    if let RelayTarget::Folder(folder) = &settings.relay {
        folders.push(folder.clone());
    }
    let mut files =
        vec![settings.data.join(KEY_FILE), settings.data.join(tls_certificate::OWN_FILE)];
    files.extend(permissions::database_files(&settings.database_url));
    permissions::tighten(&folders, &files);
}

/// Builds the services of the jobs: the relay, the sender of webhooks and push messages, the document
/// reader and the language model.
pub fn open_worker(settings: &Settings, app: &App) -> Result<Worker, String> {
    let relay = relay_config(settings).open_router(open_tokens(settings, app)?)?;
    if settings.relay == RelayTarget::Nowhere {
        tracing::warn!(
            "no relay is configured (MAILROOM_RELAY): mail of inboxes without an outgoing server of \
             their own waits"
        );
    }
    let webhook_sender = Arc::new(HttpWebhookSender::of(&net_config(settings))?);
    let app_mail_reader = HttpReader::new(Vault::open(&settings.data, &app.ids)?)?;
    let document_reader = documents::open_reader(settings.reader.as_ref())?;
    let worker = Worker::new(app.clone(), relay, webhook_sender.clone(), document_reader);
    let worker = worker.with_reader(Arc::new(app_mail_reader)).with_pushes(webhook_sender);
    let calendars = HttpCalendarReader::of(&net_config(settings))?;
    let worker = worker.with_calendars(Arc::new(calendars));
    Ok(match &settings.model {
        Some(endpoint) => worker.with_model(Arc::new(HttpReplyModel::open(endpoint)?)),
        None => worker,
    })
}

/// The access tokens of mailboxes that were signed in to at their provider.
fn open_tokens(settings: &Settings, app: &App) -> Result<Arc<dyn AccessTokens>, String> {
    Ok(Arc::new(MailboxTokens::new(app.clone(), settings.oauth_clients.clone())?))
}

/// The IMAP fetcher.
fn open_fetchers(settings: &Settings, app: &App) -> Result<Fetchers, String> {
    let authenticator = Arc::new(DnsAuthenticator::of(&authentication_config(settings))?);
    let vault = Vault::open(&settings.data, &app.ids)?;
    let guard = HostGuard::of(&net_config(settings))?;
    let (tokens, pace) = (open_tokens(settings, app)?, ImapTiming::default());
    Fetchers::new(app.clone(), authenticator, vault, tokens, system_roots(), guard, pace)
}

/// Finds the servers of mailboxes that people connect.
fn open_finder(
    settings: &Settings,
    dialling: ServerConnectConfig,
) -> Result<MailboxFinder, String> {
    let net = net_config(settings);
    // The configuration files of domains are fetched from public addresses only.
    let guard = SsrfGuard::of(&NetConfig { allow_private: false, ..net })?;
    MailboxFinder::new(settings.dns, guard, dialling)
}

/// The OpenID provider at which people sign in.
pub fn open_oidc(settings: &Settings) -> Result<Option<OidcClient>, String> {
    let Some(config) = settings.oidc.clone() else { return Ok(None) };
    let guard = SsrfGuard::of(&NetConfig { allow_private: false, ..net_config(settings) })?;
    OidcClient::new(config, guard, system_roots()).map(Some)
}

/// Verifies the calls of Amazon SNS.
fn open_sns(settings: &Settings) -> Result<SnsCalls, String> {
    let guard = SsrfGuard::of(&NetConfig { allow_private: false, ..net_config(settings) })?;
    let pages = Pages::new(guard, system_roots(), services::PAGE_TIME)?;
    Ok(SnsCalls::new(Arc::new(pages)))
}

/// The open listeners for mail.
pub struct MailIn {
    listeners: MailListeners,
    open: Vec<MailListener>,
    certificate: Arc<TlsCertificate>,
}

/// Opens the mail listeners that the settings name.
pub async fn open_mail(settings: &Settings, app: &App) -> Result<MailIn, String> {
    let places = [(&settings.smtp_listen, Protocol::Smtp), (&settings.lmtp_listen, Protocol::Lmtp)];
    let mut open = Vec::new();
    for (place, protocol) in places {
        open.extend(MailListener::open_for(place, protocol, settings.lmtp_socket).await?);
    }
    let name = our_name(&app.public_url);
    let authenticator = Arc::new(DnsAuthenticator::of(&authentication_config(settings))?);
    let tls = tls_certificate::certificate(&certificate_source(settings), &name)?;
    let connections = ConnectionBudget::current().mail;
    let limits = smtp::SmtpLimits { connections, ..smtp::SmtpLimits::default() };
    let (trusted, certificate) = (settings.trusted_networks.clone(), Arc::clone(&tls));
    let listeners = MailListeners::new(app.clone(), authenticator, tls, &name, trusted, limits);
    Ok(MailIn { listeners, open, certificate })
}

impl MailIn {
    /// Where mail can be sent to by SMTP.
    pub fn smtp_address(&self) -> Option<SocketAddr> {
        self.open
            .iter()
            .find(|listener| listener.protocol() == Protocol::Smtp)
            .and_then(MailListener::address)
    }

    /// The certificate of incoming SMTP.
    pub fn certificate(&self) -> Arc<TlsCertificate> {
        Arc::clone(&self.certificate)
    }
}

/// The name in the address by which the service is reached.
fn our_name(public_url: &str) -> String {
    match url::Url::parse(public_url).ok().and_then(|url| url.domain().map(str::to_owned)) {
        Some(name) => name,
        None => "localhost".to_owned(),
    }
}

/// What a server is made of, beside its store.
pub struct ServerParts {
    pub worker: Worker,
    pub mail: MailIn,
    /// The set-up in the browser, where there is no workspace yet.
    pub first_run: Option<Arc<FirstRun>>,
    /// A public demo, and what guards it.
    pub public_demo: Option<Arc<PublicDemo>>,
}

/// Runs HTTP, incoming mail and the jobs until `stop` is ready. They shut down together, with a
/// grace period for running work. Everything but HTTP is a supervised task; a panic of the HTTP listeners ends the
/// process, because nobody could ask it how it is.
pub async fn serve(
    listener: TcpListener,
    app: App,
    parts: ServerParts,
    settings: &Settings,
    tasks: &Supervisor,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let ServerParts { worker, mail, first_run, public_demo } = parts;
    tighten_permissions(settings);
    seal_plain_secrets(&app).await?;
    let stopping = tasks.stopping();
    let secure_listeners =
        SecureListeners::open(settings.https, &app.public_url, mail.certificate()).await?;
    start_metrics(settings, tasks).await.map_err(io::Error::other)?;
    tasks.start("certificate", {
        let certificate = mail.certificate();
        move |stop| Arc::clone(&certificate).follow(stop)
    });
    start_watch(settings, &app, tasks);
    let fetchers = open_fetchers(settings, &app).map_err(io::Error::other)?;
    let mode = QuietConfig { always: settings.quiet, database_url: settings.database_url.clone() };
    let quiet = QuietMode::follow(&app, &mode, tasks).await.map_err(io::Error::other)?;
    start_backups(settings, &app, &quiet, tasks);
    start_certificate_orders(settings, &app, mail.certificate(), &quiet, tasks)
        .await
        .map_err(io::Error::other)?;
    let panel_sender = HttpWebhookSender::of(&net_config(settings)).map_err(io::Error::other)?;
    app.panels.connect(PanelCalls::new(panel_sender, quiet.clone()));
    let presence = Presence::new(&app, Some(tasks));
    let worker = worker.with_open_pages(presence.clone());
    let due_work = start_due_work(&quiet, worker, fetchers, tasks);
    start_sharing(&app, tasks);
    let vault = Vault::open(&settings.data, &app.ids).map_err(io::Error::other)?;
    let storage = StorageCheck::new(app.clone(), &settings.data, &settings.blobs, FREE_BYTES_LEAST);
    let dns = DnsHealth::of(settings.dns);
    let certificate = Some(mail.certificate());
    let readiness = Readiness {
        app: app.clone(),
        storage,
        dns,
        certificate,
        quiet: quiet.clone(),
        tasks: tasks.clone(),
    };
    let sns = open_sns(settings).map_err(io::Error::other)?;
    let hooks = services::router(app.clone(), vault, sns).merge(tracker_calls::router(app.clone()));
    let challenges =
        settings.acme.as_ref().map(|acme| ChallengeAnswers::new(app.clone(), &acme.host));
    let questions = challenges.as_ref().map(ChallengeAnswers::router).unwrap_or_default();
    let router = health::router(readiness).merge(hooks).merge(questions);
    let mail_in = mail.listeners.serve(mail.open, tasks);
    let tokens = open_tokens(settings, &app).map_err(io::Error::other)?;
    let dialling = relay_config(settings).dialling(tokens.clone()).map_err(io::Error::other)?;
    let finder = open_finder(settings, dialling.clone()).map_err(io::Error::other)?;
    let options = router::HttpOptions {
        developer_site: settings.developer_site.clone(),
        oauth_registration: settings.oauth_registration,
        ssrf_guard: SsrfGuard::of(&net_config(settings)).map_err(io::Error::other)?,
        mails: settings.relay.reaches_people() && !quiet.is_quiet(),
        quiet,
        mail_setup: mail_setup(settings),
        program: documents::this_program(),
        relay: relay_config(settings).open_router(tokens).map_err(io::Error::other)?,
        mailbox_finder: Arc::new(finder),
        dialling,
        oauth_clients: settings.oauth_clients.clone(),
        oidc: open_oidc(settings).map_err(io::Error::other)?,
        model: settings.model.clone(),
        presence: Some(presence),
        first_run,
        demo_visits: public_demo.clone().map(|demo| demo as Arc<dyn DemoVisits>),
    };
    let background = app.background.clone();
    let router = router.merge(router::router(app, options));
    let router = match public_demo {
        Some(demo) => {
            demo.start(tasks);
            demo.guard(router)
        }
        None => router,
    };
    let proxies = Arc::new(settings.trusted_proxies.clone());
    let http = HttpServer { proxies, challenges, ..HttpServer::default() };
    let secure = secure_listeners.serve(http.clone(), router.clone(), stopping.clone());
    let stop = async {
        stop.await;
        stopping.cancel();
    };
    let served = http.serve(listener, router, stop);
    let goodbyes = async {
        stopping.cancelled().await;
        let finished = async {
            for work in due_work {
                let _ = work.await;
            }
        };
        if tokio::time::timeout(GRACE, finished).await.is_err() {
            tracing::warn!(
                "background jobs did not finish before shutdown; their leases will expire"
            );
        }
    };
    let (served, (), (), ()) = tokio::join!(served, secure, mail_in, goodbyes);
    if tokio::time::timeout(BACKGROUND_GRACE, background.finish()).await.is_err() {
        tracing::warn!("background writes did not finish before shutdown");
    }
    served
}

/// Serves with the usual limits until `stop` is ready.
pub async fn serve_router(
    listener: TcpListener,
    router: axum::Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    HttpServer::default().serve(listener, router, stop).await
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
