//! Attachments of outgoing messages.
//!
//! While a message is being written its files belong to its writer; when it is sent or kept as a
//! draft they belong to the message.

use base::app::Cx;
use base::error::{Error, Result};
use base::files::blobs::{Blob, Blobs};
use base::ids::{AttachmentId, ConversationId, MessageId, UserId};
use base::limits::{ATTACHED_BYTES, ATTACHMENTS, megabytes};
use db::{Arg, Json, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Attachment bytes per sending slot; larger messages take several slots.
const BYTES_IN_A_PLACE: i64 = 2 * 1024 * 1024;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentInfo {
    /// As the sender called it: data, not instructions.
    pub filename: String,
    /// As the sender called it: data, not instructions.
    pub content_type: String,
    /// In bytes.
    pub size: i64,
}

db::row! {
    #[derive(Clone)]
    pub struct OutgoingAttachment from "attachments" {
        pub id: AttachmentId,
        pub message: Option<MessageId>,
        pub filename: String,
        pub content_type: String,
        pub size: i64,
        hash: String,
        /// Set for a file of a secure message, whose name and bytes are sealed.
        key: Option<String>,
    }
}

base::debug_without_secrets!(OutgoingAttachment { id, message, size });

/// A file to attach to an unsent text; its bytes are stored already.
#[derive(Clone, Debug)]
pub struct NewAttachment {
    pub id: AttachmentId,
    pub filename: String,
    pub content_type: String,
    pub blob: Blob,
}

db::row! {
    /// A file whose bytes belong to something else already.
    #[derive(Clone, Debug)]
    pub struct StoredAttachment from "stored" {
        pub filename: String,
        pub content_type: String,
        pub size: i64,
        pub hash: String,
    }
}

/// Adds files that are stored already to an unsent text, all of them or none. Its place is the id of its
/// conversation, or empty.
pub fn add_stored(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
    files: &[StoredAttachment],
) -> Result<()> {
    let sizes: Vec<i64> = files.iter().map(|file| file.size).collect();
    must_fit(tx, cx.actor.ws, place, person, &sizes)?;
    for file in files {
        insert(tx, cx, place, person, &AttachmentId::new(cx.ids, cx.now), file)?;
    }
    Ok(())
}

pub fn must_fit(
    tx: &mut Tx<'_>,
    ws: i64,
    place: &str,
    person: &UserId,
    sizes: &[i64],
) -> Result<()> {
    let there = unsent(tx, ws, place, person)?;
    let bytes: i64 = there.iter().map(|file| file.size).chain(sizes.iter().copied()).sum();
    if there.len() + sizes.len() <= ATTACHMENTS && bytes <= ATTACHED_BYTES {
        return Ok(());
    }
    let sentence = format!(
        "A message has at most {ATTACHMENTS} files, of {} MB together.",
        megabytes(ATTACHED_BYTES)
    );
    Err(Error::invalid("files", sentence))
}

fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
    id: &AttachmentId,
    file: &StoredAttachment,
) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO attachments (
            ws, id, conversation, person, filename, content_type, size, hash, created_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            &cx.actor.ws,
            id,
            &place,
            person,
            &file.filename,
            &file.content_type,
            &file.size,
            &file.hash,
            &cx.now,
        ],
    )?;
    Ok(())
}

/// The files of an unsent text, in the order they were added.
pub fn unsent(
    tx: &mut Tx<'_>,
    ws: i64,
    place: &str,
    person: &UserId,
) -> Result<Vec<OutgoingAttachment>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM attachments
             WHERE ws = ?1 AND conversation = ?2 AND message IS NULL AND person = ?3
             ORDER BY id || ''",
            OutgoingAttachment::COLUMNS
        ),
        &[&ws, &place, person],
    )?)
}

/// Removes a file from an unsent text.
pub fn remove(
    tx: &mut Tx<'_>,
    ws: i64,
    place: &str,
    person: &UserId,
    id: &AttachmentId,
) -> Result<()> {
    let removed = tx.exec(
        "DELETE FROM attachments
         WHERE ws = ?1 AND id = ?2 AND conversation = ?3 AND person = ?4 AND message IS NULL",
        &[&ws, id, &place, person],
    )?;
    if removed == 0 { Err(Error::NotFound("file")) } else { Ok(()) }
}

/// Removes every file from an unsent text.
pub fn remove_all(tx: &mut Tx<'_>, ws: i64, place: &str, person: &UserId) -> Result<()> {
    tx.exec_soon(
        "DELETE FROM attachments
         WHERE ws = ?1 AND conversation = ?2 AND message IS NULL AND person = ?3",
        &[&ws, &place, person],
    )?;
    Ok(())
}

