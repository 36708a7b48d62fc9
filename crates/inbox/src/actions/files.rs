//! The bytes behind a conversation: attachments, and mails as they came.

use db::Tx;

use crate::app::Cx;
use crate::base::blobs::Blobs;
use crate::base::error::{Error, Result};
use crate::base::ids::{AttachmentId, DocumentId, MessageId};
use crate::model::{attachments, conversations, messages};

pub struct StoredFile {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

/// A document's file, if the actor may see it.
pub fn file(tx: &mut Tx<'_>, cx: &Cx<'_>, blobs: &Blobs, id: &DocumentId) -> Result<StoredFile> {
    let [first, second] = &cx.actor.circles;
    let found: Option<(String, String, String)> = tx.opt(
        "SELECT filename, content_type, hash FROM documents
         WHERE ws = ?1 AND id = ?2 AND circle IN (?3, ?4)",
        &[&cx.actor.ws, id, first, second],
    )?;
    let (filename, content_type, hash) = found.ok_or(Error::NotFound("document"))?;
    let bytes = blobs.get(tx, cx.actor.ws, &hash)?.ok_or(Error::NotFound("document"))?;
    Ok(StoredFile { filename, content_type, bytes })
}

/// An attachment of an outgoing message, if the actor may see the message or is its author.
pub fn attachment(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    blobs: &Blobs,
    id: &AttachmentId,
) -> Result<StoredFile> {
    let missing = || Error::NotFound("file");
    let (file, conversation, writer) =
        attachments::find(tx, cx.actor.ws, id)?.ok_or_else(missing)?;
    if !conversation.is_empty() {
        conversations::load(tx, cx.actor, &conversation).map_err(|_| missing())?;
    }
    let own = cx.actor.member().is_some_and(|me| me.as_str() == writer.as_str());
    if file.message.is_none() && !own {
        return Err(missing());
    }
    let bytes = file.bytes(tx, blobs, cx.actor.ws)?.ok_or_else(missing)?;
    Ok(StoredFile { filename: file.filename, content_type: file.content_type, bytes })
}

/// A mail as it came over the wire, if the actor may see its conversation and it was kept.
pub fn original(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    blobs: &Blobs,
    conversation: &str,
    id: &MessageId,
) -> Result<Vec<u8>> {
    let missing = || Error::NotFound("message");
    let conversation = conversations::load(tx, cx.actor, conversation).map_err(|_| missing())?;
    let hash = messages::raw_hash(tx, cx.actor.ws, &conversation.id, id)?.ok_or_else(missing)?;
    blobs.get(tx, cx.actor.ws, &hash)?.ok_or_else(missing)
}
