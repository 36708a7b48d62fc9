//! The document library: what came attached to mail, and later what customers upload.

use db::Tx;

use crate::app::Cx;
use crate::blobs::{self, Blob};
use crate::conversations::Conversation;
use crate::error::Result;
use crate::ids::{DocumentId, MessageId};
use crate::search;

/// A file to be filed.
pub struct NewDocument<'a> {
    pub message: &'a MessageId,
    pub filename: &'a str,
    pub content_type: &'a str,
    pub blob: &'a Blob,
}

/// Files a document under a conversation.
pub fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    document: &NewDocument<'_>,
) -> Result<DocumentId> {
    let id = DocumentId::new(cx.ids, cx.now);
    let (num,): (i64,) = tx.one(
        tx.pick(
            "SELECT coalesce(max(num), 0) + 1 FROM documents",
            "SELECT nextval('document_nums')",
        ),
        &[],
    )?;
    blobs::keep(tx, cx.actor.ws, document.blob)?;
    tx.exec(
        "INSERT INTO documents (
            ws, id, num, circle, mailbox, conversation, message, title, filename, content_type,
            size, hash, fields, created_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11, '{}', ?12)",
        &[
            &cx.actor.ws,
            &id,
            &num,
            &conversation.circle,
            &conversation.mailbox,
            &conversation.id,
            document.message,
            &document.filename,
            &document.content_type,
            &document.blob.size,
            &document.blob.hash,
            &cx.now,
        ],
    )?;
    search::index_document(tx, cx.actor.ws, num, &[document.filename])?;
    Ok(id)
}
