//! A message as it leaves: its header and envelope with the markers that lead replies and bounces
//! back to it, and the DKIM signature of its domain.

use std::sync::Arc;

use base::actor::Actor;
use base::app::{App, Cx};
use base::concurrency::blocking::spawn_blocking;
use base::error::Result;
use base::ids::{ConversationId, MailboxId, MessageId, RequestId};
use base::workspaces::samples::is_sample;
use customers::CustomerPageMode;
use db::{Json, Tx};
use mail::{Address, AutoSubmission, ComposedMail};
use model::installation::mail_secret;
use model::mailboxes::domains::{self, Signer};
use model::mailboxes::outgoing_servers::{self, SubmissionServer};
use model::messages::mail_language;
use model::messages::recipients::Party;
use translation::t;

use crate::OutgoingMail;
use crate::outgoing::message_body::{self, ComposedBody, StoredBody};
use crate::outgoing::{recipient_outcomes, secure_mail};

/// Message-IDs named in `References`: the first and the latest.
const REFERENCES: usize = 20;

/// A message with its envelope, before it is composed and signed.
#[derive(Clone)]
pub struct UnsignedMail {
    mail: Arc<ComposedMail>,
    /// What each recipient of a secure message gets instead.
    copies: Arc<Vec<MailCopy>>,
    /// The return path.
    sender: String,
    /// The recipients that it has not been delivered to yet.
    pub recipients: Vec<String>,
    signer: Option<Signer>,
    /// The server that the inbox sends through; `None` for the operator's relay.
    pub server: Option<Arc<SubmissionServer>>,
    of_service: bool,
    of_sample: bool,
}

/// The mail of a secure message to one recipient.
struct MailCopy {
    recipient: String,
    mail: ComposedMail,
}

impl UnsignedMail {
    /// The mail of a workspace's inbox: where the inbox accepts plus tags, replies are recognized
    /// by Reply-To and bounces by the return path.
    pub fn new(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        mut mail: ComposedMail,
        markers: &ReturnMarkers<'_>,
        recipients: Vec<String>,
    ) -> Result<UnsignedMail> {
        let secret = mail_secret::mail_secret(tx, cx)?;
        let secret = secret.as_bytes();
        let inbox = &mail.from.email;
        let found: Option<(MailboxId, bool)> = tx.opt(
            "SELECT id, plus_tags FROM mailboxes WHERE address = ?1 AND ws = ?2",
            &[inbox, &cx.actor.ws],
        )?;
        let plus_tags = found.as_ref().is_some_and(|(_, on)| *on);
        let server = match &found {
            Some((id, _)) => outgoing_servers::server_of(tx, cx, id)?.map(Arc::new),
            None => None,
        };
        let sender = match plus_tags {
            true => mail::return_path(secret, inbox, markers.message),
            false => None,
        };
        mail.reply_to = match (plus_tags, markers.conversation) {
            (true, Some(conversation)) => mail::reply_address(secret, inbox, conversation.as_str()),
            _ => None,
        };
        mail.loop_mark = mail::loop_mark(secret, markers.message);
        let signer = domains::signer_of(tx, cx, inbox)?;
        let sender = sender.unwrap_or_else(|| inbox.clone());
        let of_sample = is_sample(tx, cx.actor.ws)?;
        let (mail, of_service, copies) = (mail.into(), false, Arc::default());
        Ok(UnsignedMail { mail, copies, sender, recipients, signer, server, of_service, of_sample })
    }

