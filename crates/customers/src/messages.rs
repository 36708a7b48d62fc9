//! The messages of a conversation that a customer sees: what they wrote, and what was sent to them.

use std::collections::HashMap;

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{AttachmentId, ConversationId, DocumentId, MessageId, RequestId};
use base::limits::OWN_MESSAGES;
use base::states::{Direction, MessageStatus};
use db::{Json, Tx};
use model::authentication::SenderAuthentication;
use model::documents::document_requests;
use model::documents::{FileReference, StoredFile};
use model::guests::secure;
use model::messages::recipients::Party;

use crate::conversations::{self, CustomerTurn, OwnConversation};
use crate::workspace::CustomerWorkspace;

db::row! {
    /// Without its text, which lists do not need.
    #[derive(Clone, Debug)]
    pub(crate) struct OwnMessage from "m" {
        pub id: MessageId,
        pub at: i64,
        pub direction: Direction,
        pub status: Option<MessageStatus>,
        pub from_name: Option<String>,
        pub from_email: EmailAddress,
        pub to_list: Json<Vec<Party>>,
        pub cc_list: Json<Vec<Party>>,
        pub bcc_list: Json<Vec<Party>>,
        pub subject: String,
        pub request: Option<RequestId>,
        pub secure: bool,
        pub authentication: Option<Json<SenderAuthentication>>,
        pub proven_by_form: bool = "EXISTS (SELECT 1 FROM form_posts f
             WHERE f.ws = m.ws AND f.message = m.id AND f.proof = 'proven')",
    }
}

impl OwnMessage {
    pub fn is_from(&self, email: &EmailAddress) -> bool {
        self.direction == Direction::Inbound && self.from_email == *email
    }

    /// The same where it is proven: by a code on a page of ours, or by the mail server of its domain. Anybody can write
    /// an address into a mail.
    pub fn is_proven_from(&self, email: &EmailAddress) -> bool {
        let by_domain = self.authentication.as_ref().is_some_and(|found| found.is_proven());
        self.is_from(email) && (self.secure || self.proven_by_form || by_domain)
    }

    /// What the team has sent to the address. Mail that others wrote is theirs, whomever it names: a stranger could
    /// put words on the page that look like the team's.
    fn is_to(&self, email: &EmailAddress) -> bool {
        let mut to = self.to_list.iter().chain(self.cc_list.iter()).chain(self.bcc_list.iter());
        self.direction == Direction::Outbound
            && self.status == Some(MessageStatus::Sent)
            && to.any(|party| party.address() == *email)
    }
}

/// The newest messages that are the customer's, oldest first; none of a private inbox to which the customer
/// never wrote.
pub(crate) fn visible(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &OwnConversation,
    email: &EmailAddress,
) -> Result<Vec<OwnMessage>> {
    let mut all: Vec<OwnMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.withheld IS NULL
             ORDER BY m.at DESC, m.id DESC LIMIT ?3",
            OwnMessage::COLUMNS
        ),
        &[&ws, &conversation.id, &OWN_MESSAGES],
    )?;
    all.retain(|message| message.is_from(email) || message.is_to(email));
    all.reverse();
    let has_written = all.iter().any(|message| message.is_from(email));
    if conversation.circle.person().is_some() && !has_written {
        all.clear();
    }
    Ok(all)
}

/// A message on the page.
#[derive(Clone, Debug)]
pub struct CustomerLetter {
    pub id: MessageId,
    /// It names the customer's address as its sender.
    pub is_mine: bool,
    /// It is proven to come from the address, or from the team.
    pub is_proven: bool,
    /// Who wrote it: a name, or the address where nothing is proven.
    pub author: String,
    pub at: i64,
    pub text: String,
    pub files: Vec<CustomerFile>,
    /// The page of a protected message of the team; its words are there alone.
    pub protected_at: Option<String>,
    pub is_protected: bool,
}

/// A file of a message.
#[derive(Clone, Debug)]
pub struct CustomerFile {
    /// Of a document or an attachment.
    pub id: String,
    pub filename: String,
    pub content_type: String,
    pub size: i64,
}

/// A conversation that is read.
#[derive(Clone, Debug)]
pub struct ReadConversation {
    pub id: ConversationId,
    pub subject: String,
    pub turn: CustomerTurn,
    pub letters: Vec<CustomerLetter>,
    /// Upload pages on which documents are missing.
    pub requests: Vec<String>,
}

/// A conversation of the customer's.
pub fn read(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    workspace: &CustomerWorkspace,
    (email, id): (&EmailAddress, &str),
) -> Result<ReadConversation> {
    let (conversation, messages) = find(tx, workspace, (email, id))?;
    let actor = workspace.actor(&conversation.circle);
    let cx = &Cx { actor: &actor, ..*cx };
    let subject = messages.first().map(|first| first.subject.clone()).unwrap_or_default();
    let mut texts = texts_of(tx, workspace.ws, &conversation.id)?;
    let (mut letters, mut requests) = (Vec::with_capacity(messages.len()), Vec::new());
    for message in messages {
        requests.extend(open_request(tx, cx, &message)?);
        let text = texts.remove(&message.id).unwrap_or_default();
        letters.push(letter(tx, cx, email, message, text)?);
    }
    Ok(ReadConversation {
        turn: conversations::turn_of(&conversation),
        id: conversation.id,
        subject,
        letters,
        requests,
    })
}

