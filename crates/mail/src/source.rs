//! Repairs a mail's bytes before they are parsed.

use std::borrow::Cow;

use crate::limits::{HEADER_BYTES, MAIL_BYTES};
use crate::mime::bounded_fields;
use crate::text::charset;

/// A mail's bytes, made fit for parsing.
pub struct ParserInput<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// False when the mail is too large for more than its header to be read.
    pub readable: bool,
}

/// Repairs what would keep a parser from finding the header: a line of a mailbox file before it,
/// line ends of old machines, letters of unnamed character sets, a size that no header has.
pub fn prepare(raw: &[u8]) -> ParserInput<'_> {
    let raw = without_mailbox_line(raw);
    let bytes = with_line_feeds(raw);
    let readable = bytes.len() <= MAIL_BYTES;
    let end = header_end(&bytes);
    let Some(mut whole) = repaired_header(&bytes[..end]) else {
        return ParserInput { bytes, readable };
    };
    whole.extend_from_slice(&bytes[end..]);
    ParserInput { bytes: Cow::Owned(whole), readable }
}

/// A header made fit for parsing; `None` where it is.
fn repaired_header(whole: &[u8]) -> Option<Vec<u8>> {
    let header = bounded_fields(cut_header(whole));
    let repaired = charset::repair_header(&header, body_label(&header).as_deref());
    let is_fit = header.len() == whole.len() && matches!(repaired, Cow::Borrowed(_));
    (!is_fit).then(|| repaired.into_owned())
}

/// Without a byte order mark, blank lines and a line of a mailbox file before the header.
pub fn without_mailbox_line(raw: &[u8]) -> &[u8] {
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
pub fn with_line_feeds(raw: &[u8]) -> Cow<'_, [u8]> {
    if raw.contains(&b'\n') || !raw.contains(&b'\r') {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect())
}

/// Where the header ends: after its last line, before the blank one.
pub fn header_end(bytes: &[u8]) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare_text(raw: &[u8]) -> String {
        String::from_utf8_lossy(&prepare(raw).bytes).into_owned()
    }

    #[test]
    fn old_line_ends_and_mailbox_lines_are_repaired() {
        assert_eq!(prepare_text(b"From: a\rTo: b\r\rtext\r"), "From: a\nTo: b\n\ntext\n");
        assert_eq!(prepare_text(b"From x Mon May 6\r\nTo: b\r\n\r\ntext"), "To: b\r\n\r\ntext");
        assert_eq!(prepare_text(b"\r\n\r\nTo: b\n\ntext"), "To: b\n\ntext");
        assert_eq!(prepare_text(b"   \n\t\nTo: b\n\ntext"), "To: b\n\ntext");
        assert_eq!(prepare_text(b""), "");
    }

    #[test]
    fn a_huge_header_is_cut_and_the_body_stays() {
        let raw = format!("To: b\n{}\nbody", "X-Junk: yes\n".repeat(100_000));
        let prepared = prepare_text(raw.as_bytes());
        assert!(prepared.len() <= HEADER_BYTES + 10, "{}", prepared.len());
        assert!(prepared.ends_with("X-Junk: yes\n\nbody"));
    }
}
