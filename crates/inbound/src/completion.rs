//! A mail of another help desk that was imported without some of its files, because they could not be had
//! then, gets them when it is imported again.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::files::blobs;
use base::states::Direction;
use db::{Json, Tx};
use model::conversations;
use model::documents::{self, NewDocument};
use model::mailboxes::Mailbox;
use model::messages::attachments::AttachmentInfo;
use outbound::messages;

use crate::duplicates::UnknownMail;
use crate::incoming_mail::IncomingMail;

/// Adds the files that the mail of this Message-ID lacks here, if it says the same otherwise; returns how
/// many.
pub(super) fn complete(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &IncomingMail,
    again: &UnknownMail,
) -> Result<usize> {
    let (ws, mail) = (cx.actor.ws, &incoming.mail);
    let Some((conversation, id)) = messages::with_header_id(tx, ws, &mailbox.id, &again.header_id)?
    else {
        return Ok(0);
    };
    let (from, text, direction, Json(stored)): (
        EmailAddress,
        String,
        Direction,
        Json<Vec<AttachmentInfo>>,
    ) = tx.one(
        "SELECT from_email, text, direction, attachments FROM messages WHERE ws = ?1 AND id = ?2",
        &[&ws, &id],
    )?;
    let is_same = from == mail.from.email.as_str()
        && text.split_whitespace().eq(mail.text.split_whitespace());
    let files: Vec<AttachmentInfo> = mail
        .attachments
        .iter()
        .map(|file| AttachmentInfo {
            filename: file.filename.clone(),
            content_type: file.content_type.clone(),
            size: file.bytes.len() as i64,
        })
        .collect();
    let is_alike = |one: &AttachmentInfo, other: &AttachmentInfo| {
        one.filename == other.filename && one.size == other.size
    };
    let has_all = stored.iter().all(|file| files.iter().any(|other| is_alike(file, other)));
    let (Some(raw), true) = (&incoming.raw, is_same && has_all && files.len() > stored.len())
    else {
        return Ok(0);
    };
    blobs::keep(tx, ws, raw)?;
    tx.exec_soon(
        "UPDATE messages SET attachments = ?3, raw_hash = ?4, content_hash = ?5
         WHERE ws = ?1 AND id = ?2",
        &[&ws, &id, &Json(&files), &raw.hash, &again.content_hash],
    )?;
    if direction == Direction::Inbound {
        let conversation = conversations::load(tx, cx.actor, conversation.as_str())?;
        for (file, blob) in files.iter().zip(&incoming.attachments) {
            if !stored.iter().any(|other| is_alike(file, other)) {
                let document = NewDocument {
                    message: Some(&id),
                    filename: &file.filename,
                    content_type: &file.content_type,
                    blob,
                };
                documents::file_unread(tx, cx, &conversation, &document)?;
            }
        }
    }
    Ok(files.len() - stored.len())
}
