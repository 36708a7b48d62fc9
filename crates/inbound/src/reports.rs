//! Bounces and complaints: reports of other mail systems about mail that we sent.
//!
//! Anyone can forge a report. It counts only with a marker that is unguessable: it was sent to the
//! return path of one message, or quotes its Message-ID. Every recipient of a message knows these,
//! so a report counts only for the message's own recipients.

use std::collections::BTreeSet;

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::MessageId;
use db::Tx;
use mail::{AddressToken, MailKind};
use model::conversations::Conversation;
use model::installation::mail_secret::MailSecret;
use model::messages::recipients::{self, Party};
use model::messages::send_failure::SendFailure;
use outbound::failed_messages;
use outbound::messages::{self, OutgoingMessage};

use crate::own_mail::own_markers::OwnMarkers;

/// What is told of a bounce whose status says nothing.
const BOUNCED: &str = "it came back";

/// A report that carries a valid marker of one of our messages.
pub(super) struct VerifiedReport {
    pub conversation: Conversation,
    message: OutgoingMessage,
    kind: ReportKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReportKind {
    /// It will not arrive at these addresses.
    Bounced(Vec<(EmailAddress, String)>),
    /// Its recipient reported it as spam.
    Complained,
    /// It is late, was delivered, or was read.
    Informational,
}

/// Parses a mail as a report and verifies its marker.
pub(super) fn verify(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    secret: &MailSecret,
    signs: &OwnMarkers,
) -> Result<Option<VerifiedReport>> {
    let kind = match signs.kind {
        MailKind::Bounce if !signs.given_up.is_empty() => {
            ReportKind::Bounced(signs.given_up.clone())
        }
        MailKind::Complaint => ReportKind::Complained,
        MailKind::Bounce | MailKind::Receipt => ReportKind::Informational,
        MailKind::Person | MailKind::AutoReply | MailKind::List => return Ok(None),
    };
    let Some(id) = message_of(secret, signs) else { return Ok(None) };
    match messages::load_outgoing(tx, cx.actor, &id) {
        Ok((message, conversation)) => Ok(Some(VerifiedReport { conversation, message, kind })),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn message_of(secret: &MailSecret, signs: &OwnMarkers) -> Option<MessageId> {
    let bounced = signs.tokens(secret).find_map(|token| match token {
        AddressToken::Bounce(id) => Some(id),
        AddressToken::Conversation(_) => None,
    });
    let named = || mail::message_of_id(secret.as_bytes(), signs.about.as_deref()?);
    MessageId::parse(&bounced.or_else(named)?)
}

/// Records the report's outcome.
pub(super) fn apply(tx: &mut Tx<'_>, cx: &Cx<'_>, report: VerifiedReport) -> Result<()> {
    let VerifiedReport { mut conversation, message, kind } = report;
    match kind {
        ReportKind::Bounced(named) => mark_bounced(tx, cx, &mut conversation, &message, &named),
        ReportKind::Complained => failed_messages::note_complaint(tx, cx, &message),
        ReportKind::Informational => Ok(()),
    }
}

/// Marks the recipients named by a bounce as failed. The message has failed when all of its
/// recipients have.
fn mark_bounced(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    message: &OutgoingMessage,
    named: &[(EmailAddress, String)],
) -> Result<()> {
    let recipients = recipients::of_message(tx, cx.actor.ws, &message.id)?;
    let all: BTreeSet<EmailAddress> = recipients.everybody().map(Party::address).collect();
    let mut failure = None;
    let mut news = Vec::new();
    for (email, status) in named.iter().filter(|(email, _)| all.contains(email)) {
        let refusal = SendFailure::new(bounce_code(status), BOUNCED, "");
        if refuse(tx, cx, &message.id, email, &refusal)? {
            news.push(email.to_string());
        }
        failure.get_or_insert(refusal);
    }
    let Some(failure) = failure else { return Ok(()) };
    news.sort();
    let refused: Vec<(EmailAddress,)> = tx.all(
        "SELECT email FROM recipient_outcomes WHERE ws = ?1 AND message = ?2 AND refusal IS NOT NULL",
        &[&cx.actor.ws, &message.id],
    )?;
    let mut to = recipients.to.iter().map(Party::address);
    if to.all(|email| refused.iter().any(|(gone,)| *gone == email)) {
        return failed_messages::mark_bounced(tx, cx, conversation, message, &failure);
    }
    match news.is_empty() {
        true => Ok(()),
        false => failed_messages::note_refused(tx, cx, message, &news, &failure),
    }
}

/// Marks a recipient as failed; false when it already was.
fn refuse(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    email: &str,
    failure: &SendFailure,
) -> Result<bool> {
    let news = tx.exec(
        "INSERT INTO recipient_outcomes (ws, message, email, refusal, code, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (ws, message, email) DO UPDATE
            SET refusal = excluded.refusal, code = excluded.code, at = excluded.at
            WHERE recipient_outcomes.refusal IS NULL",
        &[&cx.actor.ws, message, &email, &failure.text, &failure.code, &cx.now],
    )?;
    Ok(news > 0)
}

/// A status that tells no cause (`5.0.0`) is told in our own word.
fn bounce_code(status: &str) -> &str {
    match status {
        "" | "4.0.0" | "5.0.0" => "bounced",
        status => status,
    }
}
