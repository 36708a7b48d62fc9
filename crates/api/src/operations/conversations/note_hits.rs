//! Where a search of a key found a note, the note's words stand in place of the snippet, which has none of the words.

use base::actor::Principal;
use base::app::Cx;
use base::error::Result;
use db::Tx;
use model::indexing::search_index::{self, IndexedItem};
use search::Query;
use search::list::ConversationSummary;

/// Puts the note that a search found newest into the snippet of each row.
pub(super) fn show_notes(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    query: &Query,
    rows: &mut [ConversationSummary],
) -> Result<()> {
    // People see in the app what was found, and where.
    if !matches!(cx.actor.who, Principal::Agent { .. }) || query.terms.is_empty() {
        return Ok(());
    }
    let ws = cx.actor.ws;
    let all = search::all_terms(tx, ws, query);
    for row in rows {
        let place = (row.num, &row.id);
        let Some(serial) = search::newest_match(tx, ws, place, &all, search::SERIALS)? else {
            continue;
        };
        let Some(IndexedItem::Note(note)) = search_index::item(tx, ws, &row.id, serial)? else {
            continue;
        };
        let (author, body): (String, String) = tx.one(
            "SELECT author_name, body FROM notes WHERE ws = ?1 AND conversation = ?2 AND id = ?3",
            &[&ws, &row.id, &note],
        )?;
        let words: String =
            search::excerpt(&body, query).into_iter().map(|part| part.text).collect();
        if !words.is_empty() {
            row.snippet = format!("Note by {author}: {words}");
        }
    }
    Ok(())
}
