//! Rebuilds the search index from the messages and documents, after a restore or on request.

use base::app::App;
use base::concurrency::blocking::spawn_blocking;
use base::error::Result;
use base::ids::{ConversationId, DocumentId, MessageId};
use base::mail_reading::MailReading;
use db::{Arg, Json, Store, Tx};
use model::documents::{self, DocumentFields};
use model::indexing::{index_rebuild, search_index};
use search::IndexRowKey;

/// Documents of one transaction.
const BATCH: i64 = 500;
/// Conversations of one transaction, and after how many messages, notes and files it ends before them: all
/// words of a transaction are in memory.
const CONVERSATIONS: i64 = 100;
const ITEMS: u64 = 500;
/// Mails that are read between two transactions.
const MAILS: i64 = 20;

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

db::row! {
    /// A mail of which nobody knows yet what it quotes.
    struct UnreadMail from "m" {
        ws: i64,
        id: MessageId,
        conversation: ConversationId,
        serial: i64,
        raw_hash: String,
        num: i64 = "c.num",
    }
}

/// What was put into the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// Messages, notes and files of conversations.
    pub items: u64,
    pub documents: u64,
}

/// Reads what mails quote that were filed before it was kept, for the index that is written next; returns
/// how many quote something that stands nowhere else.
pub async fn read_quoted(app: &App) -> Result<u64> {
    let (mut found, mut after) = (0, (i64::MIN, String::new()));
    loop {
        let from = after.clone();
        let mails = app.store.read(move |tx| unread_mails(tx, &from)).await?;
        let Some(last) = mails.last() else { return Ok(found) };
        after = (last.ws, last.id.to_string());
        let mut read = Vec::new();
        for mail in mails {
            let (blobs, ws, hash) = (app.blobs.clone(), mail.ws, mail.raw_hash.clone());
            let raw = app.store.read(move |tx| blobs.get(tx, ws, &hash)).await?.unwrap_or_default();
            let (reading, hash) = (app.reading.clone(), mail.raw_hash.clone());
            let parsing = move || quoted_text(&reading, &hash, &raw);
            read.push((mail, spawn_blocking(parsing).await?));
        }
        found += app.store.write(move |tx| keep_quoted(tx, &read)).await?;
    }
}

/// What a mail quotes; nothing of one that ended a process.
fn quoted_text(reading: &MailReading, hash: &str, raw: &[u8]) -> String {
    if !reading.is_safe(hash, raw) {
        return String::new();
    }
    let _mark = reading.begin(hash);
    reading.parser().parse(raw, Default::default()).quoted
}

fn unread_mails(tx: &mut Tx<'_>, (ws, id): &(i64, String)) -> Result<Vec<UnreadMail>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE (m.ws, m.id) > (?1, ?2) AND m.direction = 'inbound' AND m.quoted IS NULL
               AND m.raw_hash IS NOT NULL AND m.secure = FALSE
             ORDER BY m.ws, m.id LIMIT ?3",
            UnreadMail::COLUMNS
        ),
        &[ws, id, &MAILS],
    )?)
}

/// Empty where there is nothing, so that it is not looked for again.
fn keep_quoted(tx: &mut Tx<'_>, read: &[(UnreadMail, String)]) -> Result<u64> {
    let mut found = 0;
    for (mail, quoted) in read {
        let UnreadMail { ws, num, conversation, serial, .. } = mail;
        let place = IndexRowKey { num: *num, conversation, serial: *serial };
        match search_index::keep_quoted(tx, *ws, place, quoted)?.is_empty() {
            true => drop(tx.exec(
                "UPDATE messages SET quoted = '' WHERE ws = ?1 AND id = ?2",
                &[ws, &mail.id],
            )?),
            false => found += 1,
        }
    }
    Ok(found)
}

/// Empties the index and fills it again. Search finds less until it is done; mail that comes in
/// meanwhile is found.
pub async fn rebuild_index(store: &Store, progress: impl FnMut(u64)) -> Result<IndexCounts> {
    store.write(search::create_word_indexes).await?;
    fill(store, progress).await
}

