//! Indexes all that search knows of one conversation again.

use base::error::Result;
use base::ids::{ConversationId, DocumentId, NoteId};
use db::{FromRow, Json, Tx};
use search::NewWordList;

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
    for document in &found {
        let words = document.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let text = search_index::document_text(document.text.as_deref(), &words);
        search_index::write_entry(tx, ws, conversation, Some(&document.id), &text)?;
    }
    if !tags.is_empty() {
        let text = search_index::tags_text(&tags);
        search_index::write_entry(tx, ws, conversation, None, &text)?;
    }
    Ok(messages + notes.len() + found.len())
}

db::row! {
    /// A document that has a row in its conversation.
    struct NamedDocument from "d" {
        id: DocumentId,
        title: String,
        filename: String,
        fields: Json<DocumentFields>,
        text: Option<String>,
    }
}

impl NamedDocument {
    fn words(&self) -> Vec<String> {
        documents::indexed_texts(&self.title, &self.filename, &self.fields)
    }
}

/// The documents of a conversation that have a row of their own: not those that came in on a protected
/// page, of which their request tells, nor files of a mail that nobody has read, of which the mail does.
fn documents_of(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<Vec<NamedDocument>> {
    let sql = documents_sql(tx);
    Ok(tx.all(&sql, &[&ws, conversation])?)
}

/// Adds the words of these documents to a list, one after the other, because their texts are long.
pub(super) fn list_document_words(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    list: &mut NewWordList,
) -> Result<()> {
    let sql = documents_sql(tx);
    tx.each(&sql, &[&ws, conversation], |row| {
        let document = NamedDocument::from_row(row)?;
        let words = document.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        list.add(ws, &search_index::document_text(document.text.as_deref(), &words));
        Ok(())
    })?;
    Ok(())
}

fn documents_sql(tx: &Tx<'_>) -> String {
    let indexed = tx.pick(
        "EXISTS (SELECT 1 FROM document_index i WHERE i.rowid = d.num)",
        "EXISTS (SELECT 1 FROM document_index i WHERE i.num = d.num)",
    );
    format!(
        "SELECT {} FROM documents d
         WHERE d.ws = ?1 AND d.conversation = ?2 AND {indexed}
           AND (d.message IS NULL OR d.kind IS NOT NULL)",
        NamedDocument::COLUMNS
    )
}
