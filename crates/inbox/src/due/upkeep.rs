//! Keeps the word index of SQLite in few parts: every search asks each of them. PostgreSQL has no
//! parts, and no row here.

use db::Tx;

use super::Worker;
use crate::error::Result;
use crate::limits::MINUTE_MS;

pub(super) const EARLIEST: &str = "SELECT min(due_at) FROM upkeep";

/// Pages of the index that are put together at once: a millisecond or two in which others who
/// write wait.
const PAGES_AT_ONCE: i64 = 64;
/// The rest between two rounds while there is more to do.
const BREATH_MS: i64 = 20;
/// The rest after everything is done.
const REST_MS: i64 = 180 * MINUTE_MS;
/// SQLite counts this many changes, at least, when anything was put together.
const CHANGED: i64 = 2;

impl Worker {
    /// Puts a little of the word index together; answers how many rounds that was.
    pub(super) async fn keep_up_index(&self) -> Result<usize> {
        let now = self.app.clock.now();
        self.app.store.jot(move |tx| tidy(tx, now)).await
    }
}

fn tidy(tx: &mut Tx<'_>, now: i64) -> Result<usize> {
    let due: Option<(String,)> = tx.opt("SELECT name FROM upkeep WHERE due_at <= ?1", &[&now])?;
    let Some((name,)) = due else { return Ok(0) };
    let before = changes(tx)?;
    tx.exec("INSERT INTO mail_words (mail_words, rank) VALUES ('merge', ?1)", &[&PAGES_AT_ONCE])?;
    let rest = if changes(tx)? - before < CHANGED { REST_MS } else { BREATH_MS };
    tx.exec("UPDATE upkeep SET due_at = ?2 WHERE name = ?1", &[&name, &(now + rest)])?;
    Ok(1)
}

fn changes(tx: &mut Tx<'_>) -> Result<i64> {
    let (changes,): (i64,) = tx.one("SELECT total_changes()", &[])?;
    Ok(changes)
}