/// Attaches the files of an unsent text to the message that it became.
pub fn attach_to_message(
    tx: &mut Tx<'_>,
    ws: i64,
    place: &str,
    person: &UserId,
    (conversation, message): (&ConversationId, &MessageId),
) -> Result<()> {
    let attached = unsent(tx, ws, place, person)?;
    if attached.is_empty() {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE attachments SET message = ?4, conversation = ?5
         WHERE ws = ?1 AND conversation = ?2 AND message IS NULL AND person = ?3",
        &[&ws, &place, person, message, conversation],
    )?;
    let infos: Vec<AttachmentInfo> = attached
        .into_iter()
        .map(|file| AttachmentInfo {
            filename: file.filename,
            content_type: file.content_type,
            size: file.size,
        })
        .collect();
    tx.exec_soon(
        "UPDATE messages SET attachments = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, message, &Json(infos)],
    )?;
    Ok(())
}

/// Gives the files of a message back to the unsent text of its author.
pub fn detach_from_message(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    person: &UserId,
    message: &MessageId,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE attachments SET message = NULL, person = ?4
         WHERE ws = ?1 AND conversation = ?2 AND message = ?3",
        &[&ws, conversation, message, person],
    )?;
    Ok(())
}

/// The attachments of some messages.
pub fn of_messages(
    tx: &mut Tx<'_>,
    ws: i64,
    messages: &[MessageId],
    most: i64,
) -> Result<Vec<OutgoingAttachment>> {
    let places: Vec<String> = (3..messages.len() + 3).map(|place| format!("?{place}")).collect();
    let mut args: Vec<&dyn Arg> = vec![&ws, &most];
    args.extend(messages.iter().map(|id| id as &dyn Arg));
    Ok(tx.all(
        &format!(
            "SELECT {} FROM attachments
             WHERE ws = ?1 AND message IN ({}) ORDER BY id || '' LIMIT ?2",
            OutgoingAttachment::COLUMNS,
            places.join(", ")
        ),
        &args,
    )?)
}

/// The attachments of a message with their bytes, for sending.
pub fn of_message(
    tx: &mut Tx<'_>,
    blobs: &Blobs,
    ws: i64,
    conversation: &ConversationId,
    message: &MessageId,
) -> Result<Vec<(AttachmentId, mail::Attachment)>> {
    let files: Vec<OutgoingAttachment> = tx.all(
        &format!(
            "SELECT {} FROM attachments
             WHERE ws = ?1 AND conversation = ?2 AND message = ?3 ORDER BY id",
            OutgoingAttachment::COLUMNS
        ),
        &[&ws, conversation, message],
    )?;
    let mut attachments = Vec::new();
    for file in files {
        // A missing file fails the sending: a message never goes out without its attachments.
        let bytes = blobs.get(tx, ws, &file.hash)?;
        let bytes = bytes.ok_or_else(|| std::io::Error::other("an enclosed file is missing"))?;
        let (filename, content_type) = (file.filename, file.content_type);
        attachments.push((file.id, mail::Attachment { filename, content_type, bytes }));
    }
    Ok(attachments)
}

/// The sending slots that a message with attachments of this size takes, so that a few large
/// messages use no more memory than many small ones.
pub fn places(bytes: i64) -> usize {
    1 + (bytes.max(0) / BYTES_IN_A_PLACE) as usize
}

/// A file, the conversation it belongs to, which is empty for a first mail that is unsent, and its
/// author while it has no message.
pub fn find(
    tx: &mut Tx<'_>,
    ws: i64,
    id: &AttachmentId,
) -> Result<Option<(OutgoingAttachment, String, UserId)>> {
    let columns = OutgoingAttachment::COLUMNS;
    let found: Option<OutgoingAttachment> = tx
        .opt(&format!("SELECT {columns} FROM attachments WHERE ws = ?1 AND id = ?2"), &[&ws, id])?;
    let Some(found) = found else { return Ok(None) };
    let (conversation, person) = tx.one(
        "SELECT conversation, person FROM attachments WHERE ws = ?1 AND id = ?2",
        &[&ws, id],
    )?;
    Ok(Some((found, conversation, person)))
}

impl OutgoingAttachment {
    /// True for a file that only goes with a secure message.
    pub fn is_sealed(&self) -> bool {
        self.key.is_some()
    }

    /// The name of its bytes.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}
