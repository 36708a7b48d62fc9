//! Secure messages as the team handles them: taking back, more time, a new link, and their files.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MessageId};
use db::Tx;
use model::conversations::{self, Conversation};
use model::guests::secure;
use model::mailboxes::inbox_access;
use outbound::{link_mail, messages};

use crate::documents::files::StoredFile;

/// Closes the page of a secure message at once.
pub fn revoke_secure(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<ConversationId> {
    let conversation = conversation_of_sent(tx, cx, id)?;
    secure::revoke(tx, cx, &conversation, id)?;
    Ok(conversation.id)
}

/// Leaves the page of a secure message open for as long again as it was opened for.
pub fn extend_secure(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<ConversationId> {
    let conversation = conversation_of_sent(tx, cx, id)?;
    secure::extend(tx, cx, id)?;
    Ok(conversation.id)
}

/// Opens the page of a secure message again and mails new links.
pub fn send_secure_again(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<ConversationId> {
    let conversation = conversation_of_sent(tx, cx, id)?;
    inbox_access::must_send(tx, cx.actor, &conversation.mailbox)?;
    link_mail::send_again(tx, cx, &conversation, id)?;
    Ok(conversation.id)
}

fn conversation_of_sent(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<Conversation> {
    let (_, conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    Ok(conversation)
}

/// A file of a secure message, if the actor may see its conversation.
pub fn secure_file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    file: &str,
) -> Result<StoredFile> {
    let missing = || Error::NotFound("file");
    let found: Option<(ConversationId,)> = tx.opt(
        "SELECT conversation FROM messages WHERE ws = ?1 AND id = ?2 AND secure = TRUE",
        &[&cx.actor.ws, message],
    )?;
    let (conversation,) = found.ok_or_else(missing)?;
    conversations::load(tx, cx.actor, conversation.as_str()).map_err(|_| missing())?;
    let content = secure::load(tx, cx, message).map_err(|_| missing())?;
    let file = content.files.into_iter().find(|known| known.id.as_str() == file);
    let file = file.ok_or_else(missing)?;
    let bytes = secure::file_bytes(tx, cx, &file)?;
    Ok(StoredFile { filename: file.filename, content_type: file.content_type, bytes })
}
