//! The fields of a header, without what would take the parser longer than its length allows.

use std::borrow::Cow;

use mail_parser::Header;

use crate::limits::{ENCODED_WORD_SEARCH_BYTES, MIME_FIELD_BYTES};
use crate::parser::PARSER;

/// Bytes of a header with which nothing can be done.
const HARMLESS_BYTES: usize = 4 * 1024;

/// The fields of a part.
pub(super) fn fields_of(header: &[u8]) -> Vec<Header<'_>> {
    let parsed = match bounded_fields(header) {
        Cow::Borrowed(header) => PARSER.parse_headers(header),
        Cow::Owned(header) => PARSER.parse_headers(&header).map(|part| part.into_owned()),
    };
    let part = parsed.and_then(|header| header.parts.into_iter().next());
    part.map(|part| part.headers).unwrap_or_default()
}

/// A header whose fields the parser reads in time. The parameters of a type are compared with one
/// another, and each encoded word without an end is looked through to the end of its field: very long
/// fields of types are left out, and others are cut where such words become many.
pub fn bounded_fields(header: &[u8]) -> Cow<'_, [u8]> {
    if header.len() <= HARMLESS_BYTES
        || fields(header).all(|field| bounded_length(field) == field.len())
    {
        return Cow::Borrowed(header);
    }
    let mut bounded = Vec::with_capacity(header.len());
    for field in fields(header) {
        let length = bounded_length(field);
        bounded.extend_from_slice(&field[..length]);
        if 0 < length && length < field.len() {
            bounded.push(b'\n');
        }
    }
    Cow::Owned(bounded)
}

/// The fields of a header with the lines that continue them.
fn fields(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = header;
    std::iter::from_fn(move || {
        let continues = |at: &usize| matches!(rest.get(*at), Some(b' ' | b'\t'));
        let ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let end = ends.map(|(at, _)| at + 1).find(|at| !continues(at)).unwrap_or(rest.len());
        let (field, after) = rest.split_at(end);
        rest = after;
        (!field.is_empty()).then_some(field)
    })
}

/// Bytes of a field that are read.
fn bounded_length(field: &[u8]) -> usize {
    if field.len() <= HARMLESS_BYTES {
        return field.len();
    }
    if field.len() > MIME_FIELD_BYTES && is_of_mime(field) {
        return 0;
    }
    let (mut work, mut words, mut start) = (0, 0, 0);
    for (at, pair) in field.windows(2).enumerate() {
        match pair {
            b"=?" => words += 1,
            b"?=" => {
                work += words * (at - start);
                (words, start) = (0, at);
            }
            _ => continue,
        }
        if work + words * (at - start) > ENCODED_WORD_SEARCH_BYTES {
            return start;
        }
    }
    if work + words * (field.len() - start) > ENCODED_WORD_SEARCH_BYTES {
        start
    } else {
        field.len()
    }
}

/// The parser skips blanks in a name, and colons before it.
fn is_of_mime(field: &[u8]) -> bool {
    let name = field.iter().filter(|byte| !byte.is_ascii_whitespace());
    let name = name.skip_while(|byte| **byte == b':').map(u8::to_ascii_lowercase);
    name.take(8).eq(*b"content-")
}
