//! A whole Mailroom in a test: its own database, a clock that the test moves, seeded ids, and the
//! router called in process.

mod database;
mod domain;
mod mail_in;
#[allow(dead_code, reason = "the bench asks more of it")]
#[path = "../../../../../bench/src/names.rs"]
pub mod names;
mod outside;
mod process;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use inbox::actions::{self, NewWorkspace};
use inbox::base::actor::{self, Actor, Circle, Principal, Role};
use inbox::base::blobs::Blobs;
use inbox::base::ids::{AgentId, Ids, MailboxId, UserId};
use inbox::base::scopes::Scope;
use inbox::base::time::Clock;
use inbox::jobs::{AppMailReader, Worker};
use inbox::model::mailboxes::{self, Mailbox};
use inbox::{App, Cx, FiledMail, IncomingMail, RateLimiter};
use mail::{Address, Attachment, AuthorKind, Dmarc, Mail};
use serde_json::Value;
use server::api::rest;
use server::http::router;
use server::mail_in::smtp::ListenAddress;
use server::mail_out::dns_records::SendingSetup;
use server::node::quiet::QuietMode;
use server::webhooks::{SsrfGuard, SsrfRules};
use tower::ServiceExt;

pub use database::{Backend, CONNECTIONS, Database};
pub use domain::*;
pub use mail_in::{Client, filed, raw, raw_with};
use outside::Names;
pub use outside::{Outside, eventually};
pub use process::{Process, Working};

/// Runs a rule on one database.
pub fn run<F, R>(backend: Backend, rule: F)
where
    F: FnOnce(TestApp) -> R,
    R: Future<Output = ()>,
{
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(backend, folder.path());
    run_in(&database.url, folder, rule);
}

/// Runs a rule on a database that the test looks after itself.
pub fn run_at<F, R>(url: &str, rule: F)
where
    F: FnOnce(TestApp) -> R,
    R: Future<Output = ()>,
{
    run_in(url, tempfile::tempdir().unwrap(), rule);
}

fn run_in<F, R>(url: &str, folder: tempfile::TempDir, rule: F)
where
    F: FnOnce(TestApp) -> R,
    R: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { rule(TestApp::start(url, folder).await).await });
}

/// Tests each of these rules, `async fn rule(app: TestApp)`, on SQLite and on PostgreSQL.
#[macro_export]
macro_rules! on_both {
    ($($rule:ident),* $(,)?) => { $(
        mod $rule {
            #[test]
            fn on_sqlite() {
                $crate::support::run($crate::support::Backend::Sqlite, super::$rule);
            }

            #[test]
            fn on_postgres() {
                $crate::support::run($crate::support::Backend::Postgres, super::$rule);
            }
        }
    )* };
}

pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// 2026-11-15T09:00:00Z, a Sunday.
const BEGINNING: i64 = 1_794_733_200_000;
pub const DEVELOPER_SITE: &str = "https://developers.mailroom.example";
pub const PUBLIC_URL: &str = "https://mail.acme.example";

struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

pub struct TestApp {
    pub app: App,
    pub owner: Actor,
    pub support: Mailbox,
    pub sandbox: Mailbox,
    pub outside: Outside,
    url: String,
    worker: Worker,
    clock: Arc<TestClock>,
    router: axum::Router,
    _folder: tempfile::TempDir,
}

/// A key, and the agent it acts as.
#[derive(Clone)]
pub struct Key {
    pub id: AgentId,
    pub key: String,
}

/// What came back over HTTP.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("not JSON: {:?}", String::from_utf8_lossy(&self.bytes)))
    }

    /// The sentence of an error, which is all that an error's body holds.
    pub fn error(&self) -> String {
        let json = self.json();
        assert_eq!(json.as_object().map(|o| o.len()), Some(1), "{json}");
        json["error"].as_str().expect("a sentence").to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Insists on a status; a surprise shows the body.
    pub fn is(self, status: u16) -> Answer {
        let body = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status, status, "{body}");
        self
    }

    /// Every header but those that differ by request, in order.
    pub fn header_list(&self) -> Vec<(String, String)> {
        let pairs = self.headers.iter().filter(|(name, _)| *name != "x-request-id");
        pairs.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    /// The path and query of the next page.
    pub fn next(&self) -> Option<String> {
        let link = self.header("link");
        let url = link.strip_prefix('<')?.split_once(">; rel=\"next\"")?.0;
        Some(url.strip_prefix(PUBLIC_URL)?.strip_prefix(rest::PREFIX)?.to_owned())
    }
}

