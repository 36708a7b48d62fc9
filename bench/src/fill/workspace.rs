//! A small workspace for the figures of due work: conversations, two keys and webhooks.

use std::path::Path;
use std::sync::Arc;

use actions::conversations::topics;
use actions::inboxes::setup::{self, NewWorkspace};
use actions::integrations::{keys, webhooks};
use actions::sign_in::sessions;
use base::actor::{self, Actor, Circle, Principal};
use base::app::{App, Cx};
use base::files::blobs::Blobs;
use base::ids::Ids;
use base::mail_reading::{MailParser, MailReading};
use base::rate_limit::RateLimiter;
use base::security::scopes::Scope;
use base::time::{Clock, SystemClock};
use db::{Store, Tx};
use inbound::incoming_mail::IncomingMail;
use mail::{Address, AuthorKind, Dmarc, Mail};
use model::mailboxes::{self, Mailbox};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::database::{self, DatabaseKind as Database, Passing};

/// The address of the owner.
pub const OWNER: &str = "olive@bench.example";
/// The one inbox.
pub const INBOX: &str = "support@bench.example";

/// An empty database that goes with this.
pub struct BenchDatabase {
    pub url: String,
    pub folder: TempDir,
    _passing: Option<Passing>,
}

impl BenchDatabase {
    /// `postgres` is a server on which databases can be made.
    pub fn new(
        database: Database,
        postgres: Option<&str>,
        name: &str,
    ) -> Result<BenchDatabase, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if database == Database::Sqlite {
            let url = format!("sqlite:{}", folder.path().join("mailroom.db").display());
            return Ok(BenchDatabase { url, folder, _passing: None });
        }
        let admin = postgres.ok_or("--postgres is needed")?;
        let name = format!("mailroom_bench_{name}_{}", std::process::id());
        let url = database::create_postgres(admin, &name)?;
        Ok(BenchDatabase { url, folder, _passing: Some(Passing::new(admin, &name)) })
    }
}

/// An address that is told of events.
pub struct Hook {
    pub url: String,
    pub livemode: bool,
}

/// Who works in the workspace, and on what.
pub struct BenchWorkspace {
    pub live_key: String,
    pub test_key: String,
    /// The token of the owner's session.
    pub session: String,
    /// Open conversations of the one inbox, of one mail each.
    pub conversations: Vec<String>,
}

/// Fills an empty database; the webhooks hear of everything.
pub fn set(
    place: &BenchDatabase,
    conversations: usize,
    hooks: Vec<Hook>,
) -> Result<BenchWorkspace, String> {
    let setting = Setting::new(place)?;
    setting.add_webhooks(hooks)?;
    setting.finish(conversations)
}

/// Fills an empty database; the webhooks hear only of what happens from then on.
pub fn set_quietly(
    place: &BenchDatabase,
    conversations: usize,
    hooks: Vec<Hook>,
) -> Result<BenchWorkspace, String> {
    let setting = Setting::new(place)?;
    let workspace = setting.finish(conversations)?;
    setting.add_webhooks(hooks)?;
    Ok(workspace)
}

/// Fills an empty database with a workspace that has public help pages.
pub fn set_with_help_pages(
    place: &BenchDatabase,
    conversations: usize,
) -> Result<BenchWorkspace, String> {
    let setting = Setting::new(place)?;
    setting.act(&setting.owner, crate::attack::help::publish)?;
    setting.finish(conversations)
}

/// Fills an empty database with topics that mail can be sorted by.
pub fn set_with_topics(
    place: &BenchDatabase,
    topics: Vec<String>,
) -> Result<BenchWorkspace, String> {
    let setting = Setting::new(place)?;
    setting.act(&setting.owner, move |tx, cx| {
        topics.iter().try_for_each(|name| topics::add_topic(tx, cx, name, "").map(drop))
    })?;
    setting.finish(0)
}

/// Opens the database of a server that is not running.
pub fn open(url: &str) -> Result<Store, String> {
    let options = db::StoreOptions { connections: 2, ..db::StoreOptions::default() };
    Store::open(url, &options, model::schema::MIGRATIONS).map_err(|error| error.to_string())
}

/// Mail of the load generator, all of which can be read.
pub struct GeneratedMail;

impl MailParser for GeneratedMail {
    fn survives(&self, _raw: &[u8]) -> bool {
        true
    }
}

/// The domain on such a database.
pub fn app(store: Store, folder: &Path) -> Result<App, String> {
    Ok(App {
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(Ids::random()),
        blobs: Blobs::open(&folder.join("blobs")).map_err(|error| error.to_string())?,
        reading: MailReading::new(&folder.join("reading"), Arc::new(GeneratedMail)),
        limiter: Arc::new(RateLimiter::new(1)),
        agents: Arc::default(),
        calls: Arc::default(),
        sorters: Arc::default(),
        panels: Arc::default(),
        background: base::concurrency::background_writes::BackgroundWrites::default(),
        scanner: None,
        sealer: Arc::new(base::security::secret_sealer::NoopSealer),
        has_relay: true,
        public_url: "https://bench.example".into(),
    })
}

