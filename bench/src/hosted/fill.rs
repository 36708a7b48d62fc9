//! Workspaces of mixed size: a few large ones, and many that hardly have any mail.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use actions::inboxes::setup::{self, NewWorkspace, WorkspaceListing};
use actions::integrations::{keys, webhooks};
use base::actor::{self, Actor, Circle};
use base::app::{App, Cx};
use base::security::scopes::Scope;
use db::{Store, Tx};
use model::mailboxes::{self, Mailbox};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::database;
use crate::fill::lane::Lane;
use crate::fill::seed::{Filled, Planning, Stage, at_once, fill_inbox, tell_progress};
use crate::fill::words::Vocabulary;
use crate::fill::workspace::{self, BenchDatabase};

/// Workspaces that are set up in one transaction.
const SET_UP_AT_ONCE: usize = 20;
/// Workspaces that are filled at the same time.
const WRITERS: usize = 4;
/// What the smallest workspaces have, in messages.
const LEAST: usize = 2;

/// A workspace and who works in it.
#[derive(Clone)]
pub struct HostedWorkspace {
    pub ws: i64,
    pub slug: String,
    /// Of its one inbox.
    pub address: String,
    pub key: String,
    pub owner: Actor,
    pub messages: usize,
    mailbox: Mailbox,
}

/// A database with all of them.
pub struct HostedFill {
    /// The largest first.
    pub workspaces: Vec<HostedWorkspace>,
    pub seconds: f64,
    /// What a workspace takes without any mail.
    pub bytes_when_empty: u64,
    pub app: App,
    pub runtime: Runtime,
}

/// Fills an empty database.
pub fn fill(
    place: &BenchDatabase,
    workspaces: usize,
    messages: usize,
    seed: u64,
) -> Result<HostedFill, String> {
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WRITERS)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let options = db::StoreOptions { connections: 2 * WRITERS, ..db::StoreOptions::default() };
    let store = Store::open(&place.url, &options, model::schema::MIGRATIONS);
    let app = workspace::app(store.map_err(|error| error.to_string())?, place.folder.path())?;
    let before = settled_bytes(place)?;
    let sizes = sizes(workspaces, messages);
    let set_up = runtime.block_on(set_up(&app, &sizes)).map_err(|error| error.to_string())?;
    let bytes_when_empty = settled_bytes(place)?.saturating_sub(before) / workspaces as u64;
    let written = Arc::new(AtomicUsize::new(0));
    let planning = Planning::start(&place.url, written.clone());
    let filled = runtime.block_on(async {
        let telling = tokio::spawn(tell_progress(written.clone(), sizes.iter().sum()));
        let filled = write_histories(&app, &set_up, seed, at_once(&place.url), &written).await;
        telling.abort();
        filled
    });
    planning.end();
    filled?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(HostedFill { workspaces: set_up, seconds, bytes_when_empty, app, runtime })
}

/// What the database takes once it has come to rest.
pub fn settled_bytes(place: &BenchDatabase) -> Result<u64, String> {
    database::settle(&place.url)?;
    database::bytes(&place.url)
}

/// Zipf's law: the n-th workspace has 1/n of the messages of the first.
fn sizes(workspaces: usize, messages: usize) -> Vec<usize> {
    let shares: f64 = (1..=workspaces).map(|n| 1.0 / n as f64).sum();
    let size = |n: usize| (messages as f64 / shares / n as f64).round() as usize;
    (1..=workspaces).map(|n| size(n).max(LEAST)).collect()
}

/// The inbox of a workspace, by its place among them.
pub fn inbox_address(number: usize) -> String {
    format!("support@w{number}.example")
}

fn owner_address(number: usize) -> String {
    format!("olive@w{number}.example")
}

fn new_workspace(number: usize) -> NewWorkspace {
    NewWorkspace {
        name: format!("Bench {number}"),
        owner_email: owner_address(number),
        owner_name: "Olive Owner".into(),
        inbox: inbox_address(number),
        inbox_name: "Support".into(),
    }
}