    /// The same as mail of the service itself, which leaves by another way.
    pub fn of_service(self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<UnsignedMail> {
        let server = outgoing_servers::server_of_service(tx, cx)?.map(Arc::new);
        Ok(UnsignedMail { server, of_service: true, ..self })
    }

    /// The addresses of its To header.
    pub fn to(&self) -> impl Iterator<Item = &str> {
        self.mail.to.iter().map(|to| to.email.as_str())
    }

    /// The same with a mail of its own for each recipient.
    fn with_copies(self, letters: Vec<(Address, ComposedBody)>) -> UnsignedMail {
        let copy = |(to, body): (Address, ComposedBody)| MailCopy {
            recipient: to.email.clone(),
            mail: ComposedMail {
                to: vec![to],
                cc: Vec::new(),
                text: body.text,
                html: Some(body.html),
                ..(*self.mail).clone()
            },
        };
        let copies = Arc::new(letters.into_iter().map(copy).collect());
        UnsignedMail { copies, ..self }
    }

    /// The finished mails, the same bytes on every attempt: one for all recipients, or one for each.
    pub fn sign(&self) -> Vec<OutgoingMail> {
        if self.copies.is_empty() {
            return vec![self.sign_whole()];
        }
        let left = self.copies.iter().filter(|copy| self.recipients.contains(&copy.recipient));
        left.map(|copy| self.sign_for(&copy.mail, vec![copy.recipient.clone()])).collect()
    }

    /// One finished mail to everybody.
    pub fn sign_whole(&self) -> OutgoingMail {
        self.sign_for(&self.mail, self.recipients.clone())
    }

    fn sign_for(&self, mail: &ComposedMail, recipients: Vec<String>) -> OutgoingMail {
        let plain = mail::compose(mail);
        let signed = self.signer.as_ref().and_then(|signer| {
            let seconds = mail.at.div_euclid(1_000);
            let signed =
                mail::dkim_sign(&plain, &signer.domain, &signer.selector, &signer.key, seconds);
            if signed.is_none() {
                tracing::error!(domain = signer.domain, "DKIM key of the domain cannot sign");
            }
            signed
        });
        OutgoingMail {
            message_id: mail.message_id.clone(),
            sender: self.sender.clone(),
            recipients,
            bytes: signed.unwrap_or(plain).into(),
            server: self.server.clone(),
            of_service: self.of_service,
            of_sample: self.of_sample,
        }
    }
}

/// The ids that replies and bounces lead back to.
pub struct ReturnMarkers<'a> {
    /// The id that a bounce is about, with its prefix.
    pub message: &'a str,
    pub conversation: Option<&'a ConversationId>,
}

/// Composes and signs on a thread for blocking work, because both take processor time.
pub(crate) async fn sign(unsigned: &UnsignedMail) -> Result<Vec<OutgoingMail>> {
    let unsigned = unsigned.clone();
    let signed = spawn_blocking(move || unsigned.sign()).await;
    Ok(signed?)
}

/// The same for mail that everybody gets alike.
pub(crate) async fn sign_whole(unsigned: &UnsignedMail) -> Result<OutgoingMail> {
    let unsigned = unsigned.clone();
    let signed = spawn_blocking(move || unsigned.sign_whole()).await;
    Ok(signed?)
}

/// The mail of a message that was sent, as it stands in a folder of sent mail.
pub async fn sent_copy(app: &App, actor: &Actor, message: &MessageId) -> Result<Vec<u8>> {
    let message = message.clone();
    let unsigned = app
        .read(actor, move |tx, cx| {
            let (sent_at,): (Option<i64>,) = tx.one(
                "SELECT counted_at FROM messages WHERE ws = ?1 AND id = ?2",
                &[&cx.actor.ws, &message],
            )?;
            load(tx, cx, &message, sent_at.unwrap_or(i64::MAX))
        })
        .await?;
    let signed = sign_whole(&unsigned).await?;
    Ok(signed.bytes.to_vec())
}

