//! A whole Mailroom in a test, with the router called in process.

mod body;
mod mail_in;

use std::net::{IpAddr, SocketAddr};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use api::operations::Method;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use base::app::App;
use base::files::scanner::Scanner;
use base::ids::Ids;
use base::security::secret_sealer::SecretSealer;
use db::{ReplicaOptions, Store};
use http_body_util::BodyExt;
use jobs::{AppMailReader, BoxFuture};
use node::quiet::QuietMode;
use node::vault::Vault;
use rustls::RootCertStore;
use server::api::rest;
use server::demo::public::PublicDemo;
use server::mail_in::smtp::ListenAddress;
use server::router::{self, HttpOptions, MailSetup};
use testing::{ApiClient, Harness, TestCall, TestRelay};
use tower::ServiceExt;
use transport::mail_oauth::{MailboxTokens, NoTokens, OAuthClients};
use transport::mail_out::dns_records::SendingSetup;
use transport::mail_out::{RelayRouter, ServerConnectConfig, SmtpTimeouts};
use transport::mailbox_setup::MailboxFinder;
use transport::net::dns::resolver_at;
use transport::net::host_guard::HostGuard;
use transport::oidc::{OidcClient, OidcConfig};
use transport::reply_model::{HttpReplyModel, ModelEndpoint};
use transport::webhooks::{ResolvedAddresses, Resolver, SsrfGuard, SsrfRules, SystemResolver};
use web::{DemoVisits, FirstRun};

pub use body::pieces;
pub use mail_in::Client;
pub use testing::{
    Answer, Backend, CONNECTIONS, Chance, DAY, Database, FEE_ANSWER, FEE_QUESTION,
    FEE_QUESTION_AGAIN, HOUR, MINUTE, PUBLIC_URL, SECOND, TestKey, UNDO, eventually, file,
    held_warning, letter, no_mailbox, nowhere, on_both, query, raw, raw_with, run, run_at, text_of,
    texts, user,
};

/// The crates that have pages.
pub const PAGE_CRATES: [&str; 7] = [
    "web",
    "settings_pages",
    "agent_pages",
    "side_column",
    "customer_pages",
    "developer_site",
    "help",
];
pub const DEVELOPER_SITE: &str = "https://developers.mailroom.example";

/// The domain's [`testing::TestApp`] behind the router: API calls go over REST, and secrets are
/// sealed as in production.
pub struct TestApp {
    domain: testing::TestApp,
    router: Router,
}

impl Harness for TestApp {
    fn sealer(data: &Path, ids: &Ids) -> Arc<dyn SecretSealer> {
        Arc::new(Vault::open(data, ids).unwrap())
    }

    fn new(domain: testing::TestApp) -> TestApp {
        let router = router_with(&domain.app, options());
        let mut app = TestApp { domain, router };
        app.set_router(app.router.clone());
        app
    }
}

impl Deref for TestApp {
    type Target = testing::TestApp;

    fn deref(&self) -> &testing::TestApp {
        &self.domain
    }
}

impl DerefMut for TestApp {
    fn deref_mut(&mut self) -> &mut testing::TestApp {
        &mut self.domain
    }
}

impl TestApp {
    /// The routes of this process, for a server of the test's own.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The routes of another process.
    pub fn router_of(&self, app: &App) -> Router {
        router_with(app, options())
    }

    /// The routes of a process that began without a workspace.
    pub fn router_of_first_run(app: &App, first_run: Arc<FirstRun>) -> Router {
        router_with(app, HttpOptions { first_run: Some(first_run), ..options() })
    }

    /// The routes of a public demo.
    pub fn router_of_demo(app: &App, demo: &Arc<PublicDemo>) -> Router {
        let demo_visits = Some(Arc::clone(demo) as Arc<dyn DemoVisits>);
        demo.guard(router_with(app, HttpOptions { demo_visits, ..options() }))
    }

    /// The routes of another process on the same database; only PostgreSQL has several.
    pub fn another_node(&self) -> Option<Router> {
        let app = self.on_another_node();
        app.store.is_shared().then(|| self.router_of(&app))
    }

    /// The same data in a process that was started anew and plans everything anew all the time.
    pub fn restarted(mut self) -> TestApp {
        self.domain.restart();
        self.serve(options());
        self
    }

    pub fn set_scanner(&mut self, scanner: Arc<dyn Scanner>) {
        self.domain.set_scanner(scanner);
        self.serve(options());
    }

