//! Tells a mail that an inbox has already from another that has the same Message-ID: programs give all
//! their mail one id, and anybody can guess that of somebody else. A duplicate says the same.

use std::borrow::Cow;

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::files::blobs::hex;
use base::ids::{ConversationId, MailboxId, MessageId};
use db::{Json, Tx};
use mail::Mail;
use model::mailboxes::Mailbox;
use model::messages::attachments::AttachmentInfo;
use outbound::messages::{header_key, header_key_apart};
use sha2::{Digest, Sha256};

use crate::FetchedMail;
use crate::incoming_mail::{FiledMail, IncomingMail};
use crate::mail_dates::MailDates;

/// The domain of generated Message-IDs.
const NO_MESSAGE_ID: &str = "no-message-id";
/// Letters of the hash of a simulated mail.
const HASH_LETTERS: usize = 32;

/// Whether an inbox has a mail already.
pub enum MailLookup {
    Duplicate(KnownMail),
    Unknown(UnknownMail),
}

/// The mail that an inbox has, of which another is a duplicate.
pub struct KnownMail {
    pub filed: FiledMail,
    /// True when every byte is the same, those of machines on the way included.
    pub same_bytes: bool,
}

/// Proof that this transaction checked an inbox for duplicates of a mail. Only [`look_up`] creates
/// one, and filing requires it.
pub struct UnknownMail {
    /// The id of its message.
    pub id: MessageId,
    /// The Message-ID that it is known by from now on.
    pub header_id: String,
    pub header_key: String,
    pub content_hash: String,
}

impl UnknownMail {
    /// True where another mail of the inbox has its Message-ID.
    pub fn shares_its_id(&self) -> bool {
        self.header_key != header_key(&self.header_id)
    }
}

/// What a mail is known by.
pub struct MailIdentity<'a> {
    /// Its Message-ID, or one made of its bytes; `None` for simulated mail without one.
    header_id: Option<Cow<'a, str>>,
    raw_hash: Option<&'a str>,
    content_hash: Cow<'a, str>,
    mail: &'a Mail,
    /// When it was sent, where the inbox may have it from a server that wrote it in other bytes.
    written_anew: Option<i64>,
}

pub fn look_up(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &IncomingMail,
) -> Result<MailLookup> {
    look_up_by(tx, cx, mailbox, &MailIdentity::of_incoming(incoming))
}

/// The same for a mail of a connected mailbox. What was there before it was connected may be known from
/// an earlier connection by another protocol, whose server writes the same mail anew, with boundaries of
/// its own: it is a duplicate if it reads the same and was sent at the same time.
pub fn look_up_fetched(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &IncomingMail,
    fetched: &FetchedMail,
    dates: &MailDates,
) -> Result<MailLookup> {
    let was_there = fetched.internal_date.is_some_and(|at| at < fetched.account.created_at);
    let written_anew = was_there.then_some(dates.sent_at);
    let identity = MailIdentity::of_incoming(incoming);
    look_up_by(tx, cx, mailbox, &MailIdentity { written_anew, ..identity })
}

fn look_up_by(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    identity: &MailIdentity<'_>,
) -> Result<MailLookup> {
    let id = MessageId::new(cx.ids, cx.now);
    let content_hash = identity.content_hash.to_string();
    let Some(header_id) = &identity.header_id else {
        let header_id = format!("{id}@{NO_MESSAGE_ID}");
        let header_key = header_key(&header_id).into_owned();
        return Ok(MailLookup::Unknown(UnknownMail { id, header_id, header_key, content_hash }));
    };
    let header_id = header_id.to_string();
    Ok(match find(tx, cx.actor.ws, &mailbox.id, identity)? {
        Bearer::Same(known) => MailLookup::Duplicate(known),
        Bearer::Other => {
            let header_key = header_key_apart(&header_id, &content_hash);
            MailLookup::Unknown(UnknownMail { id, header_id, header_key, content_hash })
        }
        Bearer::None => {
            let header_key = header_key(&header_id).into_owned();
            MailLookup::Unknown(UnknownMail { id, header_id, header_key, content_hash })
        }
    })
}

/// The mail of an inbox that this one is a duplicate of.
pub fn find_known(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    identity: &MailIdentity<'_>,
) -> Result<Option<KnownMail>> {
    Ok(match find(tx, ws, mailbox, identity)? {
        Bearer::Same(known) => Some(known),
        Bearer::Other | Bearer::None => None,
    })
}

