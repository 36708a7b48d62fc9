//! What a customer writes on their own page, filed like a mail from the address that they have proven.
//!
//! Customers read these texts.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::files::blobs::Blob;
use base::limits::REPLY_CHARS;
use contact_forms::files::POST_FILES;
use db::Tx;
use inbound::guest_pages::own_page::{OwnPageMail, receive_own};
use mail::Attachment;
use model::guests::guest_forms::GuestFormId;
use model::mailboxes;

use crate::conversations;
use crate::messages;
use crate::workspace::CustomerWorkspace;

/// An answer as it was written. Its files are checked and stored already.
#[derive(Clone)]
pub struct CustomerAnswer {
    /// The page that it was sent from: what one page sends twice is filed once.
    pub form: GuestFormId,
    pub text: String,
    pub files: Vec<(Attachment, Blob)>,
}

/// Files an answer in a conversation that the customer sees.
pub fn receive_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    workspace: &CustomerWorkspace,
    (email, conversation): (&EmailAddress, &str),
    answer: &CustomerAnswer,
) -> Result<()> {
    if answer.text.trim().is_empty() && answer.files.is_empty() {
        return Err(Error::invalid("text", "Write something, or attach a file."));
    }
    if answer.text.contains('\0') || answer.text.chars().count() > REPLY_CHARS {
        return Err(Error::invalid("text", "This is too long for one reply. Send it in parts."));
    }
    if answer.files.len() > POST_FILES {
        let sentence = format!("A reply has at most {POST_FILES} files.");
        return Err(Error::invalid("files", sentence));
    }
    let (conversation, messages) = messages::find(tx, workspace, (email, conversation))?;
    if !inbound::takes_mail(tx, workspace.ws)? {
        return Err(Error::invalid("text", Error::ClosedForNow.to_string()));
    }
    let name = messages.iter().rev().find(|message| message.is_proven_from(email));
    let mail = OwnPageMail {
        id: answer.form.clone(),
        email: email.clone(),
        name: name.and_then(|message| message.from_name.clone()),
        subject: messages.first().map(|first| first.subject.clone()).unwrap_or_default(),
        text: answer.text.clone(),
        files: answer.files.clone(),
        joins: Some(conversation.id.clone()),
    };
    if !mailboxes::is_deleted(tx, workspace.ws, &conversation.mailbox)? {
        let actor = workspace.actor(&conversation.circle);
        let cx = &Cx { actor: &actor, ..*cx };
        return receive_own(tx, cx, &conversation.mailbox, &mail).map(drop);
    }
    // Whoever read it was removed: others begin anew with what is written now.
    let inbox = conversations::inbox_for(tx, workspace, email)?;
    let (mailbox, circle) = inbox.ok_or(Error::NotFound("page"))?;
    let actor = workspace.actor(&circle);
    let cx = &Cx { actor: &actor, ..*cx };
    receive_own(tx, cx, &mailbox, &OwnPageMail { joins: None, ..mail }).map(drop)
}