    /// The same data in a process that may read from a standby too.
    pub async fn with_replica(mut self, replica: ReplicaOptions) -> TestApp {
        let store = self.domain.app.store.clone();
        self.domain.app.store = store.with_replica(replica).await.unwrap();
        self.serve(options());
        self
    }

    /// The same data behind another limit of requests a minute.
    pub fn with_rate(mut self, per_minute: u32) -> TestApp {
        self.domain.set_rate(per_minute);
        self.serve(options());
        self
    }

    /// The same data where mail reaches people.
    pub fn with_mail(mut self) -> TestApp {
        self.serve(HttpOptions { mails: true, ..options() });
        self
    }

    /// The same data where mail reaches people and the DNS is what this server says.
    pub fn with_dns(mut self, server: SocketAddr) -> TestApp {
        let mail_setup = MailSetup { dns: Some(server), ..options().mail_setup };
        self.serve(HttpOptions { mails: true, mail_setup, ..options() });
        self
    }

    /// The same data where mail servers on this machine may be named, and these authorities vouch
    /// for them.
    pub fn with_mail_servers(mut self, roots: RootCertStore) -> TestApp {
        self.serve(with_dialling(None, dialling(roots, true)));
        self
    }

    /// The same, where the DNS is what this server says.
    pub fn with_mail_servers_and_dns(mut self, roots: RootCertStore, dns: SocketAddr) -> TestApp {
        let guard = HostGuard::new(resolver_at(Some(dns)).unwrap(), true);
        self.serve(with_dialling(
            Some(dns),
            ServerConnectConfig { guard, ..dialling(roots, true) },
        ));
        self
    }

    /// The same data where people can sign in with these clients to connect mailboxes, and these
    /// authorities vouch for the servers.
    pub fn with_providers(mut self, roots: RootCertStore, clients: OAuthClients) -> TestApp {
        let tokens = MailboxTokens::new(self.domain.app.clone(), clients.clone()).unwrap();
        let dialling = ServerConnectConfig { tokens: Arc::new(tokens), ..dialling(roots, false) };
        let options = with_dialling(None, dialling);
        self.serve(HttpOptions { oauth_clients: clients, ..options });
        self
    }

    /// The same data where people sign in at this provider, and mail reaches people.
    pub fn with_sign_in_provider(mut self, config: OidcConfig) -> TestApp {
        self.serve(HttpOptions { mails: true, ..with_oidc(config) });
        self
    }

    /// The routes of another process on the same database with the same provider.
    pub fn another_node_with_provider(&self, config: OidcConfig) -> Option<Router> {
        let app = self.on_another_node();
        app.store.is_shared().then(|| router_with(&app, with_oidc(config)))
    }

    /// The same data in a process that is quiet, or is not.
    pub fn set_quiet(&mut self, quiet: bool) {
        self.domain.set_quiet(quiet);
        self.serve(HttpOptions { quiet: QuietMode::always(quiet), ..options() });
    }

    /// The same, with a language model that the worker asks and the settings name.
    pub fn with_model(mut self, endpoint: ModelEndpoint) -> TestApp {
        self.domain.set_model(Arc::new(HttpReplyModel::open(&endpoint).unwrap()));
        self.serve(HttpOptions { model: Some(endpoint), ..options() });
        self
    }

    /// The same, with a way to read the words of mail at the services that sent it.
    pub fn with_reader(mut self, reader: Arc<dyn AppMailReader>) -> TestApp {
        self.domain.set_reader(reader);
        self
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        TestApp::send_to(&self.router, request).await
    }

    pub async fn send_to(router: &Router, request: Request<Body>) -> Answer {
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        let next = next_page(&parts.headers);
        Answer { status: parts.status.as_u16(), headers: parts.headers, bytes, next }
    }

    /// An answer that goes on for as long as the test listens.
    pub async fn open(&self, request: Request<Body>) -> Body {
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        response.into_body()
    }

    fn serve(&mut self, options: HttpOptions) {
        self.set_router(router_with(&self.domain.app, options));
    }

    fn set_router(&mut self, router: Router) {
        self.domain.set_client(Arc::new(RestClient(router.clone())));
        self.router = router;
    }
}

/// A further database of a test that runs already.
pub struct FurtherDatabase(Option<Database>);

/// Opens one on a thread of its own, because the client of PostgreSQL waits.
pub fn open_database(backend: Backend, folder: &Path) -> (FurtherDatabase, Store) {
    let folder = folder.to_path_buf();
    let open = move || {
        let database = Database::new(backend, &folder);
        let store = testing::open(&database.url);
        (FurtherDatabase(Some(database)), store)
    };
    std::thread::spawn(open).join().unwrap()
}

