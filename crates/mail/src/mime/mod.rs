//! Takes a mail apart into its parts (RFC 2045, RFC 2046), within limits.
//!
//! Fields and encodings are the parser's; the structure is not, because the parser lets the sender
//! choose its depth and its time: it holds attached mails inside one another and looks for each boundary
//! to the end. Here an attached mail is one part, of which the header alone is read, open multiparts are
//! a list, and each line is looked at a few times at most. `unpack` then opens what programs pack into
//! one part: `tnef` reads `winmail.dat`, and `smime` what a signature is put around.

mod body_lists;
mod entity;
mod fields;
mod signature;
mod smime;
mod tnef;
mod unpack;

use mail_parser::{Header, Message, MessagePart, MimeHeaders, PartType};

use crate::limits::{
    BOUNDARY_BYTES, MAIL_PARTS, MULTIPART_DEPTH, PART_HEADER_BYTES, PART_HEADERS_BYTES,
};
use crate::parser::PARSER;
use body_lists::{BodyLists, MultipartState};
use entity::EntityKind;
pub use fields::bounded_fields;
use fields::fields_of;
pub use signature::{SignatureFormat, signature_format};

/// The parts of a mail, those that a program packed into one among them; `None` for bytes without a
/// header.
pub fn read_parts(bytes: &[u8]) -> Option<Message<'_>> {
    let mut message = read_entities(bytes)?;
    unpack::unpack(&mut message);
    Some(message)
}

/// The parts as they stand in the bytes.
fn read_entities(bytes: &[u8]) -> Option<Message<'_>> {
    let mut reader = PartReader {
        bytes,
        parts: Vec::new(),
        open: Vec::new(),
        bodies: BodyLists::default(),
        headers_left: PART_HEADERS_BYTES,
        subjects_left: PART_HEADERS_BYTES,
    };
    let HeaderEnd::Body(body) = reader.header_end(0) else {
        return PARSER.parse_headers(bytes);
    };
    let headers =
        PARSER.parse_headers(&bytes[..body]).and_then(|whole| whole.parts.into_iter().next());
    let headers = headers.map(|part| part.headers).unwrap_or_default();
    let mut next = reader.read_entity(0, body, headers);
    while let Some(delimiter) = next {
        reader.close_until(delimiter.level + 1, delimiter.start);
        next = match delimiter.is_last {
            true => {
                reader.close_until(delimiter.level, delimiter.start);
                reader.next_delimiter(delimiter.end, None)
            }
            false => reader.read_part(delimiter.end),
        };
    }
    reader.close_until(0, bytes.len());
    let PartReader { mut parts, bodies, .. } = reader;
    parts[0].offset_end = bytes.len() as u32;
    let BodyLists { html_body, text_body, attachments } = bodies;
    Some(Message { html_body, text_body, attachments, parts, raw_message: bytes.into() })
}

struct PartReader<'x> {
    bytes: &'x [u8],
    parts: Vec<MessagePart<'x>>,
    /// The multiparts around what is read, the innermost last.
    open: Vec<OpenMultipart>,
    bodies: BodyLists,
    /// Bytes of parts' headers that may still be read.
    headers_left: usize,
    /// The same of attached mails, which are named by their subject.
    subjects_left: usize,
}

struct OpenMultipart {
    boundary: Vec<u8>,
    /// Its number among the parts.
    part: usize,
    children: Vec<u32>,
    state: MultipartState,
}

/// A line that parts two parts (RFC 2046, section 5.1.1).
struct Delimiter {
    /// The multipart that it belongs to, by its place among those that are open.
    level: usize,
    /// No part of its multipart follows.
    is_last: bool,
    /// Where what stands before it ends.
    start: usize,
    /// Where the next line begins.
    end: usize,
}

/// What ends a header.
enum HeaderEnd {
    /// A blank line, after which the body begins here.
    Body(usize),
    /// The next part begins, and has been left out of the header, which ends here.
    Delimiter(usize),
}

