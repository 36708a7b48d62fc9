//! Pure functions over mail: bytes in, values out.
//!
//! [`parse()`] reads a mail (`source` repairs its bytes, `mime` takes it apart, `people`, `body`, `html`, `files` and
//! `kind` each read one side of it, [`trim()`] finds the writer's own words); [`check`] looks for
//! scams in the result; [`inspect()`] shows both. [`mail_page`] makes the HTML of a mail safe to look
//! at, [`text_blocks`] finds links in plain text. [`markdown_html`] and [`markdown_text`] read what
//! people write, [`MessageBody`] puts a body together; `outgoing_words` finds links, secrets and sums in what
//! leaves. `token` makes and checks what leads
//! answers and bounces back; [`smtp`] is the conversation by which mail comes. Every limit of reading
//! is in `limits`.
//!
//! Deliberately absent: sockets, the clock, randomness, the database.

mod attached_mail;
mod body;
mod contact_card;
mod content_hash;
mod files;
mod headers;
mod html;
mod inspect;
mod kind;
mod limits;
mod markdown;
mod mime;
mod original;
mod outgoing;
mod outgoing_words;
mod page;
mod parse;
mod parsed_mail;
mod parser;
mod scam;
pub mod smtp;
mod source;
mod text;
mod trim;

pub use crate::headers::address::{
    Address, ascii_domain, is_address, is_unattended, normal_address, plus_tag,
};
pub use crate::headers::domain_name::DomainName;
pub use crate::headers::ids::bare_message_id;
pub use crate::headers::organisation::{is_public_provider, organisation};
pub use crate::headers::participants::{HeaderField, Participants, header_fields, participants};
pub use crate::headers::subject::base_subject;
pub use crate::headers::token::{
    AddressToken, LOOP_FIELD, loop_mark, message_of_id, message_of_loop_mark, reply_address,
    return_path, signed_message_id, token_of_address,
};
pub use crate::outgoing::compose::{
    AutoSubmission, CalendarEntry, ComposedMail, InlineFile, compose,
};
pub use crate::outgoing::dkim::{DkimKey, dkim_record, dkim_sign};
pub use crate::outgoing::mail_look::{
    MailLogo, MailLook, MailSection, MailSectionRow, begins_right_to_left,
};
pub use crate::outgoing::message_body::{
    EarlierWords, MessageBody, QuotedMail, QuotedMailRole, shown_address,
};
pub use crate::text::clean::clean_text;
pub use crate::text::filename::safe_filename;
pub use crate::text::text_links::{TextBlock, TextSegment, text_blocks};
pub use attached_mail::{CalendarPart, attached_mail, calendar_part};
pub use body::text_of_html;
pub use contact_card::{ContactCard, contact_cards};
pub use content_hash::{content_hash, header_bytes};
pub use files::AttachedFile;
pub use html::Link;
pub use inspect::{Inspection, inspect, inspect_text};
pub use kind::{Bounce, MailKind};
pub use markdown::{
    PictureUrls, markdown_article, markdown_html, markdown_html_with_originals, markdown_pictures,
    markdown_text,
};
pub use mime::SignatureFormat;
pub use original::{OriginalMail, original};
pub use outgoing_words::{
    MoneyAmount, SecretKind, familiar_hosts, is_currency_code, link_hosts, money_amounts,
    written_secrets,
};
pub use page::{
    ForwardedHtml, InlinePicture, MailPage, MailPictures, PageAddresses, PageState, RemotePictures,
    forwarded_html, inline_picture, mail_page, mail_pictures, quoted_button, quoted_html,
    remote_picture,
};
pub use parse::{parse, whole_text};
pub use parsed_mail::{Envelope, ParsedMail};
pub use scam::{
    Authentication, AuthenticationResult, DmarcPolicy, Risk, SenderHistory, Verdict, check,
};
pub use trim::trim;

/// A mail as the rest of Mailroom sees it, however it came in.
#[derive(Clone, Debug)]
pub struct Mail {
    /// Without angle brackets; `None` when the mail had none.
    pub message_id: Option<String>,
    /// Without angle brackets: `In-Reply-To` first, then `References` from the last to the first.
    pub answers: Vec<String>,
    pub from: Address,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    /// The address of ours that it was delivered to, plus tag included.
    pub delivered_to: String,
    pub subject: String,
    /// Plain text with the quoted history removed.
    pub text: String,
    /// The quoted and forwarded text that was removed, without the lines that announce it.
    pub quoted: String,
    pub kind: AuthorKind,
    /// True where an automatic reply would be wrong (RFC 3834, sections 2 and 4): it was sent to many
    /// or by a program, asks for none, or names a sender that it need not come from.
    pub no_automatic_reply: bool,
    /// What the sender's domain says about this mail.
    pub dmarc: Dmarc,
    pub warning: Option<Warning>,
    pub attachments: Vec<Attachment>,
    /// True when it has an HTML part, which [`mail_page`] shows.
    pub has_html: bool,
}

/// Who, or what, wrote a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorKind {
    Person,
    AutoReply,
}

/// The outcome of the sender domain's DMARC policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dmarc {
    Pass,
    Fail,
    /// The domain publishes no policy.
    Absent,
}

/// What the scam check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub risk: Risk,
    /// Up to three plain sentences.
    pub reasons: Vec<String>,
    /// True at or above the hold mark.
    pub hold: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub filename: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
}
