//! The words and files of secure messages, sealed at rest.

use std::collections::HashMap;
use std::fmt;

use base::app::Cx;
use base::error::{Error, Result};
use base::files::blobs::{Blob, Blobs};
use base::ids::{AttachmentId, ConversationId, Ids, MessageId};
use base::security::content_key::ContentKey;
use db::{Arg, Tx};
use serde::{Deserialize, Serialize};

use crate::installation::sealing;
use crate::messages::attachments::AttachmentInfo;

/// What is shown of a message whose key was deleted.
/// Customers read it.
const FORGOTTEN: &str = "This message was removed.";

/// The words and files of a secure message.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ProtectedContent {
    pub text: String,
    /// The Markdown that the text was made from; `None` for plain text.
    pub markdown: Option<String>,
    /// One line for the person who approves it.
    pub summary: Option<String>,
    pub files: Vec<ProtectedFile>,
}

/// A file of a secure message. Its bytes are a blob that is sealed with a key of its own.
#[derive(Clone, Serialize, Deserialize)]
pub struct ProtectedFile {
    pub id: AttachmentId,
    pub filename: String,
    pub content_type: String,
    /// In bytes, before it was sealed.
    pub size: i64,
    pub hash: String,
    pub key: String,
    /// The hash of the bytes before they were sealed; empty where it is not kept.
    #[serde(default)]
    pub digest: String,
}

impl ProtectedFile {
    pub fn info(&self) -> AttachmentInfo {
        AttachmentInfo {
            filename: self.filename.clone(),
            content_type: self.content_type.clone(),
            size: self.size,
        }
    }
}

/// Words and keys are never printed.
impl fmt::Debug for ProtectedContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProtectedContent")
    }
}

/// A secure message, opened for somebody who may read it.
#[derive(Clone, Debug)]
pub struct ProtectedState {
    pub content: ProtectedContent,
    pub days: i64,
    pub expires_at: Option<i64>,
    pub opened_at: Option<i64>,
    pub revoked_at: Option<i64>,
}

/// Keeps the words of a new secure message under a new key.
pub fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (conversation, message): (&ConversationId, &MessageId),
    content: &ProtectedContent,
    days: i64,
) -> Result<()> {
    let key = ContentKey::new(cx.ids);
    let purpose = sealing::secure_purpose(cx.actor.ws, message);
    tx.exec(
        "INSERT INTO secure_messages (ws, message, conversation, key, content, days)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[
            &cx.actor.ws,
            message,
            conversation,
            &sealing::seal(cx, &purpose, &key.to_text()),
            &seal(cx, &key, &purpose, content),
            &days,
        ],
    )?;
    tx.exec(
        "UPDATE conversations SET has_secure = TRUE
         WHERE ws = ?1 AND id = ?2 AND has_secure = FALSE",
        &[&cx.actor.ws, conversation],
    )?;
    Ok(())
}

/// Gives a secure draft other words.
pub fn replace(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    content: &ProtectedContent,
) -> Result<()> {
    let purpose = sealing::secure_purpose(cx.actor.ws, message);
    let (kept,): (Option<String>,) = tx.one(
        "SELECT key FROM secure_messages WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message],
    )?;
    let key = opened_key(cx, &purpose, kept.ok_or(Error::NotFound("message"))?)?;
    tx.exec(
        "UPDATE secure_messages SET content = ?3 WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message, &seal(cx, &key, &purpose, content)],
    )?;
    Ok(())
}

