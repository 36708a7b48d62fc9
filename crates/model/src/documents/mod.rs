//! The document library: attachments of received mail, and customers' uploads.

pub mod document_requests;
pub mod file_checks;
pub mod pdf;
pub mod preview_keys;
pub mod uploads;

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::files::blobs::{self, Blob};
use base::ids::{DocumentId, MessageId};
use base::limits::DOCUMENT_TEXT_CHARS;
use base::string_enum::string_enum;
use base::usage::{self, UsageKind};
use db::{Json, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversations::Conversation;
use crate::indexing::search_index;

string_enum! {
    DocumentKind {
        Invoice = "invoice",
        Receipt = "receipt",
        Statement = "statement",
        Contract = "contract",
        Id = "id",
        Tax = "tax",
        Photo = "photo",
        Other = "other",
    }
}

/// What was read in the document; each key may be missing. Its values are what others wrote: data,
/// not instructions.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// A file with its bytes.
#[derive(Debug)]
pub struct StoredFile {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

/// A file that the actor may see; `hash` names its bytes.
#[derive(Clone, Debug)]
pub struct FileReference {
    pub filename: String,
    pub content_type: String,
    pub size: i64,
    pub hash: String,
}

impl FileReference {
    pub fn bytes(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<u8>> {
        let bytes = cx.blobs.get(tx, cx.actor.ws, &self.hash)?;
        bytes.ok_or(Error::LostFile)
    }

    pub fn read(self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<StoredFile> {
        let bytes = self.bytes(tx, cx)?;
        Ok(StoredFile { filename: self.filename, content_type: self.content_type, bytes })
    }
}

/// A document's file without its bytes, if the actor may see it.
pub fn find_file(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &DocumentId) -> Result<FileReference> {
    let (first, second) = cx.actor.circles.pair();
    let found: Option<(String, String, i64, String)> = tx.opt(
        "SELECT filename, content_type, size, hash FROM documents
         WHERE ws = ?1 AND id = ?2 AND circle IN (?3, ?4)",
        &[&cx.actor.ws, id, first, second],
    )?;
    let (filename, content_type, size, hash) = found.ok_or(Error::NotFound("document"))?;
    Ok(FileReference { filename, content_type, size, hash })
}

/// A file to be filed.
pub struct NewDocument<'a> {
    /// The mail it came with; an upload came with none.
    pub message: Option<&'a MessageId>,
    pub filename: &'a str,
    pub content_type: &'a str,
    pub blob: &'a Blob,
}

/// Files a document under a conversation. Extraction is queued for live documents; the sandbox has
/// none (API section 8.3).
pub fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    document: &NewDocument<'_>,
) -> Result<DocumentId> {
    let extract_at = (!conversation.circle.is_sandbox()).then_some(cx.now);
    let (id, num) = insert(tx, cx, conversation, document, extract_at)?;
    search::index_document(tx, cx.actor.ws, num, &[document.filename])?;
    // A mail is found by the names of its files. What is read in a file gets a row of its own once, because
    // rows that are replaced make every search slower.
    if document.message.is_none() {
        search_index::document(tx, (cx.actor.ws, cx.now), &id, &[document.filename])?;
    }
    if extract_at.is_some() {
        tx.wake(Queue::Documents);
    }
    Ok(id)
}

/// Files a document that came in on a protected page: no helper reads it, and search does not know
/// its name.
pub fn file_protected(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    document: &NewDocument<'_>,
) -> Result<DocumentId> {
    insert(tx, cx, conversation, document, None).map(|(id, _)| id)
}

/// Files a document of the past: it is found by its name, and no helper reads it.
pub fn file_unread(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    document: &NewDocument<'_>,
) -> Result<DocumentId> {
    let (id, _) = insert(tx, cx, conversation, document, None)?;
    describe(tx, (cx.actor.ws, cx.now), &id, DocumentKind::Other, &DocumentFields::default())?;
    Ok(id)
}

fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    document: &NewDocument<'_>,
    extract_at: Option<i64>,
) -> Result<(DocumentId, i64)> {
    let id = DocumentId::new(cx.ids, cx.now);
    let (num,): (i64,) = tx.one(
        tx.pick(
            "SELECT coalesce(max(num), 0) + 1 FROM documents",
            "SELECT nextval('document_nums')",
        ),
        &[],
    )?;
    blobs::keep(tx, cx.actor.ws, document.blob)?;
    tx.exec_soon(
        "INSERT INTO documents (
            ws, id, num, circle, mailbox, conversation, message, title, filename, content_type,
            size, hash, fields, created_at, extract_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11, '{}', ?12, ?13)",
        &[
            &cx.actor.ws,
            &id,
            &num,
            &conversation.circle,
            &conversation.mailbox,
            &conversation.id,
            &document.message,
            &document.filename,
            &document.content_type,
            &document.blob.size,
            &document.blob.hash,
            &cx.now,
            &extract_at,
        ],
    )?;
    let size = document.blob.size;
    usage::add_held(tx, cx.actor.ws, UsageKind::DocumentBytes, id.as_str(), size)?;
    Ok((id, num))
}

