//! A Mailroom that listens on this machine, with an empty workspace, secrets that are sealed, and mail
//! that really comes and goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use actions::inboxes::setup::{self, NewWorkspace};
use actions::sign_in::sessions;
use base::actor::{self, Actor, Circle};
use base::app::App;
use base::files::blobs::Blobs;
use base::ids::{Ids, UserId};
use base::limits::UNDO_LIVE_MS;
use base::rate_limit::RateLimiter;
use base::time::{Clock, SystemClock};
use document_reader::BuiltInReader;
use inbound::{Authenticator, Checking, Credentials};
use jobs::Worker;
use mail::Authentication;
use node::quiet::QuietMode;
use node::vault::Vault;
use rustls::RootCertStore;
use server::mail_in::imap::{Fetchers, ImapTiming};
use server::mail_in::smtp::ListenAddress;
use server::router;
use server::serve::serve_router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use transport::mail_oauth::{MailboxTokens, OAuthClients};
use transport::mail_out::dns_records::SendingSetup;
use transport::mail_out::{
    RelayConfig, RelayRouter, RelayTarget, ServerConnectConfig, SmtpTimeouts,
};
use transport::mailbox_setup::MailboxFinder;
use transport::net::config::NetConfig;
use transport::net::host_guard::HostGuard;
use transport::webhooks::{DEADLINE, HttpWebhookSender, SsrfGuard, SsrfRules, SystemResolver};

use crate::support::test_server::program;

struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> i64 {
        SystemClock.now() + self.0.load(Ordering::SeqCst)
    }
}

/// Nothing is proven of a sender.
struct NoAuthenticator;

impl Authenticator for NoAuthenticator {
    fn check<'a>(&'a self, _: Credentials<'a>) -> Checking<'a> {
        Box::pin(async { Authentication::default() })
    }
}

pub struct NewWorkspaceServer {
    app: App,
    owner: UserId,
    workspace: Actor,
    dialling: ServerConnectConfig,
    vault: Vault,
    clock: Arc<MovedClock>,
    _folder: tempfile::TempDir,
}

/// What runs until this is dropped.
pub struct AtWork([JoinHandle<()>; 2]);

impl Drop for AtWork {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

impl NewWorkspaceServer {
    /// Mail servers on this machine are trusted by these authorities.
    pub async fn open(roots: RootCertStore) -> NewWorkspaceServer {
        NewWorkspaceServer::open_with(roots, OAuthClients::default()).await
    }

    /// The same, where people can sign in with these clients to connect mailboxes.
    pub async fn open_with(roots: RootCertStore, clients: OAuthClients) -> NewWorkspaceServer {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("test.db").display());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let clock = Arc::new(MovedClock(AtomicI64::new(0)));
        let ids = Arc::new(Ids::random());
        let vault = Vault::open(folder.path(), &ids).unwrap();
        let app = App {
            store: db::Store::open(&url, &db::StoreOptions::default(), model::schema::MIGRATIONS)
                .unwrap(),
            clock: clock.clone(),
            ids,
            blobs: Blobs::open(&folder.path().join("blobs")).unwrap(),
            reading: base::mail_reading::MailReading::new(
                &folder.path().join("reading"),
                Arc::new(testing::TrustingParser),
            ),
            limiter: Arc::new(RateLimiter::new(1_000)),
            agents: Arc::default(),
            calls: Arc::default(),
            sorters: Arc::default(),
            panels: Arc::default(),
            background: base::concurrency::background_writes::BackgroundWrites::default(),
            scanner: None,
            sealer: Arc::new(vault.clone()),
            public_url: address.as_str().into(),
            has_relay: false,
        };
        let (owner, workspace) = set_up(&app).await;
        let dialling = ServerConnectConfig {
            helo: "mail.oram-sails.example".into(),
            guard: HostGuard::new(Arc::new(SystemResolver::default()), true),
            roots,
            timeouts: SmtpTimeouts::default(),
            tokens: Arc::new(MailboxTokens::new(app.clone(), clients.clone()).unwrap()),
        };
        let router = router::router(app.clone(), options(&dialling, clients));
        tokio::spawn(serve_router(listener, router, std::future::pending()));
        NewWorkspaceServer { app, owner, workspace, dialling, vault, clock, _folder: folder }
    }

