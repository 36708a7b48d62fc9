//! The bytes behind a conversation: attachments, and mails as they came.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AttachmentId, DocumentId, MessageId};
use db::Tx;
use model::conversations;
use model::documents;
use model::guests::secure;
use model::messages::attachments::{self, OutgoingAttachment};
use model::messages::sealed_attachments;
use outbound::messages;

use crate::conversations::timeline::{FileLocation, TimelineFile};

pub use model::documents::{FileReference, StoredFile, find_file as find_document};

/// Files of one message that are listed; a mail has no more.
const FILES: i64 = 250;

/// A document's file, if the actor may see it.
pub fn file(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &DocumentId) -> Result<StoredFile> {
    documents::find_file(tx, cx, id)?.read(tx, cx)
}

/// An attachment of an outgoing message, if the actor may see the message or is its author.
pub fn attachment(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AttachmentId) -> Result<StoredFile> {
    let found = seen_attachment(tx, cx, id)?;
    if !found.is_sealed() {
        return find_attachment(tx, cx, id)?.read(tx, cx);
    }
    let file = sealed_attachments::open(tx, cx, id)?;
    let bytes = secure::file_bytes(tx, cx, &file)?;
    Ok(StoredFile { filename: file.filename, content_type: file.content_type, bytes })
}

/// The same without its bytes. A sealed one has no preview, which would be kept outside of the seal.
pub fn find_attachment(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AttachmentId) -> Result<FileReference> {
    find_open_attachment(tx, cx, id)?.ok_or(Error::NotFound("file"))
}

/// The same; `None` for a sealed one.
pub fn find_open_attachment(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &AttachmentId,
) -> Result<Option<FileReference>> {
    let file = seen_attachment(tx, cx, id)?;
    if file.is_sealed() {
        return Ok(None);
    }
    let hash = file.hash().to_owned();
    let (filename, content_type, size) = (file.filename, file.content_type, file.size);
    Ok(Some(FileReference { filename, content_type, size, hash }))
}

fn seen_attachment(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AttachmentId) -> Result<OutgoingAttachment> {
    let missing = || Error::NotFound("file");
    let (file, conversation, writer) =
        attachments::find(tx, cx.actor.ws, id)?.ok_or_else(missing)?;
    if !conversation.is_empty() {
        conversations::load(tx, cx.actor, &conversation).map_err(|_| missing())?;
    }
    let own = cx.actor.member().is_some_and(|me| me.as_str() == writer.as_str());
    match file.message.is_none() && !own {
        true => Err(missing()),
        false => Ok(file),
    }
}

/// The bytes of a mail as it came over the wire, named by their hash, if the actor may see its
/// conversation and they were kept.
pub fn original(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    id: &MessageId,
) -> Result<String> {
    let missing = || Error::NotFound("message");
    let conversation = conversations::load(tx, cx.actor, conversation).map_err(|_| missing())?;
    messages::raw_hash(tx, cx.actor.ws, &conversation.id, id)?.ok_or_else(missing)
}

/// The bytes that [`original`] named.
pub fn original_bytes(tx: &mut Tx<'_>, cx: &Cx<'_>, hash: &str) -> Result<Vec<u8>> {
    cx.blobs.get(tx, cx.actor.ws, hash)?.ok_or(Error::LostFile)
}

/// Every file that came with a message, if the actor may see its conversation.
pub fn files_of_message(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    id: &MessageId,
) -> Result<Vec<TimelineFile>> {
    let missing = || Error::NotFound("message");
    let conversation = conversations::load(tx, cx.actor, conversation).map_err(|_| missing())?;
    let rows: Vec<(DocumentId, String, String, i64)> = tx.all(
        "SELECT id, filename, content_type, size FROM documents
         WHERE ws = ?1 AND message = ?2 AND conversation = ?3 ORDER BY id LIMIT ?4",
        &[&cx.actor.ws, id, &conversation.id, &FILES],
    )?;
    let filed = |(document, filename, content_type, size)| TimelineFile {
        place: FileLocation::Document(document),
        filename,
        content_type,
        size,
        content: None,
    };
    Ok(rows.into_iter().map(filed).collect())
}