impl<'a> MailIdentity<'a> {
    fn of_incoming(incoming: &'a IncomingMail) -> MailIdentity<'a> {
        let raw_hash = incoming.raw.as_ref().map(|raw| raw.hash.as_str());
        let content_hash = match &incoming.content_hash {
            Some(hash) => Cow::Borrowed(hash.as_str()),
            None => Cow::Owned(simulated_hash(incoming)),
        };
        MailIdentity {
            header_id: message_identity(&incoming.mail, raw_hash),
            raw_hash,
            content_hash,
            mail: &incoming.mail,
            written_anew: None,
        }
    }

    /// The identity of a mail whose bytes are not stored.
    pub fn new(mail: &'a Mail, raw_hash: &'a str, content_hash: &'a str) -> MailIdentity<'a> {
        let raw_hash = Some(raw_hash);
        let content_hash = Cow::Borrowed(content_hash);
        MailIdentity {
            header_id: message_identity(mail, raw_hash),
            raw_hash,
            content_hash,
            mail,
            written_anew: None,
        }
    }

    /// One word for all that it is known by.
    pub fn key(&self) -> String {
        let header_id = self.header_id.as_deref().unwrap_or_default();
        header_key_apart(header_id, &self.content_hash)
    }
}

/// A mail without a Message-ID is identified by the hash of its bytes, so that duplicates are still
/// found.
fn message_identity<'a>(mail: &'a Mail, raw_hash: Option<&str>) -> Option<Cow<'a, str>> {
    let by_bytes = || Some(Cow::Owned(format!("{}@{NO_MESSAGE_ID}", raw_hash?)));
    mail.message_id.as_deref().map(Cow::Borrowed).or_else(by_bytes)
}

/// What simulated mail and mail of pages says, which has no bytes.
pub(crate) fn simulated_hash(incoming: &IncomingMail) -> String {
    let mail = &incoming.mail;
    let mut hash = Sha256::new();
    let people = std::iter::once(&mail.from).chain(&mail.to).chain(&mail.cc);
    let people = people.map(|address| address.email.as_str());
    let files = incoming.attachments.iter().map(|file| file.hash.as_str());
    for word in people.chain([mail.subject.as_str(), mail.text.as_str()]).chain(files) {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    let mut hash = hex(&hash.finalize());
    hash.truncate(HASH_LETTERS);
    hash
}

/// Who bears a Message-ID in an inbox.
enum Bearer {
    Same(KnownMail),
    Other,
    None,
}

/// Looks for a mail under both keys that it may have: its Message-ID, and the same with its content,
/// where another mail had the Message-ID before it.
fn find(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    identity: &MailIdentity<'_>,
) -> Result<Bearer> {
    let Some(header_id) = &identity.header_id else { return Ok(Bearer::None) };
    let key = header_key(header_id);
    let apart = header_key_apart(header_id, &identity.content_hash);
    let bearers: Vec<NamedMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.mailbox = ?2 AND m.header_key IN (?3, ?4)",
            NamedMessage::COLUMNS
        ),
        &[&ws, mailbox, &key, &apart],
    )?;
    let is_named = !bearers.is_empty();
    for bearer in bearers {
        let same_bytes =
            bearer.raw_hash.is_some() && bearer.raw_hash.as_deref() == identity.raw_hash;
        if same_bytes || bearer.header_key == apart || says_the_same(tx, ws, &bearer, identity)? {
            let filed = FiledMail { conversation: bearer.conversation, message: bearer.id };
            return Ok(Bearer::Same(KnownMail { filed, same_bytes }));
        }
    }
    Ok(if is_named { Bearer::Other } else { Bearer::None })
}

fn says_the_same(
    tx: &mut Tx<'_>,
    ws: i64,
    bearer: &NamedMessage,
    identity: &MailIdentity<'_>,
) -> Result<bool> {
    match (&bearer.content_hash, &bearer.raw_hash) {
        (Some(hash), _) if *hash == *identity.content_hash => Ok(true),
        (Some(_), Some(_)) if identity.written_anew.is_some() => {
            reads_the_same(tx, ws, &bearer.id, identity)
        }
        (Some(_), _) => Ok(false),
        // A message of ours, whose Message-ID is signed, or one whose words were removed: there is
        // nothing else to compare.
        (None, None) => Ok(true),
        (None, Some(_)) => reads_the_same(tx, ws, &bearer.id, identity),
    }
}

/// Compares a mail with a message that was filed before contents were hashed, or by another server.
fn reads_the_same(
    tx: &mut Tx<'_>,
    ws: i64,
    id: &MessageId,
    identity: &MailIdentity<'_>,
) -> Result<bool> {
    let mail = identity.mail;
    let filed: FiledWords = tx.one(
        &format!("SELECT {} FROM messages m WHERE m.ws = ?1 AND m.id = ?2", FiledWords::COLUMNS),
        &[&ws, id],
    )?;
    let files = filed.attachments.iter().map(|file| (file.filename.as_str(), file.size));
    let own = mail.attachments.iter().map(|file| (file.filename.as_str(), file.bytes.len() as i64));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (kept, said) = (words(&filed.text), words(&mail.text));
    // Of a mail that was filed, quotes of what is known already were left out.
    let is_part = || !kept.is_empty() && said.windows(kept.len()).any(|some| *some == *kept);
    let has_same_words = match identity.written_anew {
        Some(sent_at) => sent_at == filed.at && (kept == said || is_part()),
        None => kept == said,
    };
    Ok(EmailAddress::new(&filed.from_email) == mail.from.email.as_str()
        && words(&filed.subject) == words(&mail.subject)
        && has_same_words
        && files.eq(own))
}

db::row! {
    struct FiledWords from "m" {
        from_email: String,
        subject: String,
        text: String,
        attachments: Json<Vec<AttachmentInfo>>,
        at: i64,
    }
}

db::row! {
    struct NamedMessage from "m" {
        header_key: String,
        conversation: ConversationId,
        id: MessageId,
        content_hash: Option<String>,
        raw_hash: Option<String>,
    }
}
