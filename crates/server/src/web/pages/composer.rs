//! The composer of a conversation: what it shows, and the reply that is posted from it.

use inbox::actions::{Autosave, OpenConversation};
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
            ("reply", _) => Writing::Reply,
            ("note", _) => Writing::Note,
            (_, Some(saved)) => Writing::of(saved),
            (_, None) if !open.attached.is_empty() => Writing::Reply,
            _ => return None,
        };
        let mut composer = Composer::fresh(open, writing);
        if let Some(saved) = saved.filter(|saved| Writing::of(saved) == writing) {
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

    fn fresh(open: &OpenConversation, writing: Writing) -> Composer {
        let contact = Party { name: open.contact_name.clone(), email: open.contact_email.clone() };
        Composer {
            is_note: writing == Writing::Note,
            to: party_line(&[contact]),
            from_address: open.mailbox.address.clone(),
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
        Composer { body, to, cc, bcc, ..Composer::fresh(open, Writing::Reply) }
    }

    /// A note as it was typed.
    pub fn typed_note(open: &OpenConversation, body: &str) -> Composer {
        Composer { body: body.to_owned(), ..Composer::fresh(open, Writing::Note) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Reply,
    Note,
}

impl Writing {
    fn of(saved: &Autosave) -> Writing {
        if saved.kind == "note" { Writing::Note } else { Writing::Reply }
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
