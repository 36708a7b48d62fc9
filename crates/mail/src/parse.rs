//! Parses a mail: bytes and envelope in, everything Mailroom knows of it out.

use mail_parser::{HeaderName, Message};

use crate::body::{self, Body};
use crate::files;
use crate::headers::address::{is_address, normal_address};
use crate::headers::date::sent_at;
use crate::headers::header::Header;
use crate::headers::ids::{message_ids_within, own_message_id};
use crate::headers::people;
use crate::headers::token::LOOP_FIELD;
use crate::kind;
use crate::limits::{HOPS, REFERENCES};
use crate::parsed_mail::{Envelope, ParsedMail};
use crate::parser::PARSER;
use crate::text::clean::clean_subject;
use crate::text::invisible::count_hidden;
use crate::{mime, source};

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
    let mut understood = parse_header(&message, &header, envelope);
    if !source.readable {
        understood.unread = true;
        return understood;
    }
    understood.hidden_letters += body::hidden_letters(&message);
    let Body { text, quoted, original, html, links, page_text, hidden_text } = body::body(&message);
    let told = kind::tell(&message, &header, &understood, &original);
    ParsedMail {
        signature: mime::signature_format(&message, &original),
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
fn parse_header(message: &Message<'_>, header: &Header, envelope: Envelope<'_>) -> ParsedMail {
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