async fn set_up(app: &App, sizes: &[usize]) -> base::error::Result<Vec<HostedWorkspace>> {
    let operator = Actor::operator(&app.ids);
    let numbers: Vec<usize> = (0..sizes.len()).collect();
    for some in numbers.chunks(SET_UP_AT_ONCE) {
        let some = some.to_vec();
        let make = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
            let mut made = some.iter().map(|number| new_workspace(*number));
            made.try_for_each(|new| setup::set_up_workspace(tx, cx, &new).map(drop))
        };
        app.act(&operator, make).await?;
    }
    // In the order in which they were made.
    let listed = app.store.read(setup::list_workspaces).await?;
    let numbered: Vec<(usize, WorkspaceListing)> = listed.into_iter().enumerate().collect();
    let mut workspaces = Vec::new();
    for some in numbered.chunks(SET_UP_AT_ONCE) {
        let (some, sizes) = (some.to_vec(), sizes.to_vec());
        let enter = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
            let entered = some.iter().map(|(number, listing)| {
                let entered = enter_workspace(tx, cx, *number, listing)?;
                Ok(HostedWorkspace { messages: sizes[*number], ..entered })
            });
            entered.collect::<base::error::Result<Vec<HostedWorkspace>>>()
        };
        workspaces.extend(app.act(&operator, enter).await?);
    }
    Ok(workspaces)
}

fn enter_workspace(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    number: usize,
    listing: &WorkspaceListing,
) -> base::error::Result<HostedWorkspace> {
    let owner = actor::person(tx, listing.ws, &owner_address(number))?;
    let cx = &Cx { actor: &owner, ..*cx };
    let key = keys::make_key(tx, cx, "Bench", Scope::ALL, true)?.key;
    let address = inbox_address(number);
    let mut seen = mailboxes::all_seen_by(tx, &owner)?.into_iter();
    let mailbox = seen.find(|mailbox| mailbox.address.as_str() == address);
    let mailbox = mailbox.ok_or(base::error::Error::NotFound("inbox"))?;
    let (ws, slug) = (listing.ws, listing.slug.clone());
    Ok(HostedWorkspace { ws, slug, address, key, owner: owner.clone(), messages: 0, mailbox })
}

async fn write_histories(
    app: &App,
    workspaces: &[HostedWorkspace],
    seed: u64,
    at_once: usize,
    written: &Arc<AtomicUsize>,
) -> Result<(), String> {
    let vocabulary = Arc::new(Vocabulary::new(seed));
    let mut under_way: JoinSet<base::error::Result<Filled>> = JoinSet::new();
    for (number, one) in workspaces.iter().enumerate() {
        if under_way.len() == WRITERS
            && let Some(filled) = under_way.join_next().await
        {
            filled.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        }
        let own_seed = seed.wrapping_add(number as u64);
        let no_rare_words = std::iter::empty();
        let (address, messages) = (one.address.as_str(), one.messages);
        let lane = Lane::new(vocabulary.clone(), own_seed, 0, address, messages, no_rare_words);
        let service = Actor::system(one.ws, one.owner.workspace.clone(), Circle::team());
        let stage = Stage {
            app: app.clone(),
            mailbox: one.mailbox.clone(),
            person: one.owner.clone(),
            service,
        };
        under_way.spawn(fill_inbox(lane, stage, at_once, written.clone()));
    }
    while let Some(filled) = under_way.join_next().await {
        filled.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    }
    Ok(())
}

impl HostedFill {
    /// Tells an address of everything that happens in these workspaces from now on.
    pub fn add_webhooks(&self, workspaces: &[HostedWorkspace], url: &str) -> Result<(), String> {
        for one in workspaces {
            let url = url.to_owned();
            let add = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
                let url = webhooks::check_url(&url, true)?;
                webhooks::add_webhook(tx, cx, &url, false, true).map(drop)
            };
            let added = self.runtime.block_on(self.app.act(&one.owner, add));
            added.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_workspaces_are_large_and_most_are_tiny() {
        let sizes = sizes(2_000, 60_000);
        assert!((59_000..61_000).contains(&sizes.iter().sum::<usize>()));
        assert!(sizes[0] > 7_000 && sizes[1_000] < 10 && sizes[1_999] >= LEAST);
    }
}
