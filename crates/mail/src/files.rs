//! The files attached to a mail.

use mail_parser::{Encoding, Message, MessagePart, MimeHeaders, PartType};

use crate::limits::ATTACHMENTS;
use crate::text::clean::clean_line;
use crate::text::filename::safe_filename;
use crate::text::invisible::is_direction_override;

/// A file that came with a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    /// Safe to show, to store and to offer for download.
    pub filename: String,
    /// `type/subtype`, lower case.
    pub content_type: String,
    pub bytes: Vec<u8>,
    /// Shown within the text rather than beside it.
    pub inline: bool,
    /// The name by which the HTML refers to it.
    pub content_id: Option<String>,
    /// Its name was written so as to be read in another order.
    pub disguised: bool,
}

/// The files of a mail, a mail within it being one file. What mail systems attach for each other
/// (reports, signatures) is no file.
pub fn files(message: &Message<'_>) -> Vec<AttachedFile> {
    file_parts(message).enumerate().map(|(at, part)| file(message, part, at + 1)).collect()
}

/// The parts that are files, in order.
pub fn file_parts<'a, 'x>(message: &'a Message<'x>) -> impl Iterator<Item = &'a MessagePart<'x>> {
    let parts = message.attachments.iter().filter_map(|id| message.parts.get(*id as usize));
    parts.filter(|part| !is_for_machines(part) && !is_broken_multipart(part)).take(ATTACHMENTS)
}

fn file(message: &Message<'_>, part: &MessagePart<'_>, number: usize) -> AttachedFile {
    let content_type = content_type(part);
    let given = match (part.attachment_name(), part.message()) {
        (Some(name), _) => Some(name.to_owned()),
        (None, Some(inner)) => inner.subject().map(|subject| format!("{subject}.eml")),
        (None, None) => None,
    };
    let disposition = part.content_disposition();
    AttachedFile {
        disguised: given.as_deref().is_some_and(|name| name.contains(is_direction_override)),
        filename: safe_filename(given.as_deref(), &content_type, number),
        inline: disposition.is_some_and(|disposition| disposition.is_inline())
            || (disposition.is_none() && part.content_id().is_some()),
        content_id: part.content_id().map(clean_line).filter(|id| !id.is_empty()),
        bytes: content(message, part),
        content_type,
    }
}

/// The type of a part, in lower case; what names no type is a stream of bytes.
pub fn content_type(part: &MessagePart<'_>) -> String {
    let named = match (part.content_type(), &part.body) {
        (Some(named), _) => match named.subtype() {
            Some(subtype) => format!("{}/{subtype}", named.ctype()),
            None => String::new(),
        },
        (None, PartType::Message(_)) => "message/rfc822".to_owned(),
        (None, PartType::Html(_)) => "text/html".to_owned(),
        (None, _) => "text/plain".to_owned(),
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'+' | b'.' | b'_');
    let fit = named.len() <= 100 && named.bytes().filter(|b| *b == b'/').count() == 1;
    if fit && named.bytes().all(plain) {
        named.to_ascii_lowercase()
    } else {
        "application/octet-stream".to_owned()
    }
}

/// A part's bytes as they were sent: the transfer encoding off, the character set untouched.
pub fn content(message: &Message<'_>, part: &MessagePart<'_>) -> Vec<u8> {
    match &part.body {
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.to_vec(),
        _ => transfer_bytes(message, part).unwrap_or_else(|| part.contents().to_vec()),
    }
}

/// The bytes of a part before its character set was applied; `None` where they are lost.
pub fn transfer_bytes(message: &Message<'_>, part: &MessagePart<'_>) -> Option<Vec<u8>> {
    let (start, end) = (part.offset_body as usize, part.offset_end as usize);
    let raw = message.raw_message.get(start..end)?;
    match part.encoding {
        Encoding::None => Some(raw.to_vec()),
        Encoding::Base64 => mail_parser::decoders::base64::base64_decode(raw),
        Encoding::QuotedPrintable => {
            mail_parser::decoders::quoted_printable::quoted_printable_decode(raw)
        }
    }
}

fn is_for_machines(part: &MessagePart<'_>) -> bool {
    matches!(
        content_type(part).as_str(),
        "message/delivery-status"
            | "message/global-delivery-status"
            | "message/disposition-notification"
            | "message/feedback-report"
            | "text/rfc822-headers"
            | "application/pgp-signature"
            | "application/pkcs7-signature"
            | "application/x-pkcs7-signature"
    )
}

/// A multipart without parts is read as text.
pub fn is_broken_multipart(part: &MessagePart<'_>) -> bool {
    let multipart = part.content_type().is_some_and(|kind| kind.ctype() == "multipart");
    multipart && !part.is_multipart()
}
