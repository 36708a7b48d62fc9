//! A Mailroom that listens on this machine, with the sample workspace and a clock that can be
//! moved ahead.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use actions::conversations::{open_conversation, timeline};
use actions::inboxes::setup;
use actions::integrations::{delivery_log, webhooks};
use actions::sign_in::sessions;
use actions::writing::saved_replies;
use api::operations::add_note;
use api::operations::reply;
use api::operations::{AddNoteInput, ReplyInput};
use base::actor::{self, Actor, Circle};
use base::app::App;
use base::files::blobs::Blobs;
use base::ids::Ids;
use base::rate_limit::RateLimiter;
use base::security::api_key::KeyHash;
use base::time::{Clock, SystemClock};
use bookings::{BookingFilter, types};
use document_reader::BuiltInReader;
use inbound::incoming_mail::{FiledMail, IncomingMail};
use jobs::Worker;
use mail::{Address, Attachment, AuthorKind, Dmarc, Mail};
use model::mailboxes::{self, Mailbox};
use node::quiet::QuietMode;
use rustls::RootCertStore;
use server::demo::Sample;
use server::mail_in::smtp::ListenAddress;
use server::router;
use server::serve::serve_router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use transport::mail_oauth::{NoTokens, OAuthClients};
use transport::mail_out::dns_records::SendingSetup;
use transport::mail_out::{FolderRelay, RelayConfig, RelayTarget};
use transport::mailbox_setup::MailboxFinder;
use transport::net::config::NetConfig;
use transport::webhooks::{DEADLINE, HttpWebhookSender, SsrfGuard, SsrfRules, SystemResolver};

/// The system's time and what a test has moved it ahead.
struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> i64 {
        SystemClock.now() + self.0.load(Ordering::SeqCst)
    }
}

pub struct TestServer {
    pub app: App,
    pub address: String,
    pub sample: Sample,
    pub ines: Actor,
    clock: Arc<MovedClock>,
    folder: tempfile::TempDir,
}