/// Loads an outgoing message from the database.
pub fn of_message(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<UnsignedMail> {
    load(tx, cx, message, i64::MAX)
}

/// The same, answering the mail from before this time.
fn load(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId, before: i64) -> Result<UnsignedMail> {
    let ws = cx.actor.ws;
    let mut row: OutgoingRow = tx.one(
        &format!("SELECT {} FROM messages m WHERE m.ws = ?1 AND m.id = ?2", OutgoingRow::COLUMNS),
        &[&ws, message],
    )?;
    row.signature = with_own_page(tx, cx, &row)?;
    let secure = match (&row.leads_to, row.secure) {
        (Some(other), _) => Some(other.clone()),
        (None, true) => Some(message.clone()),
        (None, false) => None,
    };
    let body = match &secure {
        Some(_) => secure_mail::without_link(tx, ws, &row.stored_body())?,
        None => message_body::of_message(tx, cx, message, &row.stored_body())?,
    };
    let letters = match &secure {
        Some(secure) => {
            let parties = [&row.to_list.0, &row.cc_list.0, &row.bcc_list.0].into_iter().flatten();
            let parties: Vec<Party> = parties.cloned().collect();
            secure_mail::letters(tx, cx, secure, &row.stored_body(), &parties)?
        }
        None => Vec::new(),
    };
    let submission = row.submission();
    let mail = ComposedMail {
        message_id: row.header_id,
        answers: chain(tx, ws, &row.conversation, before)?,
        from: Address { name: row.from_name, email: row.from_email },
        reply_to: None,
        to: addresses(row.to_list),
        cc: addresses(row.cc_list),
        subject: row.subject,
        text: body.text,
        html: Some(body.html),
        inline: body.inline,
        attachments: body.attachments,
        calendar: None,
        at: row.first_attempt_at,
        submission,
        loop_mark: None,
        unsubscribe: row.unsubscribe,
    };
    let bcc = addresses(row.bcc_list);
    let everyone = mail.to.iter().chain(&mail.cc).chain(&bcc);
    let mut recipients: Vec<String> = everyone.map(|address| address.email.clone()).collect();
    recipients.sort();
    recipients.dedup();
    let settled = recipient_outcomes::settled_recipients(tx, ws, message)?;
    recipients.retain(|email| !settled.contains(email));
    let markers =
        ReturnMarkers { message: message.as_str(), conversation: Some(&row.conversation) };
    let unsigned = UnsignedMail::new(tx, cx, mail, &markers, recipients)?;
    Ok(unsigned.with_copies(letters))
}

db::row! {
    struct OutgoingRow from "m" {
        conversation: ConversationId,
        header_id: String,
        from_name: Option<String>,
        from_email: String,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        /// Only in the envelope.
        bcc_list: Json<Vec<Party>>,
        subject: String,
        text: String,
        first_attempt_at: i64,
        automatic: bool,
        auto_replied: bool,
        unsubscribe: Option<String>,
        markdown: Option<String>,
        signature: String,
        quotes: Option<MessageId>,
        forwards: Option<MessageId>,
        request: Option<RequestId>,
        secure: bool,
        leads_to: Option<MessageId>,
    }
}

impl OutgoingRow {
    fn submission(&self) -> AutoSubmission {
        match (self.automatic, self.auto_replied) {
            (false, _) => AutoSubmission::No,
            (true, false) => AutoSubmission::Generated,
            (true, true) => AutoSubmission::Replied,
        }
    }

    fn stored_body(&self) -> StoredBody<'_> {
        StoredBody {
            conversation: &self.conversation,
            domain: self.from_email.rsplit('@').next().unwrap_or_default(),
            text: &self.text,
            markdown: self.markdown.as_deref(),
            signature: &self.signature,
            quotes: self.quotes.as_ref(),
            forwards: self.forwards.as_ref(),
            request: self.request.as_ref(),
        }
    }
}

fn addresses(parties: Json<Vec<Party>>) -> Vec<Address> {
    let address = |party: Party| Address { name: party.name, email: party.email };
    parties.0.into_iter().map(address).collect()
}

/// The signature, and below it where the workspace wants it the address of the customers' own page.
/// Customers read it.
fn with_own_page(tx: &mut Tx<'_>, cx: &Cx<'_>, row: &OutgoingRow) -> Result<String> {
    let signature = row.signature.clone();
    let is_reply = !row.automatic && row.forwards.is_none() && !row.secure;
    if !is_reply {
        return Ok(signature);
    }
    let (mode, slug) = customers::mode_of(tx, cx.actor.ws)?;
    if mode != CustomerPageMode::Linked {
        return Ok(signature);
    }
    let link = customers::page_url(cx.public_url, &slug);
    let reader = mail_language::of_conversation(tx, cx.actor.ws, &row.conversation)?;
    let line = reader.run(|| t!("Your conversations with us: {link}", link));
    Ok(if signature.trim().is_empty() {
        line
    } else {
        format!("{}\n\n{line}", signature.trim_end())
    })
}

/// The Message-IDs of the conversation's mail so far: the first, and the latest.
fn chain(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    before: i64,
) -> Result<Vec<String>> {
    let latest: Vec<(String,)> = tx.all(
        "SELECT header_id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at < ?4
         ORDER BY at DESC, id DESC LIMIT ?3",
        &[&ws, conversation, &(REFERENCES as i64 - 1), &before],
    )?;
    let first: Option<(String,)> = tx.opt(
        "SELECT header_id FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at < ?3
         ORDER BY at, id LIMIT 1",
        &[&ws, conversation, &before],
    )?;
    let mut chain: Vec<String> = latest.into_iter().rev().map(|(id,)| id).collect();
    if let Some((first,)) = first.filter(|(first,)| chain.first() != Some(first)) {
        chain.insert(0, first);
    }
    Ok(chain)
}
