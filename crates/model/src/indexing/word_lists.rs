//! The word lists of conversations that lost words: made anew from what the conversation has, so that search
//! trusts them again.

use base::error::Result;
use base::ids::ConversationId;
use db::{Json, Tx};
use search::NewWordList;

use crate::indexing::{index_rebuild, search_index};

/// Word lists that are claimed at once.
const LISTS_AT_ONCE: i64 = 20;

/// A conversation whose word list lost words, and which one process makes anew.
#[derive(Clone)]
pub struct ClaimedWordList {
    name: String,
    /// The number of the conversation.
    pub num: i64,
    /// When the claim ends. Another time says that the conversation changed since.
    due_at: i64,
}

/// A word list that lost words, as it is and as it should be.
pub struct ListToWrite {
    claimed: ClaimedWordList,
    /// `None` where the list is gone, or lost nothing that it still has.
    change: Option<(String, NewWordList)>,
}

/// Claims lists that lost words, the longest waiting first.
pub fn claim_lists(tx: &mut Tx<'_>, now: i64, until: i64) -> Result<Vec<ClaimedWordList>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(String, i64)> = tx.all(
        &format!(
            "SELECT name, next_num FROM index_rebuilds
             WHERE words_only = TRUE AND due_at <= ?1 ORDER BY due_at LIMIT ?2{lock}"
        ),
        &[&now, &LISTS_AT_ONCE],
    )?;
    for (name, _) in &due {
        put_off(tx, name, until)?;
    }
    let claim = |(name, num)| ClaimedWordList { name, num, due_at: until };
    Ok(due.into_iter().map(claim).collect())
}

/// Has a list wait until then that cannot be made. Search looks at the rows of its conversation meanwhile.
pub fn put_off_list(tx: &mut Tx<'_>, claimed: &ClaimedWordList, until: i64) -> Result<()> {
    put_off(tx, &claimed.name, until)
}

fn put_off(tx: &mut Tx<'_>, name: &str, until: i64) -> Result<()> {
    tx.exec_soon("UPDATE index_rebuilds SET due_at = ?2 WHERE name = ?1", &[&name, &until])?;
    Ok(())
}

/// Makes the list of a conversation.
pub fn make_list(tx: &mut Tx<'_>, claimed: &ClaimedWordList) -> Result<ListToWrite> {
    let place: Option<(i64, ConversationId)> =
        tx.opt("SELECT ws, id FROM conversations WHERE num = ?1", &[&claimed.num])?;
    let before = search::list_with_others(tx, claimed.num)?;
    let change = match (place, before) {
        (Some((ws, id)), Some(before)) => Some((before, word_list(tx, ws, &id)?)),
        _ => None,
    };
    Ok(ListToWrite { claimed: claimed.clone(), change })
}

/// Writes lists. One whose conversation changed meanwhile is due again when its claim ends.
pub fn write_lists(tx: &mut Tx<'_>, lists: &[ListToWrite]) -> Result<()> {
    for ListToWrite { claimed: ClaimedWordList { name, num, due_at }, change } in lists {
        let is_done = match change {
            Some((before, list)) => list.replace(tx, *num, before, *due_at)?,
            None => true,
        };
        if is_done {
            tx.exec_soon(
                "DELETE FROM index_rebuilds WHERE name = ?1 AND due_at = ?2",
                &[name, due_at],
            )?;
        }
    }
    Ok(())
}

/// The list of all words that the rows of a conversation have.
fn word_list(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<NewWordList> {
    let mut list = NewWordList::default();
    search_index::list_message_words(tx, ws, conversation, &mut list)?;
    tx.each(
        "SELECT author_name, body FROM notes
         WHERE ws = ?1 AND conversation = ?2 AND hidden_at IS NULL",
        &[&ws, conversation],
        |row| {
            let (author, body): (String, String) = (row.take()?, row.take()?);
            list.add(ws, &search_index::note_text(&author, &body));
            Ok(())
        },
    )?;
    index_rebuild::list_document_words(tx, ws, conversation, &mut list)?;
    let (tags,): (Json<Vec<String>>,) =
        tx.one("SELECT tags FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, conversation])?;
    list.add(ws, &search_index::tags_text(&tags));
    Ok(list)
}
