//! Filling a database through the same functions that mail and people use.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use actions::inboxes::setup::{self, NewWorkspace};
use actions::integrations::keys;
use actions::sign_in::sessions;
use api::operations::reply;
use api::operations::{
    AddNoteInput, AssignConversationInput, ReplyInput, SetStatusInput, TagConversationInput,
};
use api::operations::{add_note, assign_conversation, set_status, tag_conversation};
use base::actor::{self, Actor, Circle, Role};
use base::app::{App, Cx};
use base::files::blobs::Blobs;
use base::ids::{ConversationId, Ids};
use base::mail_reading::MailReading;
use base::rate_limit::RateLimiter;
use base::security::scopes::Scope;
use base::states::Status;
use base::time::{Clock, SystemClock};
use db::{DatabaseUrl, Store, Tx};
use model::mailboxes::{self, Mailbox};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::database;
use crate::fill::lane::{Act, BEGINNING, Finished, Lane, LaneStep, written_at};
use crate::fill::words::Vocabulary;
use crate::fill::workspace::GeneratedMail;

/// Messages that share one transaction. PostgreSQL cannot clear away the old rows of a
/// transaction that is still open, and mail comes in one by one.
const AT_ONCE_SQLITE: usize = 250;
const AT_ONCE_POSTGRES: usize = 10;
/// One rare word for so many messages.
const MESSAGES_PER_RARE_WORD: usize = 5_000;
/// Conversations of a kind that are remembered, per inbox.
const REMEMBERED: usize = 2_500;
/// Messages after which PostgreSQL's tables are counted for the first time.
const FIRST_COUNT: usize = 500;
/// Stands for the number of messages when there will be no more.
const ENDED: usize = usize::MAX;
const PROGRESS: Duration = Duration::from_secs(2);

/// The inboxes, each filled by a writer of its own. Writers share no rows that change.
const INBOXES: [(&str, &str); 4] = [
    ("support@bench.example", "Support"),
    ("orders@bench.example", "Orders"),
    ("billing@bench.example", "Billing"),
    ("returns@bench.example", "Returns"),
];
const OWNER: &str = "olive@bench.example";
const TEAM: [(&str, &str); 4] = [
    ("ines@bench.example", "Ines Marti"),
    ("tom@bench.example", "Tom Baker"),
    ("rosa@bench.example", "Rosa Novak"),
    ("kofi@bench.example", "Kofi Adams"),
];

/// What the load has to know of a database that was filled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seeded {
    pub schema: u64,
    pub seed: u64,
    pub messages: usize,
    pub conversations: usize,
    pub rare_words: usize,
    pub key: String,
    /// The token of the owner's session, begun when the database was filled.
    pub session: String,
    pub seconds: f64,
    pub bytes: u64,
    /// Conversations of 20 and of 10 messages, to be read.
    pub of_20: Vec<String>,
    pub of_10: Vec<String>,
    /// Conversations that notes are written to, and that are not read.
    pub for_notes: Vec<String>,
}

/// What tells a kept database of another schema from one that can be used again.
pub fn schema() -> u64 {
    let mut hasher = DefaultHasher::new();
    for step in model::schema::MIGRATIONS {
        (step.both, step.sqlite, step.postgres).hash(&mut hasher);
    }
    hasher.finish()
}

/// Fills an empty database with a workspace of so many messages.
pub fn seed(url: &str, messages: usize, seed: u64) -> Result<Seeded, String> {
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(INBOXES.len())
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let blobs = Blobs::open(scratch.path()).map_err(|error| error.to_string())?;
    let options =
        db::StoreOptions { connections: 2 * INBOXES.len(), ..db::StoreOptions::default() };
    let store =
        Store::open(url, &options, model::schema::MIGRATIONS).map_err(|error| error.to_string())?;
    let app = App {
        store,
        clock: Arc::new(Beginning),
        ids: Arc::new(Ids::with_seed(seed)),
        blobs,
        reading: MailReading::new(&scratch.path().join("reading"), Arc::new(GeneratedMail)),
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
    };
    let written = Arc::new(AtomicUsize::new(0));
    let planning = Planning::start(url, written.clone());
    let filled = runtime.block_on(fill(app, messages, seed, at_once(url), written));
    planning.end();
    drop(runtime);
    let mut seeded = filled.map_err(|error| error.to_string())?;
    seeded.seconds = started.elapsed().as_secs_f64();
    database::settle(url)?;
    seeded.bytes = database::bytes(url)?;
    Ok(seeded)
}

/// Messages that share one transaction of this database.
pub fn at_once(url: &str) -> usize {
    match DatabaseUrl::parse(url) {
        Ok(DatabaseUrl::Postgres(_)) => AT_ONCE_POSTGRES,
        _ => AT_ONCE_SQLITE,
    }
}

/// People and keys are made when the history begins; after that each act brings its own time.
struct Beginning;

impl Clock for Beginning {
    fn now(&self) -> i64 {
        BEGINNING
    }
}