impl<'x> PartReader<'x> {
    /// Reads the part that begins here, if there is one and there are not too many. Returns the delimiter that ends it.
    fn read_part(&mut self, start: usize) -> Option<Delimiter> {
        let is_end = self.bytes[start..].trim_ascii_start().is_empty();
        if is_end || self.parts.len() >= MAIL_PARTS || self.headers_left == 0 {
            return None;
        }
        let (end, is_whole) = match self.header_end(start) {
            HeaderEnd::Body(end) => (end, true),
            HeaderEnd::Delimiter(end) => (end, false),
        };
        let length = (end - start).min(PART_HEADER_BYTES).min(self.headers_left);
        self.headers_left -= length;
        let headers = fields_of(&self.bytes[start..start + length]);
        // Without a blank line and without a field there is no header.
        let body = if is_whole || !headers.is_empty() { end } else { start };
        self.read_entity(start, body, headers)
    }

    /// Reads what has this header: a multipart up to its first delimiter, all else to its end.
    fn read_entity(
        &mut self,
        start: usize,
        body: usize,
        headers: Vec<Header<'x>>,
    ) -> Option<Delimiter> {
        let mut part = MessagePart {
            headers,
            offset_header: start as u32,
            offset_body: body as u32,
            ..MessagePart::default()
        };
        let number = self.parts.len();
        let parent = self.open.last_mut().map(|parent| {
            parent.children.push(number as u32);
            &mut parent.state
        });
        let kind = EntityKind::of(&part, parent.as_deref().map(|parent| parent.subtype));
        if let EntityKind::Multipart(subtype) = kind
            && let Some(boundary) = self.usable_boundary(&part)
        {
            let delimiter = self.next_delimiter(body, Some(&boundary));
            if let Some(delimiter) = delimiter
                && delimiter.level == self.open.len()
                && !delimiter.is_last
            {
                let parent = self.open.last().map(|parent| &parent.state);
                let state = self.bodies.open(subtype, parent);
                let children = Vec::new();
                self.open.push(OpenMultipart { boundary, part: number, children, state });
                self.parts.push(part);
                return Some(delimiter);
            }
        }
        let delimiter = self.next_delimiter(body, None);
        let end = delimiter.as_ref().map_or(self.bytes.len(), |delimiter| delimiter.start);
        part.offset_end = end as u32;
        let kind = entity::decode(&self.bytes[body..end], kind, &mut part, &mut self.subjects_left);
        let parent = self.open.last_mut().map(|parent| (&mut parent.state, parent.children.len()));
        self.bodies.add(number as u32, &part, kind, parent);
        self.parts.push(part);
        delimiter
    }

    fn usable_boundary(&self, part: &MessagePart<'_>) -> Option<Vec<u8>> {
        let boundary = part.content_type()?.attribute("boundary")?.as_bytes();
        let fits = !boundary.is_empty() && boundary.len() <= BOUNDARY_BYTES;
        (fits && self.open.len() < MULTIPART_DEPTH).then(|| boundary.to_vec())
    }

    /// Where the header ends that begins here.
    fn header_end(&self, start: usize) -> HeaderEnd {
        for (at, line) in lines(self.bytes, start) {
            if matches!(line, b"\n" | b"\r\n") {
                return HeaderEnd::Body(at + line.len());
            }
            if self.matching_boundary(line, None).is_some() {
                return HeaderEnd::Delimiter(at);
            }
        }
        HeaderEnd::Delimiter(self.bytes.len())
    }

    /// The next delimiter of any open multipart, or of one more that would be the innermost: one that
    /// lacks its last delimiter ends with what it stands in.
    fn next_delimiter(&self, from: usize, innermost: Option<&[u8]>) -> Option<Delimiter> {
        lines(self.bytes, from).find_map(|(at, line)| {
            let (level, is_last) = self.matching_boundary(line, innermost)?;
            let start = before_line_end(self.bytes, at).max(from);
            Some(Delimiter { level, is_last, start, end: at + line.len() })
        })
    }

    /// The open multipart whose delimiter a line is, and whether it is its last.
    fn matching_boundary(&self, line: &[u8], innermost: Option<&[u8]>) -> Option<(usize, bool)> {
        let line = line.strip_prefix(b"--")?;
        let open = self.open.iter().map(|open| open.boundary.as_slice());
        let mut boundaries = open.enumerate().rev();
        let innermost = innermost.map(|boundary| (self.open.len(), boundary));
        innermost.into_iter().chain(&mut boundaries).find_map(|(level, boundary)| {
            let rest = line.strip_prefix(boundary)?;
            let is_last = rest.starts_with(b"--");
            (is_last || rest.trim_ascii().is_empty()).then_some((level, is_last))
        })
    }

