//! A small workspace for the figures of due work: conversations, two keys and webhooks.

use std::path::Path;
use std::sync::Arc;

use db::{Store, Tx};
use inbox::actor::{self, Actor, Circle, Scope};
use inbox::blobs::Blobs;
use inbox::ids::Ids;
use inbox::mailboxes::{self, Mailbox};
use inbox::people::{self, NewWorkspace};
use inbox::time::SystemClock;
use inbox::{App, Incoming, Limiter};
use mail::{Address, Dmarc, Kind, Mail};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::database::{self, Kind as Database, Passing};

const OWNER: &str = "olive@bench.example";
const INBOX: &str = "support@bench.example";

/// An empty database that goes with this.
pub struct Place {
    pub url: String,
    pub folder: TempDir,
    _passing: Option<Passing>,
}

impl Place {
    /// `postgres` is a server on which databases can be made.
    pub fn new(database: Database, postgres: Option<&str>, name: &str) -> Result<Place, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if database == Database::Sqlite {
            let url = format!("sqlite:{}", folder.path().join("mailroom.db").display());
            return Ok(Place { url, folder, _passing: None });
        }
        let admin = postgres.ok_or("--postgres is needed")?;
        let name = format!("mailroom_bench_{name}_{}", std::process::id());
        let url = database::create_postgres(admin, &name)?;
        Ok(Place { url, folder, _passing: Some(Passing::new(admin, &name)) })
    }
}

/// An address that is told of events.
pub struct Hook {
    pub url: String,
    pub livemode: bool,
}

/// Who works in the workspace, and on what.
pub struct Stage {
    pub live_key: String,
    pub test_key: String,
    /// Open conversations of the one inbox, of one mail each.
    pub conversations: Vec<String>,
}

/// Fills an empty database.
pub fn set(place: &Place, conversations: usize, hooks: Vec<Hook>) -> Result<Stage, String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let store = open(&place.url)?;
    let app = app(store, place.folder.path())?;
    runtime.block_on(fill(&app, conversations, hooks)).map_err(|error| error.to_string())
}

/// Opens the database of a server that is not running.
pub fn open(url: &str) -> Result<Store, String> {
    let options = db::Options { connections: 2, ..db::Options::default() };
    Store::open(url, &options, inbox::MIGRATIONS).map_err(|error| error.to_string())
}

fn app(store: Store, folder: &Path) -> Result<App, String> {
    Ok(App {
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(Ids::random()),
        blobs: Blobs::open(&folder.join("blobs")).map_err(|error| error.to_string())?,
        limiter: Arc::new(Limiter::new(1)),
        public_url: "https://bench.example".into(),
    })
}

async fn fill(app: &App, conversations: usize, hooks: Vec<Hook>) -> inbox::Result<Stage> {
    let new = NewWorkspace {
        name: "Bench".into(),
        owner_email: OWNER.into(),
        owner_name: "Olive Owner".into(),
        inbox: INBOX.into(),
        inbox_name: "Support".into(),
    };
    let operator = Actor::operator(&app.ids);
    app.act(&operator, move |tx, cx| people::set_up_workspace(tx, cx, &new)).await?;
    let ws = app.store.read(people::list_workspaces).await?.first().map_or(0, |first| first.ws);
    let owner = app.store.read(move |tx| actor::person(tx, ws, OWNER)).await?;
    let (live_key, test_key) = app
        .act(&owner, move |tx, cx| {
            for hook in &hooks {
                let url = people::check_url(&hook.url, true)?;
                people::add_webhook(tx, cx, &url, false, hook.livemode)?;
            }
            let live = people::make_key(tx, cx, "Bench", Scope::ALL, true)?;
            let test = people::make_key(tx, cx, "Bench test", Scope::ALL, false)?;
            Ok((live.key, test.key))
        })
        .await?;
    let service = Actor::system(ws, owner.workspace.clone(), Circle::team());
    let conversations = app
        .act(&service, move |tx, cx| {
            let inbox = inbox(tx, cx.actor)?;
            let received = (0..conversations).map(|number| {
                let incoming = Incoming {
                    mail: mail(number),
                    raw: None,
                    attachments: Vec::new(),
                    joins: None,
                };
                inbox::receive(tx, cx, &inbox, &incoming)
            });
            received.map(|received| Ok(received?.conversation.as_str().to_owned())).collect()
        })
        .await?;
    Ok(Stage { live_key, test_key, conversations })
}

fn inbox(tx: &mut Tx<'_>, actor: &Actor) -> inbox::Result<Mailbox> {
    let seen = mailboxes::all_seen_by(tx, actor)?.into_iter();
    seen.into_iter().find(|seen| seen.address == INBOX).ok_or(inbox::Error::NotFound("inbox"))
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
        kind: Kind::Person,
        dmarc: Dmarc::Pass,
        warning: None,
        attachments: Vec::new(),
    }
}