/// Counts PostgreSQL's tables anew as they grow. Left to itself it does so once a minute, and
/// until then it plans for tables that are empty.
pub struct Planning {
    written: Arc<AtomicUsize>,
    thread: thread::JoinHandle<()>,
}

impl Planning {
    pub fn start(url: &str, written: Arc<AtomicUsize>) -> Planning {
        let (url, count) = (url.to_owned(), written.clone());
        let thread = thread::spawn(move || {
            let mut next = FIRST_COUNT;
            while let so_far @ 0..ENDED = count.load(Ordering::Relaxed) {
                if so_far < next {
                    thread::sleep(Duration::from_millis(50));
                    continue;
                }
                next = so_far * 2;
                if let Err(error) = database::count_tables(&url) {
                    eprintln!("  {error}");
                }
            }
        });
        Planning { written, thread }
    }

    pub fn end(self) {
        self.written.store(ENDED, Ordering::Relaxed);
        if self.thread.join().is_err() {
            eprintln!("  the tables were not counted");
        }
    }
}

async fn fill(
    app: App,
    messages: usize,
    seed: u64,
    at_once: usize,
    written: Arc<AtomicUsize>,
) -> base::error::Result<Seeded> {
    let (owner, key, session) = set_up(&app).await?;
    let vocabulary = Arc::new(Vocabulary::new(seed));
    let rare_words = (messages / MESSAGES_PER_RARE_WORD).max(2);
    let mut lanes = JoinSet::new();
    for (number, (address, _)) in INBOXES.into_iter().enumerate() {
        let share = messages / INBOXES.len() + usize::from(number < messages % INBOXES.len());
        let rare = (0..rare_words).filter(move |rare| rare % INBOXES.len() == number);
        let lane = Lane::new(vocabulary.clone(), seed, number, address, share, rare);
        let ids = Arc::new(Ids::with_seed(seed.wrapping_add(1 + number as u64)));
        let workspace = Stage::enter(App { ids, ..app.clone() }, &owner, number).await?;
        lanes.spawn(fill_inbox(lane, workspace, at_once, written.clone()));
    }
    let mut seeded = Seeded {
        schema: schema(),
        seed,
        messages,
        conversations: 0,
        rare_words,
        key,
        session,
        seconds: 0.0,
        bytes: 0,
        of_20: Vec::new(),
        of_10: Vec::new(),
        for_notes: Vec::new(),
    };
    let telling = tokio::spawn(tell_progress(written, messages));
    while let Some(filled) = lanes.join_next().await {
        let filled = filled.expect("a writer does not panic")?;
        seeded.conversations += filled.conversations;
        seeded.of_20.extend(filled.of_20);
        seeded.of_10.extend(filled.of_10);
        seeded.for_notes.extend(filled.for_notes);
    }
    telling.abort();
    // The order in which the writers finish is not part of the seed.
    for ids in [&mut seeded.of_20, &mut seeded.of_10, &mut seeded.for_notes] {
        ids.sort_unstable();
    }
    Ok(seeded)
}

async fn set_up(app: &App) -> base::error::Result<(Actor, String, String)> {
    let (inbox, inbox_name) = INBOXES[0];
    let new = NewWorkspace {
        name: "Bench".into(),
        owner_email: OWNER.into(),
        owner_name: "Olive Owner".into(),
        inbox: inbox.into(),
        inbox_name: inbox_name.into(),
    };
    let operator = Actor::operator(&app.ids);
    let made = app.act(&operator, move |tx, cx| setup::set_up_workspace(tx, cx, &new)).await?;
    let workspaces = app.store.read(setup::list_workspaces).await?;
    let known = workspaces.iter().find(|workspace| workspace.id == made.workspace);
    let ws =
        known.map(|workspace| workspace.ws).ok_or(base::error::Error::NotFound("workspace"))?;
    let owner = app.store.read(move |tx| actor::person(tx, ws, OWNER)).await?;
    let key = app
        .act(&owner, |tx, cx| {
            for (address, name) in &INBOXES[1..] {
                setup::add_mailbox(tx, cx, address, name, None)?;
            }
            for (email, name) in TEAM {
                setup::add_person(tx, cx, email, name, Role::Member)?;
            }
            keys::make_key(tx, cx, "Bench", Scope::ALL, true)
        })
        .await?;
    let (ids, ws) = (app.ids.clone(), owner.ws);
    let session = app
        .store
        .write(move |tx| {
            // The server that is measured goes by the system's clock.
            sessions::begin_session(tx, &ids, SystemClock.now(), ws, &made.owner, "bench", true)
        })
        .await?;
    Ok((owner, key.key, session))
}

/// One inbox and those who work in it.
pub struct Stage {
    pub app: App,
    pub mailbox: Mailbox,
    pub person: Actor,
    pub service: Actor,
}

