//! Repairs a mail's bytes before they are parsed.

use std::borrow::Cow;

use crate::charset;
use crate::limits::{BOUNDARY_SEARCH_BYTES, HEADER_BYTES, MAIL_BYTES, NESTED_MESSAGES};

/// A mail's bytes, made fit for parsing.
pub struct ParserInput<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// False when the mail is too large or too deep for more than its header to be read.
    pub readable: bool,
}

/// Repairs what would keep a parser from finding the header: a line of a mailbox file before it,
/// line ends of old machines, letters of unnamed character sets, a size that no header has.
pub fn prepare(raw: &[u8]) -> ParserInput<'_> {
    let raw = without_mailbox_line(raw);
    let bytes = with_line_feeds(raw);
    let readable = is_readable(&bytes);
    let end = header_end(&bytes);
    let header = cut_header(&bytes[..end]);
    let repaired = charset::repair_header(header, body_label(header).as_deref());
    if header.len() == end && matches!(repaired, Cow::Borrowed(_)) {
        return ParserInput { bytes, readable };
    }
    let mut whole = repaired.into_owned();
    whole.extend_from_slice(&bytes[end..]);
    ParserInput { bytes: Cow::Owned(whole), readable }
}

fn without_mailbox_line(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    let raw = without_blank_lines(raw);
    let is_mailbox_line = raw.starts_with(b"From ") || raw.starts_with(b">From ");
    match raw.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        Some(end) if is_mailbox_line => without_line_end(&raw[end..]),
        _ => raw,
    }
}

/// Without the blank lines before the first that says something.
fn without_blank_lines(raw: &[u8]) -> &[u8] {
    let blank = raw.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let line = raw[..blank].iter().rposition(|byte| matches!(byte, b'\r' | b'\n'));
    &raw[line.map_or(0, |end| end + 1)..]
}

fn without_line_end(raw: &[u8]) -> &[u8] {
    raw.strip_prefix(b"\r\n")
        .or_else(|| raw.strip_prefix(b"\n"))
        .or_else(|| raw.strip_prefix(b"\r"))
        .unwrap_or(raw)
}

/// A mail whose lines end with carriage returns alone gets line feeds.
fn with_line_feeds(raw: &[u8]) -> Cow<'_, [u8]> {
    if raw.contains(&b'\n') || !raw.contains(&b'\r') {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect())
}

/// Where the header ends: after its last line, before the blank one.
fn header_end(bytes: &[u8]) -> usize {
    let mut start = 0;
    while start < bytes.len() {
        let line = &bytes[start..];
        if line.starts_with(b"\n") || line.starts_with(b"\r\n") {
            return start;
        }
        match line.iter().position(|byte| *byte == b'\n') {
            Some(end) => start += end + 1,
            None => return bytes.len(),
        }
    }
    bytes.len()
}

/// The first lines of a header, as many as are read.
fn cut_header(header: &[u8]) -> &[u8] {
    if header.len() <= HEADER_BYTES {
        return header;
    }
    let end = header[..HEADER_BYTES].iter().rposition(|byte| *byte == b'\n');
    &header[..end.map_or(HEADER_BYTES, |end| end + 1)]
}

/// The character set that the header names for the body.
fn body_label(header: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(header).to_ascii_lowercase();
    let (_, after) = text.split_once("charset=")?;
    let label: String = after
        .trim_start_matches('"')
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        .collect();
    (!label.is_empty()).then_some(label)
}

/// Mails within mails are held inside one another, and a boundary that never comes is looked for
/// through all the rest: both are counted before anything is parsed.
fn is_readable(bytes: &[u8]) -> bool {
    if bytes.len() > MAIL_BYTES {
        return false;
    }
    let (mut messages, mut multiparts) = (0, 0);
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let before = &bytes[at.saturating_sub(9)..at];
        let after = &bytes[at + 1..bytes.len().min(at + 7)];
        if ends_with(before, b"multipart") {
            multiparts += 1;
            messages += usize::from(starts_with(after, b"digest"));
        } else if ends_with(before, b"message") {
            let nests = starts_with(after, b"rfc822") || starts_with(after, b"global");
            messages += usize::from(nests);
        }
    }
    messages <= NESTED_MESSAGES && bytes.len().saturating_mul(multiparts) <= BOUNDARY_SEARCH_BYTES
}

fn ends_with(bytes: &[u8], word: &[u8]) -> bool {
    bytes.len() >= word.len() && bytes[bytes.len() - word.len()..].eq_ignore_ascii_case(word)
}

fn starts_with(bytes: &[u8], word: &[u8]) -> bool {
    bytes.len() >= word.len() && bytes[..word.len()].eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(raw: &[u8]) -> String {
        String::from_utf8_lossy(&prepare(raw).bytes).into_owned()
    }

    #[test]
    fn old_line_ends_and_mailbox_lines_are_repaired() {
        assert_eq!(prepared(b"From: a\rTo: b\r\rtext\r"), "From: a\nTo: b\n\ntext\n");
        assert_eq!(prepared(b"From x Mon May 6\r\nTo: b\r\n\r\ntext"), "To: b\r\n\r\ntext");
        assert_eq!(prepared(b"\r\n\r\nTo: b\n\ntext"), "To: b\n\ntext");
        assert_eq!(prepared(b"   \n\t\nTo: b\n\ntext"), "To: b\n\ntext");
        assert_eq!(prepared(b""), "");
    }

    #[test]
    fn a_huge_header_is_cut_and_the_body_stays() {
        let raw = format!("To: b\n{}\nbody", "X-Junk: yes\n".repeat(100_000));
        let prepared = prepared(raw.as_bytes());
        assert!(prepared.len() <= HEADER_BYTES + 10, "{}", prepared.len());
        assert!(prepared.ends_with("X-Junk: yes\n\nbody"));
    }

    #[test]
    fn mails_too_deep_are_not_read() {
        let nested = "Content-Type: message/rfc822\n\n".repeat(NESTED_MESSAGES + 1);
        assert!(!prepare(nested.as_bytes()).readable);
        let digests = "Content-Type: Multipart/Digest; boundary=a\n\n".repeat(NESTED_MESSAGES + 1);
        assert!(!prepare(digests.as_bytes()).readable);
        assert!(prepare(b"Content-Type: message/rfc822\n\nTo: b\n\nx").readable);
    }
}
