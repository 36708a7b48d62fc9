//! What a part is by its header, and its body with the transfer encoding off.

use std::borrow::Cow;

use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::parsers::MessageStream;
use mail_parser::{Encoding, Header, HeaderName, Message, MessagePart, MimeHeaders, PartType};

use super::fields::fields_of;
use super::lines;
use crate::limits::PART_HEADER_BYTES;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntityKind {
    Multipart(Subtype),
    Plain,
    Html,
    OtherText,
    /// A picture, sound or film.
    Media,
    /// An attached mail.
    Mail,
    Other,
}

/// The kinds of multiparts that differ in what their parts are to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subtype {
    Alternative,
    Related,
    Digest,
    Mixed,
}

impl EntityKind {
    /// `parent` is the multipart that the part stands in.
    pub fn of(part: &MessagePart<'_>, parent: Option<Subtype>) -> EntityKind {
        let Some(named) = part.content_type() else {
            // RFC 2046, section 5.1.5.
            return match parent {
                Some(Subtype::Digest) => EntityKind::Mail,
                _ => EntityKind::Plain,
            };
        };
        match (named.ctype(), named.subtype()) {
            ("multipart", Some("alternative")) => EntityKind::Multipart(Subtype::Alternative),
            ("multipart", Some("related")) => EntityKind::Multipart(Subtype::Related),
            ("multipart", Some("digest")) => EntityKind::Multipart(Subtype::Digest),
            ("multipart", _) => EntityKind::Multipart(Subtype::Mixed),
            ("text", Some("plain")) => EntityKind::Plain,
            ("text", Some("html")) => EntityKind::Html,
            ("text", _) => EntityKind::OtherText,
            ("image" | "audio" | "video", _) => EntityKind::Media,
            ("message", Some("rfc822" | "global")) => EntityKind::Mail,
            _ => EntityKind::Other,
        }
    }
}

/// Puts the body of a part that is no multipart into it. Returns what it proves to be: what cannot be
/// decoded, and a multipart without parts, is text of some kind.
pub(super) fn decode<'x>(
    body: &'x [u8],
    kind: EntityKind,
    part: &mut MessagePart<'x>,
    subjects_left: &mut usize,
) -> EntityKind {
    let (encoding, decoded) = match part.content_transfer_encoding() {
        Some(name) if name.eq_ignore_ascii_case("base64") => {
            (Encoding::Base64, MessageStream::new(body).decode_base64_mime(b""))
        }
        Some(name) if name.eq_ignore_ascii_case("quoted-printable") => {
            (Encoding::QuotedPrintable, MessageStream::new(body).decode_quoted_printable_mime(b""))
        }
        _ => (Encoding::None, (body.len(), Cow::Borrowed(body))),
    };
    // So the decoders tell of what is none of theirs.
    part.is_encoding_problem = decoded.0 == usize::MAX;
    let (kind, bytes) = match (kind, part.is_encoding_problem) {
        (EntityKind::Plain, true) => (kind, Cow::Borrowed(body)),
        (_, true) => (EntityKind::OtherText, Cow::Borrowed(body)),
        (EntityKind::Multipart(_), false) => (EntityKind::OtherText, decoded.1),
        (_, false) => (kind, decoded.1),
    };
    part.encoding = if part.is_encoding_problem { Encoding::None } else { encoding };
    part.body = match kind {
        EntityKind::Plain | EntityKind::OtherText => PartType::Text(text(part, bytes)),
        EntityKind::Html => PartType::Html(text(part, bytes)),
        EntityKind::Mail => {
            let headers = attached_subject(&bytes, subjects_left);
            let offset_end = bytes.len() as u32;
            let header = MessagePart { headers, offset_end, ..MessagePart::default() };
            let parts = vec![header];
            PartType::Message(Message { parts, raw_message: bytes, ..Message::default() })
        }
        EntityKind::Media | EntityKind::Other | EntityKind::Multipart(_) => PartType::Binary(bytes),
    };
    kind
}

fn text<'x>(part: &MessagePart<'_>, bytes: Cow<'x, [u8]>) -> Cow<'x, str> {
    let label = part.content_type().and_then(|named| named.attribute("charset"));
    match (label.and_then(|label| charset_decoder(label.as_bytes())), bytes) {
        (Some(decode), bytes) => decode(&bytes).into(),
        (None, Cow::Borrowed(bytes)) => String::from_utf8_lossy(bytes),
        (None, Cow::Owned(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
        },
    }
}

/// The subject of an attached mail, by which it is named. Nothing else of it is read before somebody
/// opens it.
fn attached_subject(bytes: &[u8], subjects_left: &mut usize) -> Vec<Header<'static>> {
    let length = bytes.len().min(PART_HEADER_BYTES).min(*subjects_left);
    let end = lines(&bytes[..length], 0).find(|(_, line)| matches!(*line, b"\n" | b"\r\n"));
    let length = end.map_or(length, |(at, line)| at + line.len());
    *subjects_left -= length;
    let fields = fields_of(&bytes[..length]).into_iter();
    let subjects = fields.filter(|field| field.name == HeaderName::Subject);
    subjects.map(Header::into_owned).collect()
}
