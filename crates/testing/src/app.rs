//! Mailroom with a database, a clock and an outside of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api::operations::Method;
use base::actor::Actor;
use base::app::App;
use base::concurrency::background_writes::BackgroundWrites;
use base::files::blobs::Blobs;
use base::files::scanner::Scanner;
use base::ids::Ids;
use base::mail_reading::MailReading;
use base::rate_limit::RateLimiter;
use base::time::Clock;
use jobs::{AppMailReader, CalendarReader, ReplyModel, Worker};
use model::mailboxes::Mailbox;
use serde_json::Value;

use crate::mail_in::TrustingParser;
use crate::people::{mailbox, sandbox, set_up};
use crate::{
    Answer, ApiClient, DirectClient, Harness, Outside, Process, RunningWorker, TestCall, TestKey,
    database,
};

/// 2026-11-15T09:00:00Z, a Sunday.
const BEGINNING: i64 = 1_794_733_200_000;
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
    client: Arc<dyn ApiClient>,
    folder: tempfile::TempDir,
}

impl TestApp {
    pub(crate) async fn start<A: Harness>(url: &str, folder: tempfile::TempDir) -> TestApp {
        let clock = Arc::new(TestClock(AtomicI64::new(BEGINNING)));
        let ids = Arc::new(Ids::with_seed(7));
        let sealer = A::sealer(folder.path(), &ids);
        let app = App {
            store: database::open(url),
            clock: clock.clone(),
            ids,
            blobs: Blobs::open(&folder.path().join("blobs")).unwrap(),
            reading: MailReading::new(&folder.path().join("reading"), Arc::new(TrustingParser)),
            limiter: Arc::new(RateLimiter::new(1_000_000)),
            agents: Arc::default(),
            calls: Arc::default(),
            sorters: Arc::default(),
            panels: Arc::default(),
            background: BackgroundWrites::default(),
            scanner: None,
            sealer,
            has_relay: true,
            public_url: PUBLIC_URL.into(),
        };
        let owner = set_up(&app, "Acme", "Olive Owner").await;
        let support = mailbox(&app, &owner, "support@acme.example").await;
        let sandbox = sandbox(&app, &owner).await;
        let outside = Outside::default();
        let worker = outside.worker(&app);
        let (url, client) = (url.to_owned(), Arc::new(DirectClient));
        TestApp { app, owner, support, sandbox, outside, url, worker, clock, client, folder }
    }

    /// Calls the API in another way from now on.
    pub fn set_client(&mut self, client: Arc<dyn ApiClient>) {
        self.client = client;
    }

    pub async fn get(&self, key: &TestKey, path: &str) -> Answer {
        self.call(Method::Get, key, path, Value::Null).await
    }

    pub async fn post(&self, key: &TestKey, path: &str, body: Value) -> Answer {
        self.call(Method::Post, key, path, body).await
    }

    pub async fn delete(&self, key: &TestKey, path: &str) -> Answer {
        self.call(Method::Delete, key, path, Value::Null).await
    }

    async fn call(&self, method: Method, key: &TestKey, path: &str, body: Value) -> Answer {
        let call = TestCall { method, path: path.to_owned(), key: key.key.clone(), body };
        self.client.call(&self.app, call).await
    }

    /// Another process that does what is due on the same database.
    pub fn another_process(&self) -> Process {
        let ids = Arc::new(Ids::with_seed(8));
        Process::start(App { store: database::open(&self.url), ids, ..self.app.clone() })
    }

    /// The same service in another process on the same database.
    pub fn on_another_node(&self) -> App {
        App {
            store: database::open(&self.url),
            ids: Arc::new(Ids::with_seed(9)),
            limiter: Arc::new(RateLimiter::new(1_000_000)),
            agents: Arc::default(),
            calls: Arc::default(),
            sorters: Arc::default(),
            panels: Arc::default(),
            background: BackgroundWrites::default(),
            ..self.app.clone()
        }
    }

    /// Goes on in a process that was started anew and plans everything anew all the time.
    pub fn restart(&mut self) {
        self.app.store = database::open_keeping(&self.url, Duration::ZERO);
        self.worker = self.outside.worker(&self.app);
    }

    pub fn set_scanner(&mut self, scanner: Arc<dyn Scanner>) {
        self.app.scanner = Some(scanner);
        self.worker = self.outside.worker(&self.app);
    }

    /// Sets another limit of requests a minute.
    pub fn set_rate(&mut self, per_minute: u32) {
        self.app.limiter = Arc::new(RateLimiter::new(per_minute));
    }

    /// Goes on in a process that is quiet, or is not.
    pub fn set_quiet(&mut self, quiet: bool) {
        let worker = self.outside.worker(&self.app);
        self.worker = if quiet { worker.quiet() } else { worker };
    }

    /// Sets a way to read the words of mail at the services that sent it.
    pub fn set_reader(&mut self, reader: Arc<dyn AppMailReader>) {
        self.worker = self.worker.clone().with_reader(reader);
    }

    /// Reads hosts' calendars from now on.
    pub fn set_calendars(&mut self, reader: Arc<dyn CalendarReader>) {
        self.worker = self.worker.clone().with_calendars(reader);
    }

    /// Sets a language model that drafts.
    pub fn set_model(&mut self, model: Arc<dyn ReplyModel>) {
        self.worker = self.worker.clone().with_model(model);
    }

    pub fn database_url(&self) -> &str {
        &self.url
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of raw mail, attachments and uploads.
    pub fn blob_folder(&self) -> PathBuf {
        self.folder.path().join("blobs")
    }

    /// Does what falls due in the background, until it is stopped or the test is over.
    pub fn keep_working(&self) -> RunningWorker {
        RunningWorker::start(self.worker.clone())
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
}