    /// Closes the innermost multiparts, until so many are open.
    fn close_until(&mut self, count: usize, end: usize) {
        while self.open.len() > count
            && let Some(open) = self.open.pop()
        {
            self.bodies.close(&open.state);
            let part = &mut self.parts[open.part];
            part.offset_end = end as u32;
            part.body = PartType::Multipart(open.children);
        }
    }
}

/// The lines from a place on that begins one, with their ends, each with its place.
fn lines(bytes: &[u8], from: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = from;
    bytes[from..].split_inclusive(|byte| *byte == b'\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    })
}

/// Where the line before this one ends, its line end left out.
fn before_line_end(bytes: &[u8], start: usize) -> usize {
    let before = &bytes[..start];
    let before = before.strip_suffix(b"\n").unwrap_or(before);
    before.strip_suffix(b"\r").unwrap_or(before).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts that are none of others, as texts.
    fn texts(raw: &str) -> Vec<String> {
        let message = read_parts(raw.as_bytes()).expect("a mail");
        let leaves = message.parts.iter().filter(|part| !part.is_multipart());
        leaves.map(|part| String::from_utf8_lossy(part.contents()).into_owned()).collect()
    }

    fn mixed_mail(boundary: &str, parts: &str) -> String {
        format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"\n\n{parts}")
    }

    #[test]
    fn parts_end_with_their_own_delimiter_or_one_around_them() {
        for (raw, expected) in [
            (
                mixed_mail("b", "preamble\n--b\n\none\n--b\n\ntwo\n--b--\nepilogue"),
                vec!["one", "two"],
            ),
            (mixed_mail("b", "--b\n\none\n--b\n\ntwo"), vec!["one", "two"]),
            (mixed_mail("b", "--b\r\n\r\none\r\n--b\t \r\n\r\ntwo\r\n--b--"), vec!["one", "two"]),
            (
                mixed_mail(
                    "b",
                    &format!("--b\n{}--b\n\ntwo\n--b--", mixed_mail("c", "--c\n\none\n")),
                ),
                vec!["one", "two"],
            ),
            // One boundary may begin like another.
            (
                mixed_mail(
                    "b",
                    &format!("--b\n{}--b--", mixed_mail("b1", "--b1\n\none\n--b1--\n")),
                ),
                vec!["one"],
            ),
            (mixed_mail("b", "--b\nno header\n--b--"), vec!["no header"]),
            (mixed_mail("b", "--b\n\none\n--b\n"), vec!["one"]),
            (mixed_mail("b", "nothing"), vec!["nothing"]),
            (mixed_mail("b", "words\n--b--\nmore"), vec!["words\n--b--\nmore"]),
            (mixed_mail("b", "--b\n\na --b in a line\n--b--"), vec!["a --b in a line"]),
        ] {
            assert_eq!(texts(&raw), expected, "{raw}");
        }
    }

    #[test]
    fn the_limits_hold_and_what_came_before_them_is_read() {
        let many = mixed_mail("b", &"--b\n\nx\n".repeat(MAIL_PARTS + 10));
        assert_eq!(read_parts(many.as_bytes()).expect("a mail").parts.len(), MAIL_PARTS);
        let level = |n: usize| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
        let deep: String = (0..MULTIPART_DEPTH + 10).map(level).collect();
        assert_eq!(read_parts(deep.as_bytes()).expect("a mail").parts.len(), MULTIPART_DEPTH + 1);
        let fields = format!("--b\n{}\nx\n", "a: b\n".repeat(10_000));
        let flood = mixed_mail("b", &fields.repeat(100));
        let parts = read_parts(flood.as_bytes()).expect("a mail").parts;
        let count: usize = parts.iter().map(|part| part.headers.len()).sum();
        assert!(count <= PART_HEADERS_BYTES / 5 + 1, "{count}");
    }

    #[test]
    fn an_attached_mail_is_one_part_with_its_subject() {
        let inner = "Subject: In\nContent-Type: message/rfc822\n\nSubject: Deeper\n\nwords";
        let raw = mixed_mail("b", &format!("--b\nContent-Type: message/rfc822\n\n{inner}\n--b--"));
        let message = read_parts(raw.as_bytes()).expect("a mail");
        assert_eq!((message.parts.len(), message.attachments.as_slice()), (2, &[1][..]));
        let attached = message.parts[1].message().expect("a mail");
        assert_eq!(attached.subject(), Some("In"));
        assert_eq!(attached.raw_message(), inner.as_bytes());
    }
}