impl TestApp {
    async fn start(url: &str, folder: tempfile::TempDir) -> TestApp {
        let clock = Arc::new(TestClock(AtomicI64::new(BEGINNING)));
        let ids = Arc::new(Ids::seeded(7));
        let sealer = Arc::new(server::node::vault::Vault::open(folder.path(), &ids).unwrap());
        let app = App {
            store: database::open(url),
            clock: clock.clone(),
            ids,
            blobs: Blobs::open(&folder.path().join("blobs")).unwrap(),
            limiter: Arc::new(RateLimiter::new(1_000_000)),
            agents: Arc::default(),
            background: inbox::base::background_writes::BackgroundWrites::default(),
            scanner: None,
            sealer,
            public_url: PUBLIC_URL.into(),
        };
        let owner = set_up(&app, "Acme", "Olive Owner").await;
        let support = mailbox(&app, &owner, "support@acme.example").await;
        let sandbox = sandbox(&app, &owner).await;
        let (router, outside) = (router(&app, false, None), Outside::default());
        let (relay, webhook_sender) = (outside.relay.clone(), outside.webhook_sender.clone());
        let worker = Worker::new(app.clone(), relay, webhook_sender, outside.reader.clone());
        let url = url.to_owned();
        TestApp {
            app,
            owner,
            support,
            sandbox,
            outside,
            url,
            worker,
            clock,
            router,
            _folder: folder,
        }
    }

    /// Another process that does what is due on the same database.
    pub fn another_process(&self) -> Process {
        let ids = Arc::new(Ids::seeded(8));
        Process::start(App { store: database::open(&self.url), ids, ..self.app.clone() })
    }

    /// The same service in another process on the same database.
    pub fn on_another_node(&self) -> App {
        App {
            store: database::open(&self.url),
            ids: Arc::new(Ids::seeded(9)),
            limiter: Arc::new(RateLimiter::new(1_000_000)),
            agents: Arc::default(),
            background: inbox::base::background_writes::BackgroundWrites::default(),
            ..self.app.clone()
        }
    }

    pub fn doors_of(&self, app: &App) -> axum::Router {
        router(app, false, None)
    }

    /// The doors of another process on the same database; only PostgreSQL has several.
    pub fn another_node(&self) -> Option<axum::Router> {
        let app = self.on_another_node();
        app.store.is_shared().then(|| router(&app, false, None))
    }

    /// The doors of this process, for a server of the test's own.
    pub fn router(&self) -> axum::Router {
        self.router.clone()
    }

    /// The same data in a process that was started anew and plans everything anew all the time.
    pub fn restarted(mut self) -> TestApp {
        self.app.store = database::open_keeping(&self.url, Duration::ZERO);
        self.router = router(&self.app, false, None);
        let outside = (self.outside.relay.clone(), self.outside.webhook_sender.clone());
        self.worker =
            Worker::new(self.app.clone(), outside.0, outside.1, self.outside.reader.clone());
        self
    }

    pub fn database_url(&self) -> &str {
        &self.url
    }

    /// Does what falls due in the background, until it is stopped or the test is over.
    pub fn keep_working(&self) -> Working {
        Working::start(self.worker.clone())
    }

    /// The folder of raw mail, attachments and uploads.
    pub fn blob_folder(&self) -> std::path::PathBuf {
        self._folder.path().join("blobs")
    }

