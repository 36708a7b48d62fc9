//! Which conversation a mail belongs to.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::ConversationId;
use base::limits::{ANSWERS_LOOKED_UP, SUBJECT_THREAD_MS};
use db::Tx;
use mail::{Dmarc, Mail};
use model::conversations::{self, Conversation};
use model::installation::mail_secret;
use model::mailboxes::Mailbox;
use outbound::{app_mail, messages};

/// Participants of a conversation whose organisations a writer is compared with.
const PARTICIPANTS: i64 = 500;
/// Inboxes of the workspace whose domains are its own.
const OWN_INBOXES: i64 = 500;

/// The result of threading.
#[derive(Default)]
pub struct Thread {
    /// The conversation that it continues; `None` begins a new one.
    pub joins: Option<Conversation>,
    pub reference: Option<String>,
    /// The recorded app mail that it replies to.
    pub app_mail: Option<String>,
}

/// A simulated reply joins the given conversation without threading; it may also match recorded app
/// mail.
pub fn join(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
    conversation: &ConversationId,
    reference: Option<String>,
) -> Result<Thread> {
    let answered = answered_app_mail(tx, cx, mailbox, mail)?;
    let (app_mail, sent_for) =
        answered.map_or((None, None), |thread| (thread.app_mail, thread.reference));
    let joins = in_mailbox(tx, cx, mailbox, conversation)?;
    Ok(Thread { joins, reference: sent_for.or(reference), app_mail })
}

/// The first rule that matches wins: recorded app mail, a message we hold that it names, the same
/// sender and subject. A mail that fails its domain's DMARC joins nothing, and nobody is told that it
/// is about the reference that it was sent to.
pub fn find_thread(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
    arrived_at: i64,
    reference: Option<&str>,
) -> Result<Thread> {
    if mail.dmarc == Dmarc::Fail {
        return Ok(Thread::default());
    }
    let alone = Thread { reference: reference.map(str::to_owned), ..Thread::default() };
    if let Some(thread) = answered_app_mail(tx, cx, mailbox, mail)? {
        return Ok(Thread { reference: thread.reference.or(alone.reference), ..thread });
    }
    let joins = match named_conversation(tx, cx, mailbox, mail)? {
        Some(conversation) => Some(conversation),
        None => {
            let (contact, reference) = (&mail.from.email, reference.unwrap_or(""));
            same_subject_and_reference(
                tx,
                cx,
                mailbox,
                (contact, &mail.subject, reference),
                arrived_at,
            )?
        }
    };
    Ok(Thread { joins, ..alone })
}

/// API section 4.13.3: the sender must be a recipient of the recorded mail or a participant of its
/// conversation, and pass DMARC.
fn answered_app_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
) -> Result<Option<Thread>> {
    if mail.dmarc != Dmarc::Pass {
        return Ok(None);
    }
    let (ws, livemode) = (cx.actor.ws, !mailbox.circle.is_sandbox());
    for header_id in mail.answers.iter().take(ANSWERS_LOOKED_UP) {
        let Some(sent) = app_mail::find(tx, ws, livemode, header_id, cx.now)? else { continue };
        let joins = match &sent.conversation {
            Some(id) => in_mailbox(tx, cx, mailbox, id)?,
            None => None,
        };
        let on_it = match &joins {
            Some(conversation) => is_participant(tx, ws, &conversation.id, &mail.from.email)?,
            None => false,
        };
        if sent.to.iter().any(|to| *to == *mail.from.email) || on_it {
            let (reference, app_mail) = (sent.reference, Some(sent.header_id));
            return Ok(Some(Thread { joins, reference, app_mail }));
        }
    }
    Ok(None)
}