impl Drop for FurtherDatabase {
    fn drop(&mut self) {
        let database = self.0.take();
        let _ = std::thread::spawn(move || drop(database)).join();
    }
}

/// Calls the API over REST.
struct RestClient(Router);

impl ApiClient for RestClient {
    fn call<'a>(&'a self, _: &'a App, call: TestCall) -> BoxFuture<'a, Answer> {
        let body = match call.method {
            Method::Get | Method::Delete => Body::empty(),
            Method::Post => Body::from(call.body.to_string()),
        };
        let request = request(call.method.name(), &call.path, Some(&call.key), body);
        Box::pin(TestApp::send_to(&self.0, request))
    }
}

/// The path and query of the `Link` to the next page.
fn next_page(headers: &HeaderMap) -> Option<String> {
    let link = headers.get("link")?.to_str().ok()?;
    let url = link.strip_prefix('<')?.split_once(">; rel=\"next\"")?.0;
    Some(url.strip_prefix(PUBLIC_URL)?.strip_prefix(rest::PREFIX)?.to_owned())
}

pub fn request(method: &str, path: &str, key: Option<&str>, body: Body) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(format!("{}{path}", rest::PREFIX));
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    request.header("content-type", "application/json").body(body).unwrap()
}

fn router_with(app: &App, options: HttpOptions) -> Router {
    router::router(app.clone(), options)
}

fn options() -> HttpOptions {
    HttpOptions {
        developer_site: Some(DEVELOPER_SITE.into()),
        oauth_registration: true,
        ssrf_guard: SsrfGuard::new(Arc::new(PublicNames), SsrfRules::new(false)),
        mails: false,
        quiet: QuietMode::always(false),
        mail_setup: MailSetup {
            smtp: "0.0.0.0:25".parse().unwrap(),
            lmtp: ListenAddress::Off,
            sending: SendingSetup { host: Some("mail.acme.example".into()), relay: None },
            writes_files: false,
            dns: None,
        },
        program: env!("CARGO_BIN_EXE_mailroom").into(),
        relay: Arc::new(TestRelay::default()),
        dialling: dialling(RootCertStore::empty(), false),
        mailbox_finder: finder(None, dialling(RootCertStore::empty(), false)),
        model: None,
        oauth_clients: OAuthClients::default(),
        presence: None,
        oidc: None,
        first_run: None,
        demo_visits: None,
    }
}

fn with_oidc(config: OidcConfig) -> HttpOptions {
    let guard = SsrfGuard::new(Arc::new(PublicNames), SsrfRules::new(false));
    let client = OidcClient::new(config, guard, RootCertStore::empty()).unwrap();
    HttpOptions { oidc: Some(client), ..options() }
}

fn with_dialling(dns: Option<SocketAddr>, dialling: ServerConnectConfig) -> HttpOptions {
    let default = Arc::new(TestRelay::default());
    let relay = Arc::new(RelayRouter::new(default, false, dialling.clone()));
    let mailbox_finder = finder(dns, dialling.clone());
    HttpOptions { relay, dialling, mailbox_finder, ..options() }
}

/// A DNS server on this machine that is not there, unless the test has one.
fn finder(dns: Option<SocketAddr>, dialling: ServerConnectConfig) -> Arc<MailboxFinder> {
    let dns = dns.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 1)));
    let guard = SsrfGuard::new(Arc::new(NoNames), SsrfRules::new(false));
    Arc::new(MailboxFinder::new(Some(dns), guard, dialling).unwrap())
}

/// No name leads anywhere.
struct NoNames;

impl Resolver for NoNames {
    fn look_up<'a>(&'a self, _: &'a str) -> BoxFuture<'a, ResolvedAddresses> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// How servers of inboxes are connected to.
pub fn dialling(roots: RootCertStore, allow_private: bool) -> ServerConnectConfig {
    ServerConnectConfig {
        helo: "mail.acme.example".into(),
        guard: HostGuard::new(Arc::new(SystemResolver::default()), allow_private),
        roots,
        timeouts: SmtpTimeouts::default(),
        tokens: Arc::new(NoTokens),
    }
}

/// Names that begin with `inside.` lead into a private network, all others to the internet.
struct PublicNames;

impl Resolver for PublicNames {
    fn look_up<'a>(&'a self, name: &'a str) -> BoxFuture<'a, ResolvedAddresses> {
        let address = if name.starts_with("inside.") { [10, 0, 0, 7] } else { [93, 184, 215, 14] };
        Box::pin(async move { Ok(vec![IpAddr::from(address)]) })
    }
}
