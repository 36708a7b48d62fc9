//! The life of a secure message after it was written: its links, opening, reminding, taking back.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, MessageId};
use base::limits::{DAY_MS, SECURE_REMINDER_MS};
use base::states::{MessageStatus, Status};
use db::Tx;

use crate::conversations::timeline::{self, TimelineEvent, WokenBy};
use crate::conversations::{self, Conversation};
use crate::guests::secure::PROTECTED;
use crate::guests::secure::links::{FIRST_GENERATION, SecureLink, recipients_left, token};
use crate::messages::recipients;

/// Makes the page of each recipient when a message is scheduled. Those of an earlier attempt are
/// replaced.
pub fn open_links(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (conversation, message): (&ConversationId, &MessageId),
    sends_at: i64,
) -> Result<()> {
    let ws = cx.actor.ws;
    tx.exec("DELETE FROM secure_links WHERE ws = ?1 AND message = ?2", &[&ws, message])?;
    let recipients = recipients::of_message(tx, ws, message)?;
    let mut emails: Vec<String> =
        recipients.everybody().map(|party| party.address().as_str().to_owned()).collect();
    emails.sort();
    emails.dedup();
    for email in emails {
        let token = token(tx, cx, message, &email, FIRST_GENERATION)?;
        tx.exec(
            "INSERT INTO secure_links (ws, message, email, conversation, generation, token_hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            &[&ws, message, &email, conversation, &FIRST_GENERATION, &token.hash()],
        )?;
    }
    expire_after(tx, ws, message, sends_at)
}

/// Lets the pages of a message expire so many days after it leaves.
pub fn expire_after(tx: &mut Tx<'_>, ws: i64, message: &MessageId, leaves_at: i64) -> Result<()> {
    tx.exec(
        "UPDATE secure_messages SET expires_at = ?3 + days * ?4 WHERE ws = ?1 AND message = ?2",
        &[&ws, message, &leaves_at, &DAY_MS],
    )?;
    Ok(())
}

