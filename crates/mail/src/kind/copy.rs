//! Finds the returned mail inside a report.

use mail_parser::{Message, MimeHeaders, PartType};

use crate::files::{content, content_type};
use crate::headers::header::Header;
use crate::headers::ids::message_ids;
use crate::headers::people::address_within;

/// Bytes of a returned mail that are read for its header.
const COPY_BYTES: usize = 64 * 1024;

/// Places of a text at which a returned mail is tried to be found.
const TRIES: usize = 50;

/// What a report returns of the mail it is about.
#[derive(Debug, Default)]
pub(super) struct ReturnedMail {
    pub message_id: Option<String>,
    pub to: Option<String>,
}

/// Looks for the returned mail: as a part, as a part with its header alone, or in the text.
pub(super) fn original(message: &Message<'_>, text: &str) -> ReturnedMail {
    for part in message.parts.iter().skip(1) {
        let is_mail = matches!(part.body, PartType::Message(_));
        let kind = content_type(part);
        let is_header = matches!(
            kind.as_str(),
            "text/rfc822-headers"
                | "text/rfc822-header"
                | "message/rfc822"
                | "message/global-headers"
                | "message/rfc822-headers"
                | "message/partial"
        );
        let is_copy = kind == "text/plain" && part.attachment_name().is_some();
        if !(is_mail || is_header || is_copy) {
            continue;
        }
        let bytes = content(message, part);
        let header = String::from_utf8_lossy(&bytes[..bytes.len().min(COPY_BYTES)]).into_owned();
        let found = of_header(top(&header));
        if found.message_id.is_some() {
            return found;
        }
    }
    of_header(find_copy(text).unwrap_or_default())
}

/// The text before the returned mail, where that stands in the text.
pub(super) fn before(text: &str) -> &str {
    &text[..text.len() - find_copy(text).map_or(0, str::len)]
}

/// Where a header begins in a text: two fields that only a mail's header has.
fn find_copy(text: &str) -> Option<&str> {
    const FIRST: [&str; 9] = [
        "return-path:",
        "received:",
        "message-id:",
        "x-originating-ip:",
        "dkim-signature:",
        "mime-version:",
        "from:",
        "date:",
        "reply-to:",
    ];
    let mut at = 0;
    let mut attempts = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let lower = line.to_ascii_lowercase();
        if !FIRST.iter().any(|name| lower.starts_with(name)) {
            continue;
        }
        attempts += 1;
        if attempts > TRIES {
            return None;
        }
        let header = Header::parse(top(&text[start..]));
        let sure = header.has("received") || header.has("message-id") || header.has("mime-version");
        if sure && (header.has("from") || header.has("to") || header.has("subject")) {
            return Some(&text[start..]);
        }
    }
    None
}

/// The text up to its first blank line.
fn top(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(COPY_BYTES)];
    let end = text.find("\n\n").or_else(|| text.find("\r\n\r\n"));
    &text[..end.unwrap_or(text.len())]
}

fn of_header(text: &str) -> ReturnedMail {
    let header = Header::parse(top(text));
    ReturnedMail {
        message_id: header.get("message-id").and_then(|id| message_ids(id).into_iter().next()),
        to: header.get("to").and_then(address_within).map(|address| address.email),
    }
}