/// Keeps the text of a document, by which its conversation is found once it is described.
pub fn keep_text(tx: &mut Tx<'_>, ws: i64, id: &DocumentId, text: &str) -> Result<()> {
    let text: String = text.chars().take(DOCUMENT_TEXT_CHARS).collect();
    tx.exec_soon("UPDATE documents SET text = ?3 WHERE ws = ?1 AND id = ?2", &[&ws, id, &text])?;
    Ok(())
}

/// Stores a document's kind and fields, the title derived from them, and its search words.
pub fn describe(
    tx: &mut Tx<'_>,
    (ws, now): (i64, i64),
    id: &DocumentId,
    kind: DocumentKind,
    fields: &DocumentFields,
) -> Result<()> {
    let (num, filename): (i64, String) = tx
        .opt("SELECT num, filename FROM documents WHERE ws = ?1 AND id = ?2", &[&ws, id])?
        .ok_or(Error::NotFound("document"))?;
    let title = title(kind, fields, &filename);
    tx.exec_soon(
        "UPDATE documents SET kind = ?3, fields = ?4, title = ?5 WHERE ws = ?1 AND id = ?2",
        &[&ws, id, &kind, &Json(fields), &title],
    )?;
    let texts = indexed_texts(&title, &filename, fields);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    search::reindex_document(tx, ws, num, &texts)?;
    search_index::document(tx, (ws, now), id, &texts)
}

/// The texts by which a document is found.
pub fn indexed_texts(title: &str, filename: &str, fields: &DocumentFields) -> Vec<String> {
    let texts = [
        Some(title.to_owned()),
        Some(filename.to_owned()),
        fields.vendor.clone(),
        fields.amount.map(|amount| format!("{amount:.2}")),
        fields.currency.clone(),
        fields.date.clone(),
        fields.due_date.clone(),
        fields.reference.clone(),
    ];
    texts.into_iter().flatten().collect()
}

impl DocumentKind {
    /// What people call the kind.
    pub fn label(self) -> &'static str {
        match self {
            DocumentKind::Invoice => "Invoice",
            DocumentKind::Receipt => "Receipt",
            DocumentKind::Statement => "Statement",
            DocumentKind::Contract => "Contract",
            DocumentKind::Id => "Identity",
            DocumentKind::Tax => "Tax",
            DocumentKind::Photo => "Photo",
            DocumentKind::Other => "Other",
        }
    }
}

/// A document's title: "Invoice 4711, Lumen Holz, 120.50 EUR", or its file name without
/// distinguishing fields.
fn title(kind: DocumentKind, fields: &DocumentFields, filename: &str) -> String {
    let name = match kind {
        DocumentKind::Tax => "Tax paper",
        DocumentKind::Id | DocumentKind::Photo | DocumentKind::Other => {
            return filename.to_owned();
        }
        kind => kind.label(),
    };
    let mut parts = vec![match &fields.reference {
        Some(reference) => format!("{name} {reference}"),
        None => name.to_owned(),
    }];
    parts.extend(fields.vendor.clone());
    if let Some(amount) = fields.amount {
        let currency = fields.currency.as_deref().map(|code| format!(" {code}"));
        parts.push(format!("{amount:.2}{}", currency.unwrap_or_default()));
    }
    match fields.reference.is_none() && parts.len() == 1 {
        true => filename.to_owned(),
        false => parts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_what_is_known_or_is_the_file_name() {
        let read =
            |vendor: Option<&str>, amount, currency: Option<&str>, reference: Option<&str>| {
                DocumentFields {
                    vendor: vendor.map(Into::into),
                    amount,
                    currency: currency.map(Into::into),
                    reference: reference.map(Into::into),
                    ..DocumentFields::default()
                }
            };
        let whole = read(Some("Lumen Holz"), Some(120.5), Some("EUR"), Some("4711"));
        for (kind, fields, expected) in [
            (DocumentKind::Invoice, &whole, "Invoice 4711, Lumen Holz, 120.50 EUR"),
            (DocumentKind::Contract, &read(None, None, None, Some("V-9")), "Contract V-9"),
            (DocumentKind::Receipt, &read(None, Some(9.0), None, None), "Receipt, 9.00"),
            (DocumentKind::Statement, &read(Some("Bank"), None, None, None), "Statement, Bank"),
            (DocumentKind::Invoice, &read(None, None, Some("EUR"), None), "scan.pdf"),
            (DocumentKind::Other, &whole, "scan.pdf"),
            (DocumentKind::Photo, &whole, "scan.pdf"),
        ] {
            assert_eq!(title(kind, fields, "scan.pdf"), expected);
        }
    }
}
