//! Indexes the words of older conversations again, a few at a time, when an update changed what search
//! finds, and writes the word lists of conversations again that lost words.

use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::ConversationId;
use base::limits::DAY_MS;
use db::{StoreError, Tx};
use model::indexing::word_lists::ClaimedWordList;
use model::indexing::{index_rebuild, word_lists};

use crate::runs::runtime::{BackgroundJob, JobRound, JobRuntime, LEASE_MS};

/// Messages, notes and documents indexed in one round; a conversation is done as a whole.
const ITEMS_AT_ONCE: usize = 50;
/// Conversations looked up in one round.
const CONVERSATIONS_AT_ONCE: i64 = 25;
/// The pause between two rounds, so that other writers have their turn.
const PAUSE_MS: i64 = 20;
/// A word list that cannot be made is tried again after so long.
const UNREADABLE_MS: i64 = DAY_MS;

pub(crate) struct RebuildIndex {
    pub runtime: JobRuntime,
}

impl BackgroundJob for RebuildIndex {
    fn queue(&self) -> Queue {
        Queue::IndexRebuild
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(due_at) FROM index_rebuilds"
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let (now, store) = (self.runtime.app.clock.now(), &self.runtime.app.store);
            if !store.read(move |tx| is_due(tx, now)).await? {
                return Ok(0_usize.into());
            }
            let until = now + LEASE_MS;
            let lists =
                store.write_relaxed(move |tx| word_lists::claim_lists(tx, now, until)).await?;
            let done = match lists.len() {
                0 => self.rebuild_some(now).await?,
                _ => self.write_lists(lists, now).await?,
            };
            Ok(done.into())
        })
    }
}

impl RebuildIndex {
    /// Nobody waits while a list is made: only its writing is a write. One that cannot be made holds up
    /// no other.
    async fn write_lists(&self, lists: Vec<ClaimedWordList>, now: i64) -> Result<usize> {
        let (store, count) = (&self.runtime.app.store, lists.len());
        let mut made = Vec::with_capacity(count);
        for list in lists {
            let own = list.clone();
            match store.read(move |tx| word_lists::make_list(tx, &own)).await {
                Ok(list) => made.push(list),
                Err(error) if may_work_later(&error) => return Err(error),
                Err(error) => {
                    let num = list.num;
                    tracing::warn!(cause = ?error, num, "a word list could not be made");
                    let until = now + UNREADABLE_MS;
                    let put_off = move |tx: &mut Tx<'_>| word_lists::put_off_list(tx, &list, until);
                    store.write_relaxed(put_off).await?;
                }
            }
        }
        store.write_relaxed(move |tx| word_lists::write_lists(tx, &made)).await?;
        Ok(count)
    }

    /// Indexes some conversations. Where that fails, the first alone; where that fails too, it stays as
    /// it is.
    async fn rebuild_some(&self, now: i64) -> Result<usize> {
        let store = &self.runtime.app.store;
        for most in [CONVERSATIONS_AT_ONCE, 1] {
            match store.write_relaxed(move |tx| rebuild(tx, now, most)).await {
                Err(error) if !may_work_later(&error) => {
                    tracing::debug!(cause = ?error, most, "conversations could not be indexed");
                }
                done => return done,
            }
        }
        store.write_relaxed(move |tx| skip_next(tx, now)).await
    }
}

/// False where it is the data that cannot be read.
fn may_work_later(error: &Error) -> bool {
    let is_lost = matches!(error, Error::Store(StoreError::Conflicts(_) | StoreError::Closed));
    is_lost || error.is_temporary()
}

fn is_due(tx: &mut Tx<'_>, now: i64) -> Result<bool> {
    let due: Option<(String,)> =
        tx.opt("SELECT name FROM index_rebuilds WHERE due_at <= ?1 LIMIT 1", &[&now])?;
    Ok(due.is_some())
}

/// Losing a round in a power cut only repeats it.
fn rebuild(tx: &mut Tx<'_>, now: i64, most: i64) -> Result<usize> {
    let Some((name, mut next)) = due_rebuild(tx, now)? else { return Ok(0) };
    let conversations = conversations_from(tx, next, most)?;
    if conversations.is_empty() {
        tx.exec("DELETE FROM index_rebuilds WHERE name = ?1", &[&name])?;
        return Ok(1);
    }
    let mut items = 0;
    for (num, ws, id) in conversations {
        items += index_rebuild::rebuild(tx, ws, &id)?;
        next = num - 1;
        if items >= ITEMS_AT_ONCE {
            break;
        }
    }
    go_on_from(tx, &name, next, now)?;
    Ok(1)
}

/// Goes on behind the next conversation, which cannot be read: its rows stay in the index as they are.
fn skip_next(tx: &mut Tx<'_>, now: i64) -> Result<usize> {
    let Some((name, next)) = due_rebuild(tx, now)? else { return Ok(0) };
    for (num, ws, id) in conversations_from(tx, next, 1)? {
        tracing::warn!(workspace = ws, %id, "a conversation could not be indexed again");
        go_on_from(tx, &name, num - 1, now)?;
    }
    Ok(1)
}

/// A rebuild that is due, and the conversation that it has come to.
fn due_rebuild(tx: &mut Tx<'_>, now: i64) -> Result<Option<(String, i64)>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    Ok(tx.opt(
        &format!(
            "SELECT name, next_num FROM index_rebuilds
             WHERE words_only = FALSE AND due_at <= ?1 LIMIT 1{lock}"
        ),
        &[&now],
    )?)
}

fn conversations_from(
    tx: &mut Tx<'_>,
    next: i64,
    most: i64,
) -> Result<Vec<(i64, i64, ConversationId)>> {
    Ok(tx.all(
        "SELECT num, ws, id FROM conversations WHERE num <= ?1 ORDER BY num DESC LIMIT ?2",
        &[&next, &most],
    )?)
}

fn go_on_from(tx: &mut Tx<'_>, name: &str, next: i64, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE index_rebuilds SET next_num = ?2, due_at = ?3 WHERE name = ?1",
        &[&name, &next, &(now + PAUSE_MS)],
    )?;
    Ok(())
}