/// A workspace that is being filled.
struct Setting {
    runtime: Runtime,
    app: App,
    owner: Actor,
}

impl Setting {
    fn new(place: &BenchDatabase) -> Result<Setting, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        let app = app(open(&place.url)?, place.folder.path())?;
        let owner = runtime.block_on(set_up(&app)).map_err(|error| error.to_string())?;
        Ok(Setting { runtime, app, owner })
    }

    fn add_webhooks(&self, hooks: Vec<Hook>) -> Result<(), String> {
        self.act(&self.owner, move |tx, cx| {
            for hook in &hooks {
                let url = webhooks::check_url(&hook.url, true)?;
                webhooks::add_webhook(tx, cx, &url, false, hook.livemode)?;
            }
            Ok(())
        })
    }

    /// Makes the keys, and lets a mail come in for each conversation.
    fn finish(&self, conversations: usize) -> Result<BenchWorkspace, String> {
        let (live_key, test_key) = self.act(&self.owner, |tx, cx| {
            let live = keys::make_key(tx, cx, "Bench", Scope::ALL, true)?;
            let test = keys::make_key(tx, cx, "Bench test", Scope::ALL, false)?;
            Ok((live.key, test.key))
        })?;
        let session = self.begin_session()?;
        let service = Actor::system(self.owner.ws, self.owner.workspace.clone(), Circle::team());
        let conversations = self.act(&service, move |tx, cx| {
            let inbox = inbox(tx, cx.actor)?;
            let received = (0..conversations).map(|number| {
                let mail = mail(number);
                let incoming = IncomingMail {
                    mail,
                    raw: None,
                    content_hash: None,
                    attachments: Vec::new(),
                    authentication: None,
                    joins: None,
                };
                inbound::receive::receive(tx, cx, &inbox, &incoming)
            });
            received.map(|received| Ok(received?.conversation.as_str().to_owned())).collect()
        })?;
        Ok(BenchWorkspace { live_key, test_key, session, conversations })
    }

    fn begin_session(&self) -> Result<String, String> {
        let (ids, ws) = (self.app.ids.clone(), self.owner.ws);
        let Principal::Person { id: owner, .. } = self.owner.who.clone() else {
            return Err("the owner is a person".into());
        };
        let begun = self.app.store.write(move |tx| {
            // The server goes by the system's clock.
            sessions::begin_session(tx, &ids, SystemClock.now(), ws, &owner, "bench", true)
        });
        self.runtime.block_on(begun).map_err(|error| error.to_string())
    }

    fn act<T: Send + 'static>(
        &self,
        actor: &Actor,
        work: impl FnMut(&mut Tx<'_>, &Cx<'_>) -> base::error::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        self.runtime.block_on(self.app.act(actor, work)).map_err(|error| error.to_string())
    }
}

/// Makes the workspace; answers its owner.
async fn set_up(app: &App) -> base::error::Result<Actor> {
    let new = NewWorkspace {
        name: "Bench".into(),
        owner_email: OWNER.into(),
        owner_name: "Olive Owner".into(),
        inbox: INBOX.into(),
        inbox_name: "Support".into(),
    };
    let operator = Actor::operator(&app.ids);
    app.act(&operator, move |tx, cx| setup::set_up_workspace(tx, cx, &new)).await?;
    let ws = app.store.read(setup::list_workspaces).await?.first().map_or(0, |first| first.ws);
    app.store.read(move |tx| actor::person(tx, ws, OWNER)).await
}

fn inbox(tx: &mut Tx<'_>, actor: &Actor) -> base::error::Result<Mailbox> {
    let mut seen = mailboxes::all_seen_by(tx, actor)?.into_iter();
    seen.find(|seen| seen.address == INBOX).ok_or(base::error::Error::NotFound("inbox"))
}

fn mail(number: usize) -> Mail {
    Mail {
        message_id: Some(format!("{number}@customers.example")),
        answers: Vec::new(),
        from: Address::new(None, &format!("customer{number}@customers.example")),
        to: vec![Address::new(None, INBOX)],
        cc: Vec::new(),
        delivered_to: INBOX.into(),
        subject: format!("Order {number}"),
        text: format!("Hello, where is order {number}?"),
        quoted: String::new(),
        kind: AuthorKind::Person,
        no_automatic_reply: false,
        dmarc: Dmarc::Pass,
        warning: None,
        attachments: Vec::new(),
        has_html: false,
    }
}