    pub fn set_scanner(&mut self, scanner: Arc<dyn inbox::base::scanner::Scanner>) {
        self.app.scanner = Some(scanner);
        self.router = router(&self.app, false, None);
        let outside = (self.outside.relay.clone(), self.outside.webhook_sender.clone());
        self.worker =
            Worker::new(self.app.clone(), outside.0, outside.1, self.outside.reader.clone());
    }

    /// The same data behind another limit of requests a minute.
    pub fn with_rate(mut self, per_minute: u32) -> TestApp {
        self.app.limiter = Arc::new(RateLimiter::new(per_minute));
        self.router = router(&self.app, false, None);
        self
    }

    /// The same data where mail reaches people.
    pub fn with_mail(mut self) -> TestApp {
        self.router = router(&self.app, true, None);
        self
    }

    /// The same data where mail reaches people and the DNS is what this server says.
    pub fn with_dns(mut self, server: SocketAddr) -> TestApp {
        self.router = router(&self.app, true, Some(server));
        self
    }

    /// The same data in a process that is quiet, or is not.
    pub fn set_quiet(&mut self, quiet: bool) {
        let (relay, webhook_sender) =
            (self.outside.relay.clone(), self.outside.webhook_sender.clone());
        let worker =
            Worker::new(self.app.clone(), relay, webhook_sender, self.outside.reader.clone());
        self.worker = if quiet { worker.quiet() } else { worker };
        let mode = QuietMode::fixed(quiet);
        self.router = router::router(
            self.app.clone(),
            router::HttpOptions { quiet: mode, ..options(false, None) },
        );
    }

    /// The same, with a way to read the words of mail at the services that sent it.
    pub fn with_reader(mut self, reader: Arc<dyn AppMailReader>) -> TestApp {
        self.worker = self.worker.with_reader(reader);
        self
    }

    /// The data folder.
    pub fn folder(&self) -> &std::path::Path {
        self._folder.path()
    }

    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Moves the clock alone; what falls due is left undone.
    pub fn advance(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// Lets time pass: everything that falls due on the way is done at its time, in order.
    pub async fn pass(&self, millis: i64) {
        let until = self.now() + millis;
        self.work().await;
        while let Some(next) = self.worker.next_due().await.unwrap()
            && next <= until
        {
            self.clock.0.fetch_max(next, Ordering::SeqCst);
            self.work().await;
        }
        self.clock.0.store(until, Ordering::SeqCst);
        self.work().await;
    }

    /// Brings PostgreSQL's statistics of what grew up to date; answers which tables that were.
    pub async fn analyse_grown_tables(&self) -> Vec<String> {
        self.worker.analyse_grown_tables().await.unwrap()
    }

    /// Does what is due now.
    pub async fn work(&self) {
        self.worker.run_due().await.unwrap();
    }

    /// A second workspace on the same database.
    pub async fn other_workspace(&self, name: &str) -> Actor {
        set_up(&self.app, name, &format!("{name} Owner")).await
    }

    /// A member of the team, by first name.
    pub async fn person(&self, name: &str) -> Actor {
        self.person_with(name, Role::Member).await
    }

    pub async fn person_with(&self, name: &str, role: Role) -> Actor {
        let email = format!("{}@acme.example", name.to_lowercase());
        let (address, full) = (email.clone(), format!("{name} Teammate"));
        self.app
            .act(&self.owner, move |tx, cx| actions::add_person(tx, cx, &address, &full, role))
            .await
            .unwrap();
        let ws = self.owner.ws;
        self.app.store.read(move |tx| actor::person(tx, ws, &email)).await.unwrap()
    }

    /// A live key of the owner's with these scopes.
    pub async fn key(&self, scopes: &str) -> Key {
        self.key_of(&self.owner, "Robo", scopes, true).await
    }

    pub async fn test_key(&self, scopes: &str) -> Key {
        self.key_of(&self.owner, "Testo", scopes, false).await
    }

    pub async fn key_of(&self, maker: &Actor, name: &str, scopes: &str, livemode: bool) -> Key {
        let scopes: Vec<Scope> =
            scopes.split(' ').map(|word| Scope::parse(word).unwrap()).collect();
        let name = name.to_owned();
        let made = self
            .app
            .act(maker, move |tx, cx| actions::make_key(tx, cx, &name, &scopes, livemode))
            .await
            .unwrap();
        Key { id: made.id, key: made.key }
    }

    pub async fn revoke(&self, key: &Key) {
        let id = key.id.clone();
        self.act(&self.owner, move |tx, cx| actions::revoke_key(tx, cx, &id)).await;
    }

    /// An inbox that only this person sees.
    pub async fn private_inbox(&self, person: &Actor) -> Mailbox {
        let address = format!("{}.private@acme.example", user(person));
        let (owner, given) = (user(person), address.clone());
        self.act(&self.owner, move |tx, cx| {
            actions::add_mailbox(tx, cx, &given, "Private", Some(&owner))
        })
        .await;
        mailbox(&self.app, person, &address).await
    }

    pub async fn team_inbox(&self, address: &str, name: &str) -> Mailbox {
        let (given, name) = (address.to_owned(), name.to_owned());
        self.act(&self.owner, move |tx, cx| actions::add_mailbox(tx, cx, &given, &name, None))
            .await;
        mailbox(&self.app, &self.owner, address).await
    }

    /// Does what a person or the service does; it must succeed.
    pub async fn act<T, F>(&self, actor: &Actor, operation: F) -> T
    where
        F: FnMut(&mut db::Tx<'_>, &Cx<'_>) -> inbox::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.app.act(actor, operation).await.unwrap()
    }

