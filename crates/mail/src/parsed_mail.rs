//! What is known of a mail once it is read.

use crate::files::AttachedFile;
use crate::headers::address::{Address, normal_address};
use crate::html::Link;
use crate::kind::{Bounce, MailKind};
use crate::limits::REFERENCES;
use crate::mime::SignatureFormat;
use crate::{Attachment, AuthorKind, Dmarc, Mail, Warning};

/// Who a mail is from that does not say. Nothing can be sent there (RFC 2606).
const NOBODY: &str = "nobody@unknown.invalid";

/// What is known of a mail beside its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Envelope<'a> {
    /// The envelope sender; empty for the null return path. `None` uses the `Return-Path` field.
    pub sender: Option<&'a str>,
}

/// Everything that a mail says.
#[derive(Clone, Debug, Default)]
pub struct ParsedMail {
    /// Without angle brackets.
    pub message_id: Option<String>,
    pub in_reply_to: Vec<String>,
    /// From the oldest to the nearest ancestor.
    pub references: Vec<String>,
    /// `None` for a mail that names nobody.
    pub from: Option<Address>,
    /// The Reply-To addresses. They do not identify the author.
    pub reply_to: Vec<Address>,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    /// Addresses that machines on the way delivered to.
    pub delivered_to: Vec<String>,
    /// Where bounces go; empty for a mail that wants none.
    pub return_path: Option<String>,
    pub subject: String,
    /// Milliseconds since 1970, as the sender's clock says.
    pub date: Option<i64>,
    /// The writer's own words: history and signatures removed.
    pub text: String,
    /// What the writer quotes or passes on below or between them.
    pub quoted: String,
    /// All of it as plain text.
    pub original: String,
    /// As it was sent; it must be cleaned before it is shown.
    pub html: Option<String>,
    pub links: Vec<Link>,
    /// The visible text of the HTML, whatever the plain text says; empty without HTML.
    pub page_text: String,
    /// The text of the HTML with what it hides from readers; empty where it hides nothing.
    pub hidden_text: String,
    /// Characters in subject, name and body that nobody sees and only programs read.
    pub hidden_letters: usize,
    pub attachments: Vec<AttachedFile>,
    /// The signature of its writer, which nobody checked.
    pub signature: Option<SignatureFormat>,
    pub kind: MailKind,
    /// True where the sender asks for no automatic reply.
    pub suppresses_replies: bool,
    /// The failed recipients of a bounce.
    pub bounces: Vec<Bounce>,
    /// The Message-ID of the mail that bounced, was complained about or was read.
    pub about: Option<String>,
    /// True for a mail loop: too many Received fields.
    pub loops: bool,
    /// What it carries as a loop mark; whose it is, [`message_of_loop_mark`] tells.
    ///
    /// [`message_of_loop_mark`]: crate::message_of_loop_mark
    pub loop_mark: Option<String>,
    /// True when the mail was too large for more than its header to be read.
    pub unread: bool,
}

impl ParsedMail {
    /// The mails this one answers, the nearest first: `In-Reply-To`, then `References` from the
    /// last to the first.
    pub fn answers(&self) -> Vec<String> {
        let mut answers: Vec<String> = Vec::new();
        for id in self.in_reply_to.iter().chain(self.references.iter().rev()) {
            if !answers.contains(id) && answers.len() < REFERENCES {
                answers.push(id.clone());
            }
        }
        answers
    }

    /// The mail as the inbox files it. `delivered_to` is the address of ours that it came to, plus
    /// tag included; a mail that names no sender is from an address that cannot exist.
    pub fn into_mail(self, delivered_to: &str, dmarc: Dmarc, warning: Option<Warning>) -> Mail {
        Mail {
            no_automatic_reply: !self.may_be_answered(dmarc),
            answers: self.answers(),
            message_id: self.message_id,
            from: self.from.unwrap_or_else(|| Address::new(None, NOBODY)),
            to: self.to,
            cc: self.cc,
            delivered_to: normal_address(delivered_to),
            subject: self.subject,
            text: self.text,
            quoted: self.quoted,
            kind: self.kind.into(),
            dmarc,
            warning,
            attachments: self.attachments.into_iter().map(Attachment::from).collect(),
            has_html: self.html.is_some(),
        }
    }

    /// Whether an automatic reply reaches whoever sent it and is wanted there. Where the domain has no
    /// policy, the sender is only known to be who the return path names.
    fn may_be_answered(&self, dmarc: Dmarc) -> bool {
        let Some(from) = &self.from else { return false };
        let is_from = |path: &str| match (path.rsplit_once('@'), from.email.rsplit_once('@')) {
            (Some((_, path)), Some((_, from))) => {
                path == from || path.strip_suffix(from).is_some_and(|rest| rest.ends_with('.'))
            }
            _ => false,
        };
        let is_known = match self.return_path.as_deref() {
            None => true,
            Some("") => false,
            Some(path) => dmarc == Dmarc::Pass || is_from(path),
        };
        self.kind == MailKind::Person && !self.suppresses_replies && is_known
    }
}

impl From<AttachedFile> for Attachment {
    fn from(file: AttachedFile) -> Attachment {
        let AttachedFile { filename, content_type, bytes, .. } = file;
        Attachment { filename, content_type, bytes }
    }
}

/// Mail that machines write about mail is filed like an automatic reply and changes nothing else.
impl From<MailKind> for AuthorKind {
    fn from(kind: MailKind) -> AuthorKind {
        match kind {
            MailKind::Person | MailKind::List => AuthorKind::Person,
            MailKind::AutoReply | MailKind::Bounce | MailKind::Complaint | MailKind::Receipt => {
                AuthorKind::AutoReply
            }
        }
    }
}
