//! Indexes the words of older conversations again, a few at a time, when an update changed what search
//! finds, and writes the word lists of conversations again that lost words.

use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::ConversationId;
use db::Tx;
use model::indexing::{index_rebuild, word_lists};

use crate::runs::runtime::{BackgroundJob, JobRound, JobRuntime};

/// Messages, notes and documents indexed in one round; a conversation is done as a whole.
const ITEMS_AT_ONCE: usize = 50;
/// Conversations looked up in one round.
const CONVERSATIONS_AT_ONCE: i64 = 25;
/// The pause between two rounds, so that other writers have their turn.
const PAUSE_MS: i64 = 20;

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
            // Nobody waits while a list is made: only its writing is a write.
            let lists = store.read(move |tx| word_lists::lists_to_write(tx, now)).await?;
            let count = lists.len();
            if count > 0 {
                store.write_relaxed(move |tx| word_lists::write_lists(tx, &lists, now)).await?;
                return Ok(count.into());
            }
            let round = store.write_relaxed(move |tx| rebuild(tx, now)).await?;
            Ok(round.into())
        })
    }
}

/// Losing a round in a power cut only repeats it.
fn rebuild(tx: &mut Tx<'_>, now: i64) -> Result<usize> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(String, i64)> = tx.opt(
        &format!(
            "SELECT name, next_num FROM index_rebuilds
             WHERE words_only = FALSE AND due_at <= ?1 LIMIT 1{lock}"
        ),
        &[&now],
    )?;
    let Some((name, mut next)) = due else { return Ok(0) };
    let conversations: Vec<(i64, i64, ConversationId)> = tx.all(
        "SELECT num, ws, id FROM conversations WHERE num <= ?1 ORDER BY num DESC LIMIT ?2",
        &[&next, &CONVERSATIONS_AT_ONCE],
    )?;
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
    tx.exec(
        "UPDATE index_rebuilds SET next_num = ?2, due_at = ?3 WHERE name = ?1",
        &[&name, &next, &(now + PAUSE_MS)],
    )?;
    Ok(1)
}
