//! The composer of a conversation: what it shows, and the reply that is posted from it.

use inbox::actions::{AutosaveKind, OpenConversation};
use inbox::base::ids::{AttachmentId, SavedReplyId};
use inbox::{Error, Party};

use crate::web::form::{FormFields, FormValue, form};
use crate::web::layout::wording::size;
use crate::web::pages::list_query::ListQuery;
use crate::web::pages::recipients::{RecipientLines, party_line};

/// The composer as a page shows it.
#[derive(Default)]
pub struct Composer {
    pub is_note: bool,
    pub body: String,
    pub to: String,
    pub cc: String,
    pub bcc: String,
    /// The attachments: their ids, names and sizes.
    pub files: Vec<(String, String, String)>,
    pub file_error: String,
    /// The saved replies that can be inserted: their ids and names.
    pub saved_replies: Vec<(String, String)>,
    pub from_address: String,
    pub seen: i64,
    pub body_error: String,
    pub to_error: String,
    /// Somebody who wrote meanwhile, and whether it was the customer.
    pub meanwhile: Option<(String, bool)>,
    /// True if this was saved in an earlier visit.
    pub kept: bool,
}

impl Composer {
    /// What a visit opens: what the query says, or what is not finished yet.
    pub fn asked(write: &str, open: &OpenConversation) -> Option<Composer> {
        let saved = open.autosave.as_ref();
        let writing = match (write, saved) {
            ("reply", _) => AutosaveKind::Reply,
            ("note", _) => AutosaveKind::Note,
            (_, Some(saved)) => saved.kind,
            (_, None) if !open.attached.is_empty() => AutosaveKind::Reply,
            _ => return None,
        };
        let mut composer = Composer::fresh(open, writing);
        if let Some(saved) = saved.filter(|saved| saved.kind == writing) {
            composer.body = saved.body.clone();
            if !saved.to.is_empty() {
                composer.to = saved.to.clone();
            }
            composer.cc = saved.cc.clone();
            composer.bcc = saved.bcc.clone();
            composer.kept = true;
        }
        Some(composer)
    }

    fn fresh(open: &OpenConversation, writing: AutosaveKind) -> Composer {
        let conversation = &open.conversation;
        let contact = Party {
            name: conversation.contact_name.clone(),
            email: conversation.contact_email.to_string(),
        };
        Composer {
            is_note: writing == AutosaveKind::Note,
            to: party_line(&[contact]),
            from_address: open.mailbox.address.to_string(),
            seen: open.seen,
            files: open
                .attached
                .iter()
                .map(|file| (file.id.to_string(), file.filename.clone(), size(file.size)))
                .collect(),
            ..Composer::default()
        }
    }

    /// What is written: the last part of the form's address.
    pub fn kind(&self) -> &'static str {
        if self.is_note { "note" } else { "reply" }
    }

    pub fn with_saved(mut self, saved: &[(SavedReplyId, String)]) -> Composer {
        let named = saved.iter().map(|(id, name)| (id.to_string(), name.clone()));
        self.saved_replies = named.collect();
        self
    }

    /// A reply as it was typed.
    pub fn typed(open: &OpenConversation, form: &ReplyForm) -> Composer {
        let RecipientLines { to, cc, bcc } = form.recipients.clone();
        let body = form.body.clone();
        Composer { body, to, cc, bcc, ..Composer::fresh(open, AutosaveKind::Reply) }
    }

    /// A note as it was typed.
    pub fn typed_note(open: &OpenConversation, body: &str) -> Composer {
        Composer { body: body.to_owned(), ..Composer::fresh(open, AutosaveKind::Note) }
    }
}

form! {
    /// A reply.
    pub struct ReplyForm {
        body: String,
        recipients: RecipientLines,
        /// The number of the next message, as the page showed it.
        seen: Option<i64>,
        from: ListQuery,
        button: ReplyButton,
    }
}

/// The button that was pressed below a reply.
#[derive(Clone, PartialEq, Eq)]
pub enum ReplyButton {
    Send,
    SendAndClose,
    /// Keeps it as a draft that a person approves.
    Keep,
    Discard,
    /// Adds the chosen files and shows the composer again.
    Attach,
    Remove(AttachmentId),
    Insert(SavedReplyId),
}

impl FormValue for ReplyButton {
    fn read(fields: &FormFields, _: &str) -> inbox::Result<ReplyButton> {
        if fields.has("discard") {
            return Ok(ReplyButton::Discard);
        }
        if fields.has("remove") {
            let file = AttachmentId::parse(&fields.get("remove")).ok_or(Error::NotFound("file"))?;
            return Ok(ReplyButton::Remove(file));
        }
        if fields.has("insert") {
            let reply = SavedReplyId::parse(&fields.get("insert"));
            return Ok(ReplyButton::Insert(reply.ok_or(Error::NotFound("saved reply"))?));
        }
        Ok(if fields.has("attach") {
            ReplyButton::Attach
        } else if fields.has("keep") {
            ReplyButton::Keep
        } else if fields.has("close") {
            ReplyButton::SendAndClose
        } else {
            ReplyButton::Send
        })
    }
}
