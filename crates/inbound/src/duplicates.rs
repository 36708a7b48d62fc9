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

use crate::incoming_mail::{FiledMail, IncomingMail};

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
}

pub fn look_up(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &IncomingMail,
) -> Result<MailLookup> {
    let identity = MailIdentity::of_incoming(incoming);
    let id = MessageId::new(cx.ids, cx.now);
    let content_hash = identity.content_hash.to_string();
    let Some(header_id) = &identity.header_id else {
        let header_id = format!("{id}@{NO_MESSAGE_ID}");
        let header_key = header_key(&header_id).into_owned();
        return Ok(MailLookup::Unknown(UnknownMail { id, header_id, header_key, content_hash }));
    };
    let header_id = header_id.to_string();
    Ok(match find(tx, cx.actor.ws, &mailbox.id, &identity)? {
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
        }
    }

    /// The identity of a mail whose bytes are not stored.
    pub fn new(mail: &'a Mail, raw_hash: &'a str, content_hash: &'a str) -> MailIdentity<'a> {
        let raw_hash = Some(raw_hash);
        let content_hash = Cow::Borrowed(content_hash);
        MailIdentity { header_id: message_identity(mail, raw_hash), raw_hash, content_hash, mail }
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

/// What simulated mail says, which has no bytes.
fn simulated_hash(incoming: &IncomingMail) -> String {
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
        (Some(hash), _) => Ok(*hash == *identity.content_hash),
        // A message of ours, whose Message-ID is signed, or one whose words were removed: there is
        // nothing else to compare.
        (None, None) => Ok(true),
        (None, Some(_)) => reads_the_same(tx, ws, &bearer.id, identity.mail),
    }
}

/// Compares a mail with a message that was filed before contents were hashed.
fn reads_the_same(tx: &mut Tx<'_>, ws: i64, id: &MessageId, mail: &Mail) -> Result<bool> {
    let (from, subject, text, attachments): (String, String, String, Json<Vec<AttachmentInfo>>) =
        tx.one(
            "SELECT from_email, subject, text, attachments FROM messages WHERE ws = ?1 AND id = ?2",
            &[&ws, id],
        )?;
    let files = attachments.iter().map(|file| (file.filename.as_str(), file.size));
    let own = mail.attachments.iter().map(|file| (file.filename.as_str(), file.bytes.len() as i64));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    Ok(EmailAddress::new(&from) == mail.from.email.as_str()
        && words(&subject) == words(&mail.subject)
        && words(&text) == words(&mail.text)
        && files.eq(own))
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
