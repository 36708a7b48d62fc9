//! Indexes all that search knows of one conversation again.

use base::error::Result;
use base::ids::{ConversationId, DocumentId, NoteId};
use db::{Json, Tx};

use crate::documents::{self, DocumentFields};
use crate::indexing::search_index;

/// Takes all rows of one conversation out of the index, before its messages go elsewhere.
pub fn forget(tx: &mut Tx<'_>, ws: i64, (num, conversation): (i64, &ConversationId)) -> Result<()> {
    forget_rows(tx, ws, (num, conversation))?;
    tx.exec("DELETE FROM index_entries WHERE ws = ?1 AND conversation = ?2", &[&ws, conversation])?;
    Ok(())
}

fn forget_rows(
    tx: &mut Tx<'_>,
    ws: i64,
    (num, conversation): (i64, &ConversationId),
) -> Result<()> {
    let serials: Vec<(i64,)> = tx.all(
        "SELECT serial FROM messages WHERE ws = ?1 AND conversation = ?2
         UNION ALL
         SELECT serial FROM index_entries WHERE ws = ?1 AND conversation = ?2",
        &[&ws, conversation],
    )?;
    let serials: Vec<i64> = serials.into_iter().map(|(serial,)| serial).collect();
    search::forget_conversation(tx, ws, (num, conversation), &serials)
}

/// Writes all rows of one conversation again; returns how many. Its word list then has no words of before.
pub fn rebuild(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<usize> {
    let (num, tags): (i64, Json<Vec<String>>) = tx.one(
        "SELECT num, tags FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, conversation],
    )?;
    forget_rows(tx, ws, (num, conversation))?;
    let messages = search_index::messages(tx, ws, conversation)?;
    let notes: Vec<(NoteId,)> = tx.all(
        "SELECT id FROM notes WHERE ws = ?1 AND conversation = ?2 AND hidden_at IS NULL",
        &[&ws, conversation],
    )?;
    for (id,) in &notes {
        search_index::note(tx, ws, conversation, id)?;
    }
    let found = documents_of(tx, ws, conversation)?;
    for (id, title, filename, fields) in &found {
        let texts = documents::indexed_texts(title, filename, fields);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        search_index::document(tx, ws, id, &texts)?;
    }
    if !tags.is_empty() {
        search_index::tags(tx, ws, conversation, &tags)?;
    }
    search::no_other_words(tx, num)?;
    Ok(messages + notes.len() + found.len())
}

type NamedDocument = (DocumentId, String, String, Json<DocumentFields>);

/// The documents of a conversation that have a row of their own: not those that came in on a protected
/// page, of which their request tells, nor files of a mail that nobody has read, of which the mail does.
fn documents_of(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<Vec<NamedDocument>> {
    let indexed = tx.pick(
        "EXISTS (SELECT 1 FROM document_index i WHERE i.rowid = d.num)",
        "EXISTS (SELECT 1 FROM document_index i WHERE i.num = d.num)",
    );
    Ok(tx.all(
        &format!(
            "SELECT d.id, d.title, d.filename, d.fields FROM documents d
             WHERE d.ws = ?1 AND d.conversation = ?2 AND {indexed}
               AND (d.message IS NULL OR d.kind IS NOT NULL)"
        ),
        &[&ws, conversation],
    )?)
}