/// Fills the index of a database that nobody uses yet. PostgreSQL looks words up in an index of its own,
/// which is built at the end and at once, in a fraction of the time.
pub async fn build_index(store: &Store, progress: impl FnMut(u64)) -> Result<IndexCounts> {
    store.write(search::drop_word_indexes).await?;
    let filled = fill(store, progress).await;
    store.write(search::create_word_indexes).await?;
    filled
}

async fn fill(store: &Store, mut progress: impl FnMut(u64)) -> Result<IndexCounts> {
    store.write(clear).await?;
    let mut counts = IndexCounts::default();
    let mut after = (i64::MIN, String::new());
    loop {
        let from = after.clone();
        let (done, last) = store.write(move |tx| index_documents(tx, &from, None)).await?;
        counts.documents += done;
        let Some(last) = last else { break };
        after = last;
    }
    let mut after = 0;
    loop {
        let (done, last) = store.write(move |tx| index_conversations(tx, after)).await?;
        counts.items += done;
        progress(counts.items);
        let Some(last) = last else { break };
        after = last;
    }
    Ok(counts)
}

/// Indexes a workspace that was just loaded.
pub async fn index_workspace(store: &Store, ws: i64) -> Result<IndexCounts> {
    let mut counts = IndexCounts::default();
    let mut after = (ws, String::new());
    loop {
        let from = after.clone();
        let (done, last) = store.write(move |tx| index_documents(tx, &from, Some(ws))).await?;
        counts.documents += done;
        let Some(last) = last else { break };
        after = last;
    }
    let mut after = String::new();
    loop {
        let from = after.clone();
        let (done, last) = store.write(move |tx| index_some(tx, ws, &from)).await?;
        counts.items += done;
        let Some(last) = last else { return Ok(counts) };
        after = last;
    }
}

/// As [`index_conversations`], for one workspace.
fn index_some(tx: &mut Tx<'_>, ws: i64, after: &str) -> Result<(u64, Option<String>)> {
    let rows: Vec<(ConversationId,)> = tx.all(
        "SELECT id FROM conversations WHERE ws = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
        &[&ws, &after, &CONVERSATIONS],
    )?;
    let (mut items, mut last) = (0, None);
    for (id,) in &rows {
        items += index_rebuild::rebuild(tx, ws, id)? as u64;
        last = Some(id.to_string());
        if items >= ITEMS {
            break;
        }
    }
    Ok((items, last))
}

fn clear(tx: &mut Tx<'_>) -> Result<()> {
    let statements = tx.pick(
        [
            "INSERT INTO message_index (message_index) VALUES ('delete-all')",
            "INSERT INTO document_index (document_index) VALUES ('delete-all')",
        ],
        ["DELETE FROM message_index", "DELETE FROM document_index"],
    );
    for statement in statements {
        tx.exec(statement, &[])?;
    }
    tx.exec("DELETE FROM conversation_index", &[])?;
    // What they would write again is written now.
    tx.exec("DELETE FROM index_rebuilds", &[])?;
    Ok(())
}

/// The number of indexed items, and that of the last conversation unless there are no more.
fn index_conversations(tx: &mut Tx<'_>, after: i64) -> Result<(u64, Option<i64>)> {
    let rows: Vec<(i64, i64, ConversationId)> = tx.all(
        "SELECT num, ws, id FROM conversations WHERE num > ?1 ORDER BY num LIMIT ?2",
        &[&after, &CONVERSATIONS],
    )?;
    let (mut items, mut last) = (0, None);
    for (num, ws, id) in &rows {
        items += index_rebuild::rebuild(tx, *ws, id)? as u64;
        last = Some(*num);
        if items >= ITEMS {
            break;
        }
    }
    Ok((items, last))
}

fn index_documents(
    tx: &mut Tx<'_>,
    (ws, id): &(i64, String),
    only: Option<i64>,
) -> Result<(u64, Option<(i64, String)>)> {
    let args: [&dyn Arg; 3] = [ws, id, &BATCH];
    let within = only.map_or(String::new(), |only| format!("AND d.ws = {only}"));
    // Search does not know the names of files that came in on a protected page, which nobody reads.
    let rows: Vec<IndexedDocument> = tx.all(
        &format!(
            "SELECT {} FROM documents d
             WHERE (d.ws, d.id) > (?1, ?2) {within}
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