/// Due work that goes on while this is kept.
pub struct Working(JoinHandle<()>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl TestServer {
    pub async fn open() -> TestServer {
        TestServer::open_at("127.0.0.1").await
    }

    /// At a name, without which browsers offer no passkeys.
    pub async fn open_by_name() -> TestServer {
        TestServer::open_at("localhost").await
    }

    async fn open_at(host: &str) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("test.db").display());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{host}:{}", listener.local_addr().unwrap().port());
        let clock = Arc::new(MovedClock(AtomicI64::new(0)));
        let app = App {
            store: db::Store::open(&url, &db::StoreOptions::default(), model::schema::MIGRATIONS)
                .unwrap(),
            clock: clock.clone(),
            ids: Arc::new(Ids::random()),
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
            sealer: Arc::new(base::security::secret_sealer::NoopSealer),
            has_relay: true,
            public_url: address.as_str().into(),
        };
        let sample = server::demo::fill(&app).await.unwrap();
        let email = sample.owner_email.clone();
        let ines = app.store.read(move |tx| actor::person(tx, 1, &email)).await.unwrap();
        let relays = RelayConfig {
            target: RelayTarget::Nowhere,
            public_url: None,
            net: NetConfig::default(),
        };
        let guard = SsrfGuard::new(Arc::new(SystemResolver::default()), SsrfRules::new(false));
        let finder =
            MailboxFinder::new(None, guard, relays.dialling(Arc::new(NoTokens)).unwrap()).unwrap();
        let options = router::HttpOptions {
            developer_site: None,
            oauth_registration: true,
            ssrf_guard: SsrfGuard::new(Arc::new(SystemResolver::default()), SsrfRules::new(true)),
            mails: true,
            quiet: QuietMode::always(false),
            mail_setup: router::MailSetup {
                smtp: "127.0.0.1:2525".parse().unwrap(),
                lmtp: ListenAddress::Off,
                sending: SendingSetup { host: Some("mail.lumen-holz.example".into()), relay: None },
                dns: None,
                writes_files: false,
            },
            program: program(),
            relay: relays.open_router(Arc::new(NoTokens)).unwrap(),
            dialling: relays.dialling(Arc::new(NoTokens)).unwrap(),
            mailbox_finder: Arc::new(finder),
            model: None,
            oauth_clients: OAuthClients::default(),
            presence: None,
            oidc: None,
            first_run: None,
            demo_visits: None,
        };
        let router = router::router(app.clone(), options);
        tokio::spawn(serve_router(listener, router, std::future::pending()));
        TestServer { app, address, sample, ines, clock, folder }
    }

    /// Does what falls due, until the answer is dropped. Mail goes into a folder.
    pub fn keep_working(&self) -> Working {
        let relay = Arc::new(FolderRelay::open(&self.outbox()).unwrap());
        let ssrf_guard = SsrfGuard::new(Arc::new(SystemResolver::default()), SsrfRules::new(true));
        let webhook_sender =
            HttpWebhookSender::new(ssrf_guard, RootCertStore::empty(), DEADLINE).unwrap();
        let reader = BuiltInReader::with_program(program());
        let worker =
            Worker::new(self.app.clone(), relay, Arc::new(webhook_sender), Arc::new(reader));
        Working(tokio::spawn(async move { worker.run(std::future::pending()).await }))
    }

    /// Where mail goes.
    pub fn outbox(&self) -> PathBuf {
        self.folder.path().join("outbox")
    }

    /// What follows a mark in the newest mail that has it.
    pub fn mailed(&self, mark: &str, chars: usize) -> Option<String> {
        let entries = std::fs::read_dir(self.outbox()).ok()?;
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort_by_key(|path| path.metadata().and_then(|about| about.modified()).ok());
        files.iter().rev().find_map(|path| {
            let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).replace("=\r\n", "");
            text.split_once(mark).map(|(_, rest)| rest.chars().take(chars).collect())
        })
    }

    pub fn advance(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::SeqCst);
    }

    pub async fn person(&self, first_name: &str) -> Actor {
        let email = format!("{}@lumen-holz.example", first_name.to_lowercase());
        self.app.store.read(move |tx| actor::person(tx, 1, &email)).await.unwrap()
    }

    /// A link that signs somebody in.
    pub async fn sign_in_link(&self, person: &Actor) -> String {
        let actor::Principal::Person { id, .. } = person.who.clone() else {
            panic!("not a person")
        };
        let workspace = self.ines.workspace.clone();
        let operator = Actor::system(self.ines.ws, workspace, actor::Circle::team());
        self.app
            .act(&operator, move |tx, cx| sessions::make_recovery_link(tx, cx, &id))
            .await
            .unwrap()
    }

    async fn support(&self) -> Mailbox {
        let seen = self.app.act(&self.ines, |tx, cx| mailboxes::all_seen_by(tx, cx.actor));
        let seen = seen.await.unwrap();
        seen.into_iter().find(|mailbox| mailbox.name == "Support").unwrap()
    }

    /// An inbox of the team that nobody has written to yet.
    pub async fn add_inbox(&self, name: &str) -> Mailbox {
        let (name, address) =
            (name.to_owned(), format!("{}@lumen-holz.example", name.to_lowercase()));
        let added = self.app.act(&self.ines, move |tx, cx| {
            let id = setup::add_mailbox(tx, cx, &address, &name, None)?;
            mailboxes::seen_by(tx, cx.actor, &id)
        });
        added.await.unwrap().unwrap()
    }

    /// A mail from a customer to an inbox.
    pub async fn mail_to(
        &self,
        inbox: &Mailbox,
        from: &str,
        subject: &str,
        text: &str,
    ) -> FiledMail {
        self.take_in(inbox.clone(), from, subject, text, None, Vec::new()).await
    }

    /// A mail from a customer, with the bytes it came as where a test cares.
    pub async fn mail(
        &self,
        from: &str,
        subject: &str,
        text: &str,
        raw: Option<&str>,
    ) -> FiledMail {
        self.take_in(self.support().await, from, subject, text, raw, Vec::new()).await
    }

    /// A mail from a customer with files.
    pub async fn mail_with(
        &self,
        from: &str,
        subject: &str,
        text: &str,
        files: Vec<Attachment>,
    ) -> FiledMail {
        self.take_in(self.support().await, from, subject, text, None, files).await
    }

    async fn take_in(
        &self,
        mailbox: Mailbox,
        from: &str,
        subject: &str,
        text: &str,
        raw: Option<&str>,
        files: Vec<Attachment>,
    ) -> FiledMail {
        let (email, name) = from.split_once(' ').unwrap();
        let put = |file: &Attachment| self.app.blobs.put(&file.bytes).unwrap();
        let attachments = files.iter().map(put).collect();
        let mail = Mail {
            no_automatic_reply: false,
            message_id: None,
            answers: Vec::new(),
            from: Address::new(Some(name), email),
            to: vec![Address::new(None, mailbox.address.as_str())],
            cc: Vec::new(),
            delivered_to: mailbox.address.to_string(),
            subject: subject.into(),
            text: text.into(),
            quoted: String::new(),
            kind: AuthorKind::Person,
            dmarc: Dmarc::Pass,
            warning: None,
            attachments: files,
            has_html: raw.is_some(),
        };
        let raw = raw.map(|raw| self.app.blobs.put(raw.as_bytes()).unwrap());
        let incoming = IncomingMail {
            mail,
            raw,
            content_hash: None,
            attachments,
            authentication: None,
            joins: None,
        };
        let service = Actor::system(1, self.ines.workspace.clone(), Circle::team());
        let receive = self.app.act(&service, move |tx, cx| {
            if let Some(raw) = &incoming.raw {
                base::files::blobs::keep(tx, cx.actor.ws, raw)?;
            }
            inbound::receive::receive(tx, cx, &mailbox, &incoming)
        });
        receive.await.unwrap()
    }

    /// Ines has read a conversation up to now.
    pub async fn mark_read(&self, mail: &FiledMail) {
        let id = mail.conversation.to_string();
        let read =
            self.app.act(&self.ines, move |tx, cx| open_conversation::mark_read(tx, cx, &id));
        read.await.unwrap();
    }

    /// Ines has written to somebody from whom there is mail.
    pub async fn written_to(&self, email: &str) {
        let email = email.to_owned();
        let noted = self.app.store.write(move |tx| {
            let sql = "UPDATE contacts SET standing = 'trusted' WHERE email = ?1";
            tx.exec(sql, &[&email])?;
            Ok::<_, base::error::Error>(())
        });
        noted.await.unwrap();
    }

    /// Robo writes a draft on a conversation.
    pub async fn draft(&self, conversation: &str, text: &str) -> String {
        let robo = self.robo().await;
        let input = ReplyInput {
            id: conversation.to_owned(),
            body: text.to_owned(),
            summary: Some("Answers the question".into()),
            ..ReplyInput::default()
        };
        let written = self.app.act(&robo, move |tx, cx| reply(tx, cx, input.clone()));
        written.await.unwrap().message_id.to_string()
    }

    /// A webhook with a log, a saved reply and a mention of Ines: the pages that show them.
    pub async fn furnish(&self) -> Vec<String> {
        let robo = self.robo().await;
        let url = webhooks::check_url("https://hooks.example.com/in", false).unwrap();
        let furnished = self.app.act(&self.ines, move |tx, cx| {
            let hook = webhooks::add_webhook(tx, cx, &url, false, true)?;
            delivery_log::send_test_event(tx, cx, &hook.id)?;
            delivery_log::pause_webhook(tx, cx, &hook.id)?;
            let thanks = saved_replies::SavedReplyInput {
                name: "Thanks".into(),
                folder: "Greetings".into(),
                body: "Hello {{first_name|there}}".into(),
            };
            let saved = saved_replies::save_reply(tx, cx, &thanks, &[])?;
            let inbox = mailboxes::all_seen_by(tx, cx.actor)?.remove(0);
            let person = setup::list_people(tx, cx)?.pop().unwrap();
            let kinds = types::list(tx, cx.actor)?;
            let kind = kinds.into_iter().find(|kind| kind.circle.is_team()).unwrap();
            let booked = bookings::list(tx, cx.actor, &BookingFilter::default(), 1)?.remove(0);
            Ok(vec![
                format!("/settings/bookings/types/{}", kind.id),
                format!("/settings/hours/{}", inbox.id),
                format!("/calendar/{}", booked.id),
                format!("/settings/webhooks/{}", hook.id),
                format!("/settings/replies/{saved}"),
                format!("/settings/inboxes/{}", inbox.id),
                format!("/settings/people/{}/remove", person.id),
            ])
        });
        let pages = furnished.await.unwrap();
        let received = self.mail("ann@shop.example Ann Shop", "A mention", "Hello", None).await;
        let input =
            AddNoteInput { id: received.conversation.to_string(), body: "@Ines, look".into() };
        let noted = self.app.act(&robo, move |tx, cx| add_note(tx, cx, input.clone()).map(|_| ()));
        noted.await.unwrap();
        pages
    }

    /// The sample's agent.
    async fn robo(&self) -> Actor {
        let key = KeyHash::of(&self.sample.live_key).unwrap();
        let now = self.app.clock.now();
        self.app.store.read(move |tx| actor::authenticate(tx, &key, now)).await.unwrap().0
    }

    /// The status and text of the latest message of ours.
    pub async fn latest(&self, conversation: &str) -> (String, String) {
        let id = conversation.to_owned();
        let read = self.app.act(&self.ines, move |tx, cx| {
            let reading =
                open_conversation::read_conversation(tx, cx, &id, &timeline::TimelinePart::Newest)?;
            let ours = reading.entries.iter().rev().find_map(|entry| match entry {
                timeline::TimelineEntry::Message(message) => {
                    message.status.map(|status| (status.as_str().to_owned(), message.text.clone()))
                }
                _ => None,
            });
            Ok(ours.unwrap_or_default())
        });
        read.await.unwrap()
    }
}

/// The built program, which stands beside the tests.
pub fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().parent().unwrap().join("mailroom");
    assert!(built.exists(), "build it first: cargo build -p mailroom");
    built
}
