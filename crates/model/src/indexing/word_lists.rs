//! The word lists of conversations that lost words: made anew from what the conversation has, so that search
//! trusts them again.

use base::error::Result;
use base::ids::ConversationId;
use db::{Json, Tx};
use search::NewWordList;

use crate::indexing::index_rebuild::documents_of;
use crate::indexing::search_index;

/// Word lists written in one round.
const LISTS_AT_ONCE: i64 = 20;
/// The pause before a list is looked at again that changed while it was made.
const CHANGED_PAUSE_MS: i64 = 1_000;

/// A word list that lost words, as it is and as it should be.
pub struct ListToWrite {
    name: String,
    num: i64,
    due_at: i64,
    /// `None` where the list is gone, or lost nothing that it still has.
    change: Option<(String, NewWordList)>,
}

/// The lists that lost words, the longest waiting first, made anew.
pub fn lists_to_write(tx: &mut Tx<'_>, now: i64) -> Result<Vec<ListToWrite>> {
    let due: Vec<(String, i64, i64)> = tx.all(
        "SELECT name, next_num, due_at FROM index_rebuilds
         WHERE words_only = TRUE AND due_at <= ?1 ORDER BY due_at LIMIT ?2",
        &[&now, &LISTS_AT_ONCE],
    )?;
    let mut lists = Vec::with_capacity(due.len());
    for (name, num, due_at) in due {
        let place: Option<(i64, ConversationId)> =
            tx.opt("SELECT ws, id FROM conversations WHERE num = ?1", &[&num])?;
        let before = search::list_with_others(tx, num)?;
        let change = match (place, before) {
            (Some((ws, id)), Some(before)) => Some((before, word_list(tx, ws, &id)?)),
            _ => None,
        };
        lists.push(ListToWrite { name, num, due_at, change });
    }
    Ok(lists)
}

/// Writes them; what changed meanwhile is looked at again.
pub fn write_lists(tx: &mut Tx<'_>, lists: &[ListToWrite], now: i64) -> Result<()> {
    for ListToWrite { name, num, due_at, change } in lists {
        let is_same = tx.exec(
            "UPDATE index_rebuilds SET due_at = ?3 WHERE name = ?1 AND due_at = ?2",
            &[name, due_at, &(now + CHANGED_PAUSE_MS)],
        )? == 1;
        let is_done = match change {
            Some((before, list)) => is_same && list.replace(tx, *num, before)?,
            None => is_same,
        };
        if is_done {
            tx.exec("DELETE FROM index_rebuilds WHERE name = ?1", &[name])?;
        }
    }
    Ok(())
}

/// The list of all words that the rows of a conversation have.
fn word_list(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<NewWordList> {
    let mut list = NewWordList::default();
    search_index::list_message_words(tx, ws, conversation, &mut list)?;
    let notes: Vec<(String, String)> = tx.all(
        "SELECT author_name, body FROM notes WHERE ws = ?1 AND conversation = ?2",
        &[&ws, conversation],
    )?;
    for (author, body) in &notes {
        list.add(ws, &search_index::note_text(author, body));
    }
    for document in documents_of(tx, ws, conversation)? {
        let words = document.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        list.add(ws, &search_index::document_text(document.text.as_deref(), &words));
    }
    let (tags,): (Json<Vec<String>>,) =
        tx.one("SELECT tags FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, conversation])?;
    list.add(ws, &search_index::tags_text(&tags));
    Ok(list)
}