/// The texts of the messages that [`visible`] chooses from.
fn texts_of(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<HashMap<MessageId, String>> {
    let texts: Vec<(MessageId, String)> = tx.all(
        "SELECT id, text FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND withheld IS NULL
         ORDER BY at DESC, id DESC LIMIT ?3",
        &[&ws, conversation, &OWN_MESSAGES],
    )?;
    Ok(texts.into_iter().collect())
}

fn letter(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    message: OwnMessage,
    text: String,
) -> Result<CustomerLetter> {
    let protected_at = if message.secure && message.direction == Direction::Outbound {
        secure::address(tx, cx, &message.id, email.as_str())?
    } else {
        None
    };
    let files = if message.secure { Vec::new() } else { files(tx, cx.actor.ws, &message)? };
    let is_mine = message.is_from(email);
    let is_proven = !is_mine || message.is_proven_from(email);
    let name = message.from_name.clone().filter(|_| is_proven);
    Ok(CustomerLetter {
        author: name.unwrap_or_else(|| message.from_email.to_string()),
        is_mine,
        is_proven,
        at: message.at,
        text,
        files,
        is_protected: message.secure,
        protected_at,
        id: message.id,
    })
}

/// The address of the upload page that a message sent to the customer leads to, while documents are missing.
fn open_request(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OwnMessage) -> Result<Option<String>> {
    let Some(request) = &message.request else { return Ok(None) };
    let open: Option<(RequestId,)> = tx.opt(
        "SELECT id FROM document_requests
         WHERE ws = ?1 AND id = ?2 AND opened_at IS NOT NULL AND asked_at IS NOT NULL
           AND completed_at IS NULL AND closed_at IS NULL AND revoked_at IS NULL",
        &[&cx.actor.ws, request],
    )?;
    match open {
        Some((request,)) => Ok(Some(document_requests::link(tx, cx, &request)?)),
        None => Ok(None),
    }
}

/// A conversation with what the customer sees of it.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    workspace: &CustomerWorkspace,
    (email, id): (&EmailAddress, &str),
) -> Result<(OwnConversation, Vec<OwnMessage>)> {
    let missing = || Error::NotFound("page");
    let conversation = conversations::find(tx, workspace, id)?.ok_or_else(missing)?;
    let messages = visible(tx, workspace.ws, &conversation, email)?;
    if messages.is_empty() { Err(missing()) } else { Ok((conversation, messages)) }
}

/// The files of a message: documents of what came in, attachments of what was sent.
pub(crate) fn files(tx: &mut Tx<'_>, ws: i64, message: &OwnMessage) -> Result<Vec<CustomerFile>> {
    let sql = match message.direction {
        Direction::Inbound => {
            "SELECT id, filename, content_type, size FROM documents
             WHERE ws = ?1 AND message = ?2 ORDER BY id LIMIT ?3"
        }
        Direction::Outbound => {
            "SELECT id, filename, content_type, size FROM attachments
             WHERE ws = ?1 AND message = ?2 AND key IS NULL ORDER BY id LIMIT ?3"
        }
    };
    let found: Vec<(String, String, String, i64)> =
        tx.all(sql, &[&ws, &message.id, &OWN_MESSAGES])?;
    let file =
        |(id, filename, content_type, size)| CustomerFile { id, filename, content_type, size };
    Ok(found.into_iter().map(file).collect())
}

/// The bytes of a file of a message that the customer sees.
pub fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    workspace: &CustomerWorkspace,
    (email, conversation): (&EmailAddress, &str),
    id: &str,
) -> Result<StoredFile> {
    let (_, messages) = find(tx, workspace, (email, conversation))?;
    for message in messages.iter().filter(|message| !message.secure) {
        let files = files(tx, workspace.ws, message)?;
        if let Some(file) = files.into_iter().find(|file| file.id == id) {
            return file_reference(tx, workspace.ws, file)?.read(tx, cx);
        }
    }
    Err(Error::NotFound("file"))
}

pub(crate) fn file_reference(
    tx: &mut Tx<'_>,
    ws: i64,
    file: CustomerFile,
) -> Result<FileReference> {
    let table = match (DocumentId::parse(&file.id), AttachmentId::parse(&file.id)) {
        (Some(_), _) => "documents",
        (None, Some(_)) => "attachments",
        (None, None) => return Err(Error::NotFound("file")),
    };
    let (hash,): (String,) =
        tx.one(&format!("SELECT hash FROM {table} WHERE ws = ?1 AND id = ?2"), &[&ws, &file.id])?;
    let CustomerFile { filename, content_type, size, .. } = file;
    Ok(FileReference { filename, content_type, size, hash })
}