    /// A link that signs the owner in.
    pub async fn sign_in_link(&self) -> String {
        let owner = self.owner.clone();
        let made = self
            .app
            .act(&self.workspace, move |tx, cx| sessions::make_recovery_link(tx, cx, &owner));
        made.await.unwrap()
    }

    /// Sends what falls due and fetches what arrives, until the answer is dropped.
    pub fn keep_working(&self) -> AtWork {
        let relays = relays();
        let relay = RelayRouter::new(relays.open().unwrap(), false, self.dialling.clone());
        let guard = SsrfGuard::new(Arc::new(SystemResolver::default()), SsrfRules::new(true));
        let webhooks = HttpWebhookSender::new(guard, RootCertStore::empty(), DEADLINE).unwrap();
        let reader = Arc::new(BuiltInReader::with_program(program()));
        let worker = Worker::new(self.app.clone(), Arc::new(relay), Arc::new(webhooks), reader);
        let pace = ImapTiming { poll: Duration::from_millis(200), ..ImapTiming::default() };
        let fetchers = Fetchers::new(
            self.app.clone(),
            Arc::new(NoAuthenticator),
            self.vault.clone(),
            self.dialling.tokens.clone(),
            self.dialling.roots.clone(),
            self.dialling.guard.clone(),
            pace,
        );
        let fetchers = fetchers.unwrap();
        AtWork([
            tokio::spawn(async move { worker.run(std::future::pending()).await }),
            tokio::spawn(async move { fetchers.run(std::future::pending()).await }),
        ])
    }

    pub fn pass_undo_window(&self) {
        self.clock.0.fetch_add(UNDO_LIVE_MS, Ordering::SeqCst);
    }
}

fn relays() -> RelayConfig {
    RelayConfig { target: RelayTarget::Nowhere, public_url: None, net: NetConfig::default() }
}

fn options(dialling: &ServerConnectConfig, oauth_clients: OAuthClients) -> router::HttpOptions {
    let resolver = Arc::new(SystemResolver::default());
    let guard = SsrfGuard::new(resolver, SsrfRules::new(false));
    let relay = RelayRouter::new(relays().open().unwrap(), false, dialling.clone());
    let finder = MailboxFinder::new(None, guard.clone(), dialling.clone()).unwrap();
    router::HttpOptions {
        developer_site: None,
        oauth_registration: true,
        ssrf_guard: guard,
        mails: false,
        quiet: QuietMode::always(false),
        mail_setup: router::MailSetup {
            smtp: ListenAddress::Off,
            lmtp: ListenAddress::Off,
            sending: SendingSetup { host: None, relay: None },
            dns: None,
            writes_files: false,
        },
        relay: Arc::new(relay),
        dialling: dialling.clone(),
        mailbox_finder: Arc::new(finder),
        model: None,
        program: program(),
        oauth_clients,
        presence: None,
        oidc: None,
        first_run: None,
        demo_visits: None,
    }
}

/// The workspace, as `mailroom setup` makes it.
async fn set_up(app: &App) -> (UserId, Actor) {
    let new = NewWorkspace {
        name: "Oram Sails".into(),
        owner_email: "signe@oram-sails.example".into(),
        owner_name: "Signe Oram".into(),
        inbox: "support@oram-sails.example".into(),
        inbox_name: "Support".into(),
    };
    let operator = Actor::operator(&app.ids);
    let made = app.act(&operator, move |tx, cx| setup::set_up_workspace(tx, cx, &new));
    let made = made.await.unwrap();
    let owner =
        app.store.read(|tx| actor::person(tx, 1, "signe@oram-sails.example")).await.unwrap();
    (made.owner, Actor::system(owner.ws, owner.workspace, Circle::team()))
}