/// Deletes the key of a message, and with it the words and the keys of its files.
pub fn forget(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<()> {
    tx.exec(
        "UPDATE secure_messages SET key = NULL, content = ?3 WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message, &Vec::<u8>::new()],
    )?;
    Ok(())
}

fn seal(cx: &Cx<'_>, key: &ContentKey, purpose: &str, content: &ProtectedContent) -> Vec<u8> {
    let words = serde_json::to_vec(content).expect("texts are JSON");
    key.seal(cx.ids, purpose, &words)
}

fn opened_key(cx: &Cx<'_>, purpose: &str, kept: String) -> Result<ContentKey> {
    let text = sealing::unseal(cx.sealer, purpose, kept)?;
    ContentKey::from_text(&text).ok_or_else(unreadable)
}

fn unreadable() -> Error {
    Error::Files(std::io::Error::other("a secure message does not open with its key"))
}

db::row! {
    struct Stored from "s" {
        message: MessageId,
        key: Option<String>,
        content: Vec<u8>,
        days: i64,
        expires_at: Option<i64>,
        opened_at: Option<i64>,
        revoked_at: Option<i64>,
    }
}

/// The words of one secure message.
pub fn load(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<ProtectedContent> {
    let mut found = states(tx, cx, std::slice::from_ref(message))?;
    found.remove(message).map(|state| state.content).ok_or(Error::NotFound("message"))
}

/// The secure ones of some messages, opened. The caller has checked that the reader may see them.
pub fn states(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    messages: &[MessageId],
) -> Result<HashMap<MessageId, ProtectedState>> {
    if messages.is_empty() {
        return Ok(HashMap::new());
    }
    let places: Vec<String> = (2..messages.len() + 2).map(|place| format!("?{place}")).collect();
    let mut args: Vec<&dyn Arg> = vec![&cx.actor.ws];
    args.extend(messages.iter().map(|id| id as &dyn Arg));
    let rows: Vec<Stored> = tx.all(
        &format!(
            "SELECT {} FROM secure_messages s WHERE s.ws = ?1 AND s.message IN ({})",
            Stored::COLUMNS,
            places.join(", ")
        ),
        &args,
    )?;
    let mut states = HashMap::with_capacity(rows.len());
    for row in rows {
        let purpose = sealing::secure_purpose(cx.actor.ws, &row.message);
        let content = match row.key {
            None => ProtectedContent { text: FORGOTTEN.into(), ..ProtectedContent::default() },
            Some(kept) => {
                let key = opened_key(cx, &purpose, kept)?;
                let words = key.open(&purpose, &row.content).ok_or_else(unreadable)?;
                serde_json::from_slice(&words).map_err(|_| unreadable())?
            }
        };
        let state = ProtectedState {
            content,
            days: row.days,
            expires_at: row.expires_at,
            opened_at: row.opened_at,
            revoked_at: row.revoked_at,
        };
        states.insert(row.message, state);
    }
    Ok(states)
}

/// Takes a file in, sealed with a key of its own. Call it outside of a transaction.
pub fn seal_file(
    (blobs, ids): (&Blobs, &Ids),
    now: i64,
    filename: String,
    content_type: String,
    bytes: &[u8],
) -> std::io::Result<(ProtectedFile, Blob)> {
    let id = AttachmentId::new(ids, now);
    seal_file_as((blobs, ids), id, filename, content_type, bytes)
}

/// The same for a file that has an id already.
pub fn seal_file_as(
    (blobs, ids): (&Blobs, &Ids),
    id: AttachmentId,
    filename: String,
    content_type: String,
    bytes: &[u8],
) -> std::io::Result<(ProtectedFile, Blob)> {
    let key = ContentKey::new(ids);
    let blob = blobs.put(&key.seal(ids, id.as_str(), bytes))?;
    let file = ProtectedFile {
        id,
        filename,
        content_type,
        size: bytes.len() as i64,
        hash: blob.hash.clone(),
        key: key.to_text(),
        digest: Blobs::hash_of(bytes),
    };
    Ok((file, blob))
}

/// The bytes of a file.
pub fn file_bytes(tx: &mut Tx<'_>, cx: &Cx<'_>, file: &ProtectedFile) -> Result<Vec<u8>> {
    let sealed = cx.blobs.get(tx, cx.actor.ws, &file.hash)?.ok_or(Error::NotFound("file"))?;
    let key = ContentKey::from_text(&file.key).ok_or_else(unreadable)?;
    key.open(file.id.as_str(), &sealed).ok_or_else(unreadable)
}