    /// A mail from somebody to the support inbox.
    pub async fn mail(&self, from: &str, subject: &str, text: &str) -> FiledMail {
        self.deliver(&self.support, letter(from, subject, text)).await
    }

    pub async fn deliver(&self, mailbox: &Mailbox, mut mail: Mail) -> FiledMail {
        if mail.delivered_to.is_empty() {
            mail.delivered_to = mailbox.address.clone();
        }
        let put = |file: &Attachment| self.app.blobs.put(&file.bytes).unwrap();
        let attachments = mail.attachments.iter().map(put).collect();
        let incoming = IncomingMail { mail, raw: None, attachments, joins: None };
        let service =
            Actor::system(self.owner.ws, self.owner.workspace.clone(), mailbox.circle.clone());
        let mailbox = mailbox.clone();
        self.act(&service, move |tx, cx| inbox::receive(tx, cx, &mailbox, &incoming)).await
    }

    /// Lets a scheduled message go out now.
    pub async fn mark_sent(&self, mailbox: &Mailbox, message: &str) {
        let id = inbox::base::ids::MessageId::parse(message).unwrap();
        let service =
            Actor::system(self.owner.ws, self.owner.workspace.clone(), mailbox.circle.clone());
        self.act(&service, move |tx, cx| {
            let (message, mut conversation) = inbox::load_outgoing(tx, cx.actor, &id)?;
            inbox::mark_sent(tx, cx, &mut conversation, &message)
        })
        .await;
    }

    pub async fn get(&self, key: &Key, path: &str) -> Answer {
        self.send(request("GET", path, Some(&key.key), Body::empty())).await
    }

    pub async fn post(&self, key: &Key, path: &str, body: Value) -> Answer {
        self.send(request("POST", path, Some(&key.key), Body::from(body.to_string()))).await
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        TestApp::send_to(&self.router, request).await
    }