/// The message of this inbox that In-Reply-To or References names, if the sender or somebody of the
/// sender's organisation took part in its conversation.
fn named_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    mail: &Mail,
) -> Result<Option<Conversation>> {
    for header_id in mail.answers.iter().take(ANSWERS_LOOKED_UP) {
        let mut named =
            messages::conversations_with_header_id(tx, cx.actor.ws, &mailbox.id, header_id)?;
        if named.is_empty() {
            named.extend(signed_by_us(tx, cx, header_id)?);
        }
        // Several mails may have one Message-ID: the sender's own conversation comes first.
        for conversation in &named {
            if is_participant(tx, cx.actor.ws, conversation, &mail.from.email)? {
                return in_mailbox(tx, cx, mailbox, conversation);
            }
        }
        for conversation in &named {
            if is_colleague(tx, cx.actor.ws, conversation, &mail.from.email)? {
                return in_mailbox(tx, cx, mailbox, conversation);
            }
        }
    }
    Ok(None)
}

/// The conversation of our message whose marker a Message-ID carries, even if a relay rewrote the
/// rest.
fn signed_by_us(tx: &mut Tx<'_>, cx: &Cx<'_>, header_id: &str) -> Result<Option<ConversationId>> {
    if !header_id.starts_with("msg.") {
        return Ok(None);
    }
    let secret = mail_secret::mail_secret(tx, cx)?;
    let Some(message) = mail::message_of_id(secret.as_bytes(), header_id) else { return Ok(None) };
    let found: Option<(ConversationId,)> = tx.opt(
        "SELECT conversation FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message],
    )?;
    Ok(found.map(|(conversation,)| conversation))
}

/// A conversation of this contact with the same base subject and no reference, active within 30 days
/// of this time.
pub fn same_subject(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    contact: &str,
    subject: &str,
    at: i64,
) -> Result<Option<Conversation>> {
    same_subject_and_reference(tx, cx, mailbox, (contact, subject, ""), at)
}

/// The same with a reference. An empty base subject matches nothing.
fn same_subject_and_reference(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    (contact, subject, reference): (&str, &str, &str),
    at: i64,
) -> Result<Option<Conversation>> {
    let base = conversations::base_subject(subject);
    if base.is_empty() {
        return Ok(None);
    }
    let found: Option<(ConversationId,)> = tx.opt(
        "SELECT id FROM conversations
         WHERE ws = ?1 AND mailbox = ?2 AND contact_email = ?3 AND base_subject = ?4
           AND last_message_at > ?5 AND last_message_at < ?6 AND coalesce(reference, '') = ?7
         ORDER BY last_message_at DESC, id DESC LIMIT 1",
        &[
            &cx.actor.ws,
            &mailbox.id,
            &contact,
            &base,
            &(at - SUBJECT_THREAD_MS),
            &(at + SUBJECT_THREAD_MS),
            &reference,
        ],
    )?;
    match found {
        Some((id,)) => in_mailbox(tx, cx, mailbox, &id),
        None => Ok(None),
    }
}

fn in_mailbox(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    id: &ConversationId,
) -> Result<Option<Conversation>> {
    match conversations::load(tx, cx.actor, id.as_str()) {
        Ok(found) => Ok(Some(found).filter(|found| found.mailbox == mailbox.id)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_participant(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    email: &str,
) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT email FROM participants WHERE ws = ?1 AND conversation = ?2 AND email = ?3",
        &[&ws, conversation, &email],
    )?;
    Ok(found.is_some())
}

/// True when the sender writes from a participant's organisation: the same registrable domain,
/// which is neither a public mail provider's nor one of this workspace's own.
fn is_colleague(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    email: &str,
) -> Result<bool> {
    let Some(organisation) = mail::organisation(email) else { return Ok(false) };
    let own: Vec<(String,)> =
        tx.all("SELECT address FROM mailboxes WHERE ws = ?1 LIMIT ?2", &[&ws, &OWN_INBOXES])?;
    let participants: Vec<(String,)> = tx.all(
        "SELECT email FROM participants WHERE ws = ?1 AND conversation = ?2 LIMIT ?3",
        &[&ws, conversation, &PARTICIPANTS],
    )?;
    let is_of_it = |(email,): &(String,)| mail::organisation(email).as_ref() == Some(&organisation);
    Ok(!own.iter().any(is_of_it) && participants.iter().any(is_of_it))
}
