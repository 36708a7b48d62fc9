//! Parses a mail: bytes and envelope in, everything Mailroom knows of it out.

use std::sync::LazyLock;

use mail_parser::{HeaderName, Message, MessageParser};

use crate::address::{Address, is_address, normal_address};
use crate::body::{self, Body};
use crate::clean::clean_subject;
use crate::date::sent_at;
use crate::files::{self, AttachedFile};
use crate::header::Header;
use crate::html::Link;
use crate::ids::{message_ids_within, own_message_id};
use crate::invisible::count_hidden;
use crate::kind::{self, Bounce, MailKind};
use crate::limits::{HOPS, REFERENCES};
use crate::token::LOOP_FIELD;
use crate::{Attachment, AuthorKind, Dmarc, Mail, Warning, mime, people, source};

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

/// Who a mail is from that does not say. Nothing can be sent there (RFC 2606).
const NOBODY: &str = "nobody@unknown.invalid";

/// Reads only those fields by their grammar whose parts are looked at; all others are taken as they
/// stand, so that a mistake in one cannot reach the next.
pub static PARSER: LazyLock<MessageParser> = LazyLock::new(|| {
    MessageParser::new()
        .with_mime_headers()
        .header_text(HeaderName::Subject)
        .header_address(HeaderName::From)
        .header_address(HeaderName::Sender)
        .header_address(HeaderName::ReplyTo)
        .header_address(HeaderName::To)
        .header_address(HeaderName::Cc)
        .default_header_raw()
});

/// Reads a mail. It never fails: what cannot be understood is left out.
pub fn parse(raw: &[u8], envelope: Envelope<'_>) -> ParsedMail {
    let source = source::prepare(raw);
    let parsed = match source.readable {
        true => mime::read_parts(source.bytes.as_ref()),
        false => PARSER.parse_headers(source.bytes.as_ref()),
    };
    let Some(message) = parsed else {
        let Body { text, quoted, original, .. } = body::bare_text(&source.bytes);
        return ParsedMail { text, quoted, original, ..ParsedMail::default() };
    };
    let header = Header::of(&message);
    let mut understood = addressed(&message, &header, envelope);
    if !source.readable {
        understood.unread = true;
        return understood;
    }
    understood.hidden_letters += body::hidden_letters(&message);
    let Body { text, quoted, original, html, links, page_text, hidden_text } = body::body(&message);
    let told = kind::tell(&message, &header, &understood, &original);
    ParsedMail {
        text,
        quoted,
        original,
        html,
        links,
        page_text,
        hidden_text,
        attachments: files::files(&message),
        kind: told.kind,
        bounces: told.bounces,
        about: told.about,
        ..understood
    }
}

/// All of a mail's body as plain text, history and signatures included, as [`parse`] tells it
/// in `original`; empty where only the header was read.
pub fn whole_text(raw: &[u8]) -> String {
    let source = source::prepare(raw);
    if !source.readable {
        return String::new();
    }
    match mime::read_parts(source.bytes.as_ref()) {
        Some(message) => body::whole(&message),
        None => body::bare_text(&source.bytes).original,
    }
}

/// What the header alone says.
fn addressed(message: &Message<'_>, header: &Header, envelope: Envelope<'_>) -> ParsedMail {
    let sender = |path: &str| if is_address(path) { normal_address(path) } else { String::new() };
    let mut references = message_ids_within(header.all("references"));
    references.drain(..references.len().saturating_sub(REFERENCES));
    ParsedMail {
        message_id: header.get("message-id").and_then(own_message_id),
        in_reply_to: message_ids_within(header.all("in-reply-to")),
        references,
        from: people::sender(message, header),
        reply_to: people::people(message, header, HeaderName::ReplyTo),
        to: people::people(message, header, HeaderName::To),
        cc: people::people(message, header, HeaderName::Cc),
        delivered_to: people::delivered_to(header),
        return_path: envelope.sender.map(sender).or_else(|| people::return_path(header)),
        subject: clean_subject(message.subject().unwrap_or_default()),
        hidden_letters: count_hidden(message.subject().unwrap_or_default())
            + people::hidden_letters(message),
        date: header.all("date").find_map(sent_at),
        suppresses_replies: kind::suppresses_replies(header),
        loops: header.all("received").count() > HOPS,
        loop_mark: header.get(&LOOP_FIELD.to_ascii_lowercase()).map(str::to_owned),
        ..ParsedMail::default()
    }
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
}

impl ParsedMail {
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