/// The message has left: its days begin, and whoever has not opened it is reminded once.
pub fn note_sent(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<()> {
    expire_after(tx, cx.actor.ws, message, cx.now)?;
    tx.exec(
        "UPDATE secure_messages SET remind_at = ?3
         WHERE ws = ?1 AND message = ?2 AND opened_at IS NULL AND expires_at > ?3",
        &[&cx.actor.ws, message, &(cx.now + SECURE_REMINDER_MS)],
    )?;
    tx.wake(Queue::SecureReminders);
    Ok(())
}

/// Somebody with the right code reads the page, which shows every open message of the conversation
/// to this address.
pub fn mark_opened(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &SecureLink) -> Result<()> {
    let opened: Vec<(MessageId,)> = tx.all(
        "UPDATE secure_links SET opened_at = ?4
         WHERE ws = ?1 AND conversation = ?2 AND email = ?3 AND opened_at IS NULL
           AND EXISTS (
               SELECT 1
               FROM secure_messages s JOIN messages m ON m.ws = s.ws AND m.id = s.message
               WHERE s.ws = secure_links.ws AND s.message = secure_links.message
                 AND secure_links.revoked_at IS NULL AND s.revoked_at IS NULL
                 AND s.expires_at > ?4 AND m.status IN ('sending', 'sent')
           )
         RETURNING message",
        &[&cx.actor.ws, &link.conversation, &link.email, &cx.now],
    )?;
    for (message,) in opened {
        note_opened(tx, cx, link, message)?;
    }
    Ok(())
}

fn note_opened(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &SecureLink, message: MessageId) -> Result<()> {
    let ws = cx.actor.ws;
    let all = recipients_left(tx, ws, &message)?.is_empty();
    tx.exec(
        "UPDATE secure_messages
         SET opened_at = coalesce(opened_at, ?3),
             remind_at = CASE WHEN ?4 THEN NULL ELSE remind_at END
         WHERE ws = ?1 AND message = ?2",
        &[&ws, &message, &cx.now, &all],
    )?;
    let opened = TimelineEvent::Opened { message_id: message, email: link.email.clone() };
    timeline::record(tx, cx, &link.conversation, &opened)
}

/// True while the page of a message can be read.
pub fn is_open(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<bool> {
    let open: Option<(i64,)> = tx.opt(
        "SELECT expires_at FROM secure_messages
         WHERE ws = ?1 AND message = ?2 AND revoked_at IS NULL AND expires_at > ?3",
        &[&cx.actor.ws, message, &cx.now],
    )?;
    Ok(open.is_some())
}

/// Takes a message back that has left: its pages are closed at once. False when they were closed before.
pub fn revoke(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<bool> {
    must_have_left(tx, cx, message)?;
    let revoked = tx.exec(
        "UPDATE secure_messages SET revoked_at = ?3, remind_at = NULL
         WHERE ws = ?1 AND message = ?2 AND revoked_at IS NULL",
        &[&cx.actor.ws, message, &cx.now],
    )?;
    if revoked == 0 {
        return Ok(false);
    }
    // A new link for one recipient must not open the pages of the others again.
    tx.exec(
        "UPDATE secure_links SET revoked_at = ?3 WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message, &cx.now],
    )?;
    let event = TimelineEvent::SecureRevoked { message_id: message.clone() };
    timeline::record(tx, cx, &conversation.id, &event)?;
    Ok(true)
}

/// Leaves the pages open for longer.
pub fn extend(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<()> {
    must_have_left(tx, cx, message)?;
    let extended = tx.exec(
        "UPDATE secure_messages SET expires_at = ?3 + days * ?4
         WHERE ws = ?1 AND message = ?2 AND revoked_at IS NULL AND expires_at > ?3",
        &[&cx.actor.ws, message, &cx.now, &DAY_MS],
    )?;
    match extended {
        0 => Err(Error::invalid("message", "is closed; send a new link instead")),
        _ => Ok(()),
    }
}

/// Opens pages again under new links, in place of the old ones: those of the recipients who asked, or
/// else all. Answers whom the new links belong to.
pub fn renew_links(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<Vec<String>> {
    must_have_left(tx, cx, message)?;
    let ws = cx.actor.ws;
    tx.exec(
        "UPDATE secure_messages SET expires_at = ?3 + days * ?4, revoked_at = NULL
         WHERE ws = ?1 AND message = ?2",
        &[&ws, message, &cx.now, &DAY_MS],
    )?;
    let asked: Option<(i64,)> = tx.opt(
        "SELECT asked_at FROM secure_links
         WHERE ws = ?1 AND message = ?2 AND asked_at IS NOT NULL LIMIT 1",
        &[&ws, message],
    )?;
    let links: Vec<(String, i64)> = tx.all(
        "UPDATE secure_links
         SET generation = generation + 1, locked_at = NULL, asked_at = NULL, revoked_at = NULL
         WHERE ws = ?1 AND message = ?2 AND (asked_at IS NOT NULL OR ?3)
         RETURNING email, generation",
        &[&ws, message, &asked.is_none()],
    )?;
    for (email, generation) in &links {
        let token = token(tx, cx, message, email, *generation)?;
        tx.exec(
            "UPDATE secure_links SET token_hash = ?4 WHERE ws = ?1 AND message = ?2 AND email = ?3",
            &[&ws, message, email, &token.hash()],
        )?;
    }
    Ok(links.into_iter().map(|(email, _)| email).collect())
}

/// The reader of a closed page would like a new link. A person decides.
pub fn request_link(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &SecureLink) -> Result<()> {
    if !link.may_ask(cx.now) {
        return Ok(());
    }
    tx.exec(
        "UPDATE secure_links SET asked_at = ?4 WHERE ws = ?1 AND message = ?2 AND email = ?3",
        &[&cx.actor.ws, &link.message, &link.email, &cx.now],
    )?;
    let asked =
        TimelineEvent::LinkAsked { message_id: link.message.clone(), email: link.email.clone() };
    timeline::record(tx, cx, &link.conversation, &asked)?;
    let mut conversation = conversations::load(tx, cx.actor, link.conversation.as_str())?;
    if conversation.held {
        return Ok(());
    }
    conversations::wake(tx, cx, &mut conversation, WokenBy::Customer)?;
    conversations::set_status(tx, cx, &mut conversation, Status::Open)
}

/// The secure message, once it has left.
fn must_have_left(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<()> {
    let found: Option<(bool, Option<MessageStatus>)> = tx.opt(
        "SELECT secure, status FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, message],
    )?;
    match found {
        Some((true, Some(MessageStatus::Sending | MessageStatus::Sent))) => Ok(()),
        Some((true, Some(MessageStatus::Draft | MessageStatus::Scheduled))) => {
            Err(Error::invalid("message", "has not left yet; stop it instead"))
        }
        _ => Err(Error::invalid("message", format!("is not a {}", PROTECTED.to_lowercase()))),
    }
}
