//! Finds and removes blobs that nothing names: rows that no message, document or other row refers to, and
//! files without a row, as they are left when a process was killed between writing the two.

use std::collections::BTreeSet;
use std::time::SystemTime;

use base::actor::{Actor, Circle};
use base::app::App;
use base::error::{Error, Result};
use base::ids::{MessageId, WorkspaceId};
use base::limits::MINUTE_MS;
use db::Tx;
use model::erasure;
use model::guests::secure;

use super::purge::FRESH;

/// Blobs looked at in one transaction.
const AT_ONCE: i64 = 500;
/// A row that names a file in a shared store is there by then.
const SET_ASIDE_MS: i64 = 10 * MINUTE_MS;

/// Columns that name a blob.
const NAMED_BY: &[(&str, &str)] = &[
    ("messages", "raw_hash"),
    ("documents", "hash"),
    ("attachments", "hash"),
    ("saved_reply_files", "hash"),
    ("previews", "preview"),
];

/// What was removed, and what a running server removes later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweptBlobs {
    /// Rows that nothing named.
    pub rows: u64,
    /// Files without a row.
    pub files: u64,
    /// Files that are left to a running server, because mail that comes in may use them.
    pub later: u64,
}

/// Removes blobs that nothing names. It may be repeated, and may run beside a server.
pub async fn sweep(app: &App) -> Result<SweptBlobs> {
    let mut swept = SweptBlobs::default();
    let workspaces = app.store.read(workspaces).await?;
    for (ws, workspace) in workspaces {
        let mut after = String::new();
        loop {
            let from = after.clone();
            let page = app.store.read(move |tx| list_unreferenced(tx, ws, &from)).await?;
            let Some(last) = page.last else { break };
            after = last;
            if !page.unnamed.is_empty() {
                let (own, workspace) = (app.clone(), workspace.clone());
                let drop =
                    move |tx: &mut Tx<'_>| drop_rows(tx, &own, ws, &workspace, &page.unnamed);
                swept.rows += app.store.write(drop).await?;
            }
        }
    }
    sweep_files(app, &mut swept).await?;
    Ok(swept)
}

fn workspaces(tx: &mut Tx<'_>) -> Result<Vec<(i64, WorkspaceId)>> {
    Ok(tx.all("SELECT ws, id FROM workspaces ORDER BY ws", &[])?)
}

/// Some blobs of a workspace, in the order of their hashes.
struct BlobPage {
    last: Option<String>,
    /// Those of them that no column names.
    unnamed: Vec<String>,
}

fn list_unreferenced(tx: &mut Tx<'_>, ws: i64, after: &str) -> Result<BlobPage> {
    let hashes: Vec<(String,)> = tx.all(
        "SELECT hash FROM blobs WHERE ws = ?1 AND hash > ?2 ORDER BY hash LIMIT ?3",
        &[&ws, &after, &AT_ONCE],
    )?;
    let last = hashes.last().map(|(hash,)| hash.clone());
    let mut unnamed = Vec::new();
    for (hash,) in hashes {
        if !is_named(tx, ws, &hash)? {
            unnamed.push(hash);
        }
    }
    Ok(BlobPage { last, unnamed })
}

fn is_named(tx: &mut Tx<'_>, ws: i64, hash: &str) -> Result<bool> {
    for (table, column) in NAMED_BY {
        let found: Option<(String,)> = tx.opt(
            &format!("SELECT {column} FROM {table} WHERE ws = ?1 AND {column} = ?2 LIMIT 1"),
            &[&ws, &hash],
        )?;
        if found.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the rows of blobs that are still unnamed, also by the sealed words of protected messages.
fn drop_rows(
    tx: &mut Tx<'_>,
    app: &App,
    ws: i64,
    workspace: &WorkspaceId,
    hashes: &[String],
) -> Result<u64> {
    let protected = protected_files(tx, app, ws, workspace)?;
    let mut dropped = 0;
    for hash in hashes.iter().filter(|hash| !protected.contains(*hash)) {
        if !is_named(tx, ws, hash)? {
            let now = app.clock.now();
            let gone = erasure::overwriting(tx, |tx| erasure::drop_blob(tx, ws, hash, now))?;
            dropped += u64::from(gone);
        }
    }
    Ok(dropped)
}

/// The files of protected messages. One that cannot be opened may name any of them.
fn protected_files(
    tx: &mut Tx<'_>,
    app: &App,
    ws: i64,
    workspace: &WorkspaceId,
) -> Result<BTreeSet<String>> {
    let actor = Actor::system(ws, workspace.clone(), Circle::team());
    let messages: Vec<(MessageId,)> =
        tx.all("SELECT message FROM secure_messages WHERE ws = ?1", &[&ws])?;
    let mut files = BTreeSet::new();
    for (message,) in &messages {
        let content = secure::load(tx, &app.cx(&actor), message)?;
        files.extend(content.files.into_iter().map(|file| file.hash));
    }
    Ok(files)
}

async fn sweep_files(app: &App, swept: &mut SweptBlobs) -> Result<()> {
    let blobs = app.blobs.clone();
    let listed = tokio::task::spawn_blocking(move || {
        let mut listed = Vec::new();
        blobs.each_file(&mut |hash, touched| {
            listed.push((hash, touched));
            Ok(())
        })?;
        Ok::<_, std::io::Error>(listed)
    });
    let is_shared = app.blobs.shared_files().is_some();
    for some in listed.await??.chunks(AT_ONCE as usize) {
        let hashes: Vec<String> = some.iter().map(|(hash, _)| hash.clone()).collect();
        let strays = app.store.read(move |tx| without_row(tx, &hashes)).await?;
        for (hash, touched) in some.iter().filter(|(hash, _)| strays.contains(hash)) {
            let age = touched.and_then(|at| SystemTime::now().duration_since(at).ok());
            if is_shared {
                set_aside(app, hash).await?;
                swept.later += 1;
            } else if age.is_some_and(|age| age >= FRESH) {
                app.blobs.remove_file(hash)?;
                swept.files += 1;
            } else {
                swept.later += 1;
            }
        }
    }
    Ok(())
}

fn without_row(tx: &mut Tx<'_>, hashes: &[String]) -> Result<BTreeSet<String>> {
    let mut strays = BTreeSet::new();
    for hash in hashes {
        let found: Option<(i64,)> =
            tx.opt("SELECT ws FROM blobs WHERE hash = ?1 AND packed IS NULL LIMIT 1", &[hash])?;
        if found.is_none() {
            strays.insert(hash.clone());
        }
    }
    Ok(strays)
}

/// Marks a file of a shared store and leaves it to the server, which removes it unless a row came.
async fn set_aside(app: &App, hash: &str) -> Result<()> {
    let due_at = app.clock.now() + SET_ASIDE_MS;
    let (blobs, name) = (app.blobs.clone(), hash.to_owned());
    tokio::task::spawn_blocking(move || blobs.set_aside(&name)).await??;
    let hash = hash.to_owned();
    let queue = move |tx: &mut Tx<'_>| {
        tx.exec(
            "INSERT INTO unused_blobs (hash, set_aside, due_at) VALUES (?1, TRUE, ?2)
             ON CONFLICT (hash) DO NOTHING",
            &[&hash, &due_at],
        )?;
        Ok::<_, Error>(())
    };
    app.store.write(queue).await
}
