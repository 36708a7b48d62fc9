//! Recognizes the test mail of an inbox that came back to its address with a plus tag, and the bounce
//! that came instead of it.

use base::app::Cx;
use base::error::Result;
use db::Tx;
use mail::MailKind;
use model::installation::mail_secret::MailSecret;
use model::mailboxes::Mailbox;
use model::mailboxes::plus_tags;

use crate::incoming_mail::IncomingMail;
use crate::own_mail::own_copies::NOTICE_MESSAGE_ID;
use crate::own_mail::own_markers::OwnMarkers;

/// True for the test mail of this inbox, or a bounce of it; the test is over then. The id of a test is
/// known to this inbox's mailbox alone.
pub(super) fn ends_test(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    secret: &MailSecret,
    (incoming, signs): (&IncomingMail, &OwnMarkers),
) -> Result<bool> {
    let ws = cx.actor.ws;
    if signs.kind == MailKind::Bounce && !signs.given_up.is_empty() {
        let Some(test) = signs.about.as_deref().and_then(test_of) else { return Ok(false) };
        return plus_tags::end_test(tx, ws, &mailbox.id, test, false);
    }
    let Some(test) = incoming.mail.message_id.as_deref().and_then(test_of) else {
        return Ok(false);
    };
    let marked = signs
        .loop_mark
        .as_deref()
        .and_then(|mark| mail::message_of_loop_mark(secret.as_bytes(), mark));
    if marked.as_deref().and_then(|message| message.strip_prefix("msg_")) != Some(test) {
        return Ok(false);
    }
    plus_tags::end_test(tx, ws, &mailbox.id, test, true)
}

/// The id in a Message-ID of the service.
fn test_of(header_id: &str) -> Option<&str> {
    let (id, _) =
        header_id.trim_matches(['<', '>']).strip_prefix(NOTICE_MESSAGE_ID)?.split_once('@')?;
    Some(id)
}