    pub async fn send_to(router: &axum::Router, request: Request<Body>) -> Answer {
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status.as_u16(), headers: parts.headers, bytes }
    }

    /// An answer that goes on for as long as the test listens.
    pub async fn open(&self, request: Request<Body>) -> Body {
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        response.into_body()
    }

    /// The whole conversation as this key reads it.
    pub async fn read(&self, key: &Key, id: &impl ToString) -> Value {
        self.get(key, &format!("/conversations/{}", id.to_string())).await.is(200).json()
    }

    /// Every event of the workspace, oldest first, as it would be sent.
    pub async fn events(&self) -> Vec<Value> {
        let ws = self.owner.ws;
        let rows: Vec<(String,)> = self
            .app
            .store
            .read(move |tx| {
                tx.all::<(String,)>("SELECT body FROM events WHERE ws = ?1 ORDER BY id", &[&ws])
            })
            .await
            .unwrap_or_else(|error: db::StoreError| panic!("{error}"));
        rows.iter().map(|(body,)| serde_json::from_str(body).unwrap()).collect()
    }

    /// The types of the events since the last call left off at `from`.
    pub async fn event_types(&self) -> Vec<String> {
        let events = self.events().await;
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

pub fn request(method: &str, path: &str, key: Option<&str>, body: Body) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(format!("{}{path}", rest::PREFIX));
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    request.header("content-type", "application/json").body(body).unwrap()
}

/// A plain mail; the address before the first space may be followed by a name.
pub fn letter(from: &str, subject: &str, text: &str) -> Mail {
    let (email, name) = match from.split_once(' ') {
        Some((email, name)) => (email, Some(name)),
        None => (from, None),
    };
    Mail {
        message_id: None,
        answers: Vec::new(),
        from: Address::new(name, email),
        to: Vec::new(),
        cc: Vec::new(),
        delivered_to: String::new(),
        subject: subject.into(),
        text: text.into(),
        kind: AuthorKind::Person,
        dmarc: Dmarc::Pass,
        warning: None,
        attachments: Vec::new(),
    }
}

pub fn user(person: &Actor) -> UserId {
    match &person.who {
        Principal::Person { id, .. } => id.clone(),
        _ => panic!("not a person"),
    }
}

fn router(app: &App, mails: bool, dns: Option<SocketAddr>) -> axum::Router {
    router::router(app.clone(), options(mails, dns))
}

fn options(mails: bool, dns: Option<SocketAddr>) -> router::HttpOptions {
    router::HttpOptions {
        developer_site: Some(DEVELOPER_SITE.into()),
        ssrf_guard: SsrfGuard::new(Arc::new(Names), SsrfRules::new(false)),
        mails,
        quiet: QuietMode::fixed(false),
        ways: router::MailWays {
            smtp: "0.0.0.0:25".parse().unwrap(),
            lmtp: ListenAddress::Off,
            sending: SendingSetup { host: Some("mail.acme.example".into()), relay: None },
            dns,
        },
    }
}

async fn set_up(app: &App, name: &str, owner: &str) -> Actor {
    let domain = format!("{}.example", name.to_lowercase());
    let new = NewWorkspace {
        name: name.into(),
        owner_email: format!("owner@{domain}"),
        owner_name: owner.into(),
        inbox: format!("support@{domain}"),
        inbox_name: "Support".into(),
    };
    let email = new.owner_email.clone();
    let operator = Actor::operator(&app.ids);
    let made =
        app.act(&operator, move |tx, cx| actions::set_up_workspace(tx, cx, &new)).await.unwrap();
    let workspaces = app.store.read(actions::list_workspaces).await.unwrap();
    let ws = workspaces.iter().find(|w| w.id == made.workspace).unwrap().ws;
    app.store.read(move |tx| actor::person(tx, ws, &email)).await.unwrap()
}

async fn mailbox(app: &App, viewer: &Actor, address: &str) -> Mailbox {
    let seen = app.act(viewer, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await.unwrap();
    seen.into_iter().find(|mailbox| mailbox.address == address).expect("the inbox")
}

async fn sandbox(app: &App, owner: &Actor) -> Mailbox {
    let service = Actor::system(owner.ws, owner.workspace.clone(), Circle::sandbox());
    let seen = app.act(&service, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await.unwrap();
    seen.into_iter().next().expect("the sandbox")
}

/// An id that nothing has.
pub fn nowhere() -> String {
    "cnv_00000000000000000000000000".into()
}

/// An inbox id that nothing has.
pub fn no_mailbox() -> MailboxId {
    MailboxId::parse("mbx_00000000000000000000000000").unwrap()
}