impl Stage {
    async fn enter(app: App, owner: &Actor, number: usize) -> base::error::Result<Stage> {
        let seen = app.act(owner, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await?;
        let mailbox = seen.into_iter().find(|mailbox| mailbox.address == INBOXES[number].0);
        let mailbox = mailbox.ok_or(base::error::Error::NotFound("inbox"))?;
        let ws = owner.ws;
        let person = app.store.read(move |tx| actor::person(tx, ws, TEAM[number].0)).await?;
        let service = Actor::system(ws, owner.workspace.clone(), Circle::team());
        Ok(Stage { app, mailbox, person, service })
    }

    fn cx<'a>(&'a self, actor: &'a Actor, now: i64) -> Cx<'a> {
        Cx { now, ..self.app.cx(actor) }
    }
}

/// What an inbox was filled with.
#[derive(Default)]
pub struct Filled {
    pub conversations: usize,
    of_20: Vec<String>,
    of_10: Vec<String>,
    for_notes: Vec<String>,
}

impl Filled {
    fn remember(&mut self, id: ConversationId, messages: usize) {
        self.conversations += 1;
        let list = match messages {
            20 => &mut self.of_20,
            10 => &mut self.of_10,
            12 => &mut self.for_notes,
            _ => return,
        };
        if list.len() < REMEMBERED {
            list.push(id.as_str().to_owned());
        }
    }
}

type Known = HashMap<usize, ConversationId>;

/// Lets everything happen that the history of an inbox says.
pub async fn fill_inbox(
    mut lane: Lane,
    workspace: Stage,
    at_once: usize,
    written: Arc<AtomicUsize>,
) -> base::error::Result<Filled> {
    let (store, workspace) = (workspace.app.store.clone(), Arc::new(workspace));
    let mut known = Known::new();
    let mut filled = Filled::default();
    loop {
        let (acts, finished, messages) = next_acts(&mut lane, at_once);
        if acts.is_empty() {
            return Ok(filled);
        }
        let (workspace, before) = (workspace.clone(), known.clone());
        known = store.write(move |tx| perform(tx, &workspace, &acts, before.clone())).await?;
        written.fetch_add(messages, Ordering::Relaxed);
        for Finished { conversation, messages } in finished {
            if let Some(id) = known.remove(&conversation) {
                filled.remember(id, messages);
            }
        }
    }
}

fn next_acts(lane: &mut Lane, at_once: usize) -> (Vec<Act>, Vec<Finished>, usize) {
    let (mut acts, mut finished, mut messages) = (Vec::new(), Vec::new(), 0);
    while messages < at_once
        && let Some(last) = lane.go_on(&mut acts)
    {
        finished.extend(last);
        messages += 1;
    }
    (acts, finished, messages)
}

/// Does what the acts say; answers the conversations that are known afterwards.
fn perform(
    tx: &mut Tx<'_>,
    workspace: &Stage,
    acts: &[Act],
    mut known: Known,
) -> base::error::Result<Known> {
    for act in acts {
        let (service, person) =
            (workspace.cx(&workspace.service, act.at), workspace.cx(&workspace.person, act.at));
        if let LaneStep::Mail(incoming) = &act.step {
            let received = inbound::receive::receive(tx, &service, &workspace.mailbox, incoming)?;
            known.insert(act.conversation, received.conversation);
            continue;
        }
        let id = known.get(&act.conversation).map_or("", ConversationId::as_str).to_owned();
        match &act.step {
            LaneStep::Mail(_) => {}
            LaneStep::Reply(text) => send_reply(tx, workspace, act.at, id, text)?,
            LaneStep::Tag(names) => {
                let input = TagConversationInput { id, add: names.clone(), remove: Vec::new() };
                tag_conversation(tx, &person, input)?;
            }
            LaneStep::Assign => {
                assign_conversation(tx, &person, AssignConversationInput { id, to: "me".into() })?;
            }
            LaneStep::Note(body) => {
                add_note(tx, &person, AddNoteInput { id, body: body.clone() })?;
            }
            LaneStep::Close => {
                set_status(tx, &person, SetStatusInput { id, status: Status::Closed })?;
            }
        }
    }
    Ok(known)
}

fn send_reply(
    tx: &mut Tx<'_>,
    workspace: &Stage,
    at: i64,
    id: String,
    text: &str,
) -> base::error::Result<()> {
    let input = ReplyInput { id, body: text.to_owned(), send: true, ..ReplyInput::default() };
    let scheduled = reply(tx, &workspace.cx(&workspace.person, written_at(at)), input)?;
    let (message, mut conversation) =
        outbound::messages::load_outgoing(tx, &workspace.service, &scheduled.message_id)?;
    outbound::messages::mark_sent(
        tx,
        &workspace.cx(&workspace.service, at),
        &mut conversation,
        &message,
    )
}

pub async fn tell_progress(written: Arc<AtomicUsize>, messages: usize) {
    let started = Instant::now();
    let (mut before, mut then) = (0, started);
    loop {
        tokio::time::sleep(PROGRESS).await;
        let (now, so_far) = (Instant::now(), written.load(Ordering::Relaxed));
        let rate = (so_far - before) as f64 / (now - then).as_secs_f64();
        eprintln!("  {so_far} of {messages} messages, {rate:.0} a second");
        (before, then) = (so_far, now);
    }
}
