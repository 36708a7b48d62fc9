//! Detects copies of our own mail that return by a forwarder, a list, or a recipient that is an
//! inbox here.
//!
//! Only copies are dropped. The loop mark or Message-ID names a message of ours, but every
//! recipient of that message can put both into another mail, and some clients do in replies and
//! forwards. So a mail counts as a copy only if it also has the message's sender and contains its
//! text.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::MessageId;
use db::{Json, Tx};
use mail::{Attachment, Dmarc};
use model::installation::mail_secret::MailSecret;
use model::mailboxes::Mailbox;
use model::messages::attachments::AttachmentInfo;

use crate::incoming_mail::IncomingMail;
use crate::own_mail::own_markers::OwnMarkers;

/// How the Message-IDs of mail to people of a workspace begin.
pub(crate) const NOTICE_MESSAGE_ID: &str = "notice.";

/// True for a copy of a message of ours. Mail that fails DMARC is not.
pub(crate) fn is_one(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    secret: &MailSecret,
    incoming: &IncomingMail,
    signs: &OwnMarkers,
) -> Result<bool> {
    let Some(text) = &signs.whole_text else { return Ok(false) };
    let mail = &incoming.mail;
    if mail.dmarc == Dmarc::Fail {
        return Ok(false);
    }
    let secret = secret.as_bytes();
    let marked =
        signs.loop_mark.as_deref().and_then(|mark| mail::message_of_loop_mark(secret, mark));
    let named = mail.message_id.as_deref().and_then(|id| mail::message_of_id(secret, id));
    for id in marked.iter().chain(&named) {
        let found: Option<(String, String, bool, Json<Vec<AttachmentInfo>>)> = tx.opt(
            "SELECT from_email, text, secure = TRUE OR leads_to IS NOT NULL, attachments FROM messages
             WHERE ws = ?1 AND id = ?2 AND direction = 'outbound'",
            &[&cx.actor.ws, id],
        )?;
        let same = match found {
            Some((from, sent, is_link, files)) => {
                // The mail of a secure message holds a link instead of the message's text.
                let sent = if is_link { format!("{}/s/", cx.public_url) } else { sent };
                let is_sender = EmailAddress::new(&from) == mail.from.email.as_str();
                is_sender && holds(text, &sent) && has_files(&mail.attachments, &files)
            }
            None => is_notice(tx, cx, id, incoming)?,
        };
        if same {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes a Message-ID of ours from a mail that is not that message: it is filed under the hash of
/// its bytes.
pub(crate) fn disown_message_id(secret: &MailSecret, incoming: &mut IncomingMail) {
    let id = incoming.mail.message_id.as_deref();
    if id.is_some_and(|id| mail::message_of_id(secret.as_bytes(), id).is_some()) {
        incoming.mail.message_id = None;
    }
}

/// Notices are not stored, so the sender and Message-ID must suffice.
fn is_notice(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, incoming: &IncomingMail) -> Result<bool> {
    let (Some(id), Some(header_id)) = (MessageId::parse(id), &incoming.mail.message_id) else {
        return Ok(false);
    };
    let bare = id.as_str().trim_start_matches("msg_");
    if !header_id.starts_with(&format!("{NOTICE_MESSAGE_ID}{bare}@")) {
        return Ok(false);
    }
    let inbox: Option<(String,)> = tx.opt(
        "SELECT id FROM mailboxes WHERE address = ?1 AND ws = ?2",
        &[&incoming.mail.from.email, &cx.actor.ws],
    )?;
    Ok(inbox.is_some())
}

/// True for a notice in the folder of sent mail of the inbox that it was sent from. Notices are not stored,
/// and only those who may use the mailbox put anything there, so the loop mark and the sender must suffice.
pub(crate) fn is_sent_notice(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    secret: &MailSecret,
    mailbox: &Mailbox,
    (incoming, signs): (&IncomingMail, &OwnMarkers),
) -> Result<bool> {
    let mark = signs.loop_mark.as_deref();
    let marked = mark.and_then(|mark| mail::message_of_loop_mark(secret.as_bytes(), mark));
    let from = EmailAddress::new(&incoming.mail.from.email);
    let Some(id) = marked.filter(|_| from == mailbox.address) else { return Ok(false) };
    let message: Option<(String,)> =
        tx.opt("SELECT id FROM messages WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, &id])?;
    Ok(message.is_none())
}

/// True when a text contains another, ignoring changes to white space, line ends and punctuation. A text
/// without a letter is compared by its signs; an empty one is in no text that has any.
fn holds(text: &str, sent: &str) -> bool {
    let words = letters(sent);
    if !words.is_empty() {
        return letters(text).contains(&words);
    }
    let signs = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let sent = signs(sent);
    match sent.is_empty() {
        true => signs(text).is_empty(),
        false => signs(text).contains(&sent),
    }
}

/// True when a mail brings all files of a message. One that has no words is known by them alone.
fn has_files(attached: &[Attachment], sent: &[AttachmentInfo]) -> bool {
    let is_there = |file: &AttachmentInfo| {
        attached
            .iter()
            .any(|one| one.filename == file.filename && one.bytes.len() as i64 == file.size)
    };
    sent.iter().all(is_there)
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_may_be_wrapped_anew_and_have_a_footer() {
        let sent = "Hello Ann,\nit left on Tuesday.\n\nKind regards\nOlive";
        let copy = "Hello Ann, it left\non Tuesday.\n\nKind  regards\nOlive\n__\nA list's footer";
        assert!(holds(copy, sent));
        assert!(!holds("Hello Ann, pay here instead.", sent));
    }

    #[test]
    fn an_empty_text_is_in_no_other() {
        assert!(!holds("Pay here instead.", ""));
        assert!(!holds("Pay here instead.", " \n"));
        assert!(holds("\n", ""));
        assert!(!holds("Pay here instead.", "👍"));
        assert!(holds("👍 \n", "👍"));
    }
}
