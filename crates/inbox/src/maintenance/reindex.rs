//! Rebuilds the search index from the messages and documents, after a restore or on request.

use db::{Arg, Json, Store, Tx};

use crate::base::error::Result;
use crate::base::ids::{ConversationId, DocumentId, MessageId};
use crate::model::documents::{self, DocumentFields};
use crate::model::recipients::Party;
use crate::search;

/// Messages or documents of one transaction.
const BATCH: i64 = 500;

db::row! {
    /// A message as the index has it. Drafts and mail that waits are not in it.
    struct IndexedMessage from "m" {
        ws: i64,
        id: MessageId,
        num: i64 = "c.num",
        conversation: ConversationId,
        serial: i64,
        subject: String,
        from_name: Option<String>,
        from_email: String,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        bcc_list: Json<Vec<Party>>,
        text: String,
        secure: bool,
    }
}

db::row! {
    struct IndexedDocument from "d" {
        ws: i64,
        id: DocumentId,
        num: i64,
        title: String,
        filename: String,
        fields: Json<DocumentFields>,
    }
}

/// What was put into the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    pub messages: u64,
    pub documents: u64,
}

/// Empties the index and fills it again. Search finds less until it is done; mail that comes in
/// meanwhile is found.
pub async fn rebuild_index(store: &Store, mut progress: impl FnMut(u64)) -> Result<IndexCounts> {
    store.write(clear).await?;
    let mut counts = IndexCounts::default();
    let mut after = (i64::MIN, String::new());
    loop {
        let from = after.clone();
        let (done, last) = store.write(move |tx| index_messages(tx, &from)).await?;
        counts.messages += done;
        progress(counts.messages);
        let Some(last) = last else { break };
        after = last;
    }
    let mut after = (i64::MIN, String::new());
    loop {
        let from = after.clone();
        let (done, last) = store.write(move |tx| index_documents(tx, &from)).await?;
        counts.documents += done;
        let Some(last) = last else { break };
        after = last;
    }
    Ok(counts)
}

fn clear(tx: &mut Tx<'_>) -> Result<()> {
    let statements = tx.pick(
        [
            "INSERT INTO message_index (message_index) VALUES ('delete-all')",
            "INSERT INTO document_index (document_index) VALUES ('delete-all')",
            "DELETE FROM conversation_index",
        ],
        ["DELETE FROM message_index", "DELETE FROM document_index", "SELECT 1"],
    );
    for statement in statements {
        tx.exec(statement, &[])?;
    }
    Ok(())
}

/// The number of indexed messages, and the key of the last unless there are no more.
fn index_messages(
    tx: &mut Tx<'_>,
    (ws, id): &(i64, String),
) -> Result<(u64, Option<(i64, String)>)> {
    let rows: Vec<IndexedMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE (m.ws, m.id) > (?1, ?2) AND m.counted_at IS NOT NULL
             ORDER BY m.ws, m.id LIMIT ?3",
            IndexedMessage::COLUMNS
        ),
        &[ws, id, &BATCH],
    )?;
    for row in &rows {
        let place = (row.num, &row.conversation);
        search::forget_mail(tx, row.ws, place, row.serial)?;
        search::index_mail(tx, row.ws, place, row.serial, &row.texts())?;
    }
    let last = rows.last().map(|row| (row.ws, row.id.as_str().to_owned()));
    Ok((rows.len() as u64, last.filter(|_| rows.len() as i64 == BATCH)))
}

/// Indexes the messages of one conversation anew, after some were removed or changed.
pub(super) fn index_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    num: i64,
    id: &ConversationId,
) -> Result<()> {
    if tx.pick(true, false) {
        tx.exec("DELETE FROM conversation_index WHERE num = ?1", &[&num])?;
    }
    let rows: Vec<IndexedMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.counted_at IS NOT NULL
             ORDER BY m.at, m.id",
            IndexedMessage::COLUMNS
        ),
        &[&ws, id],
    )?;
    for row in &rows {
        search::forget_mail(tx, ws, (num, id), row.serial)?;
        search::index_mail(tx, ws, (num, id), row.serial, &row.texts())?;
    }
    Ok(())
}

impl IndexedMessage {
    fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = vec![&self.subject, &self.from_email];
        texts.extend(self.from_name.as_deref());
        for party in self.to_list.iter().chain(self.cc_list.iter()).chain(self.bcc_list.iter()) {
            texts.extend(party.name.as_deref());
            texts.push(&party.email);
        }
        if !self.secure {
            texts.push(&self.text);
        }
        texts
    }
}

fn index_documents(
    tx: &mut Tx<'_>,
    (ws, id): &(i64, String),
) -> Result<(u64, Option<(i64, String)>)> {
    let args: [&dyn Arg; 3] = [ws, id, &BATCH];
    // Search does not know the names of files that came in on a protected page, which nobody reads.
    let rows: Vec<IndexedDocument> = tx.all(
        &format!(
            "SELECT {} FROM documents d
             WHERE (d.ws, d.id) > (?1, ?2)
               AND (d.circle = 'sandbox' OR d.kind IS NOT NULL OR d.extract_at IS NOT NULL)
             ORDER BY d.ws, d.id LIMIT ?3",
            IndexedDocument::COLUMNS
        ),
        &args,
    )?;
    for row in &rows {
        let texts = documents::indexed_texts(&row.title, &row.filename, &row.fields);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        search::reindex_document(tx, row.ws, row.num, &texts)?;
    }
    let last = rows.last().map(|row| (row.ws, row.id.as_str().to_owned()));
    Ok((rows.len() as u64, last.filter(|_| rows.len() as i64 == BATCH)))
}
