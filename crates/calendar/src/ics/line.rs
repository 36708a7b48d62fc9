//! Content lines (RFC 5545 3.1): bytes into unfolded lines, a line into name, parameters and value.

use std::borrow::Cow;

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::limits::{LINE_BYTES, LINE_PARAMETERS};

/// The lines of a feed. ContentLines end with CRLF, LF or CR; a line beyond the limit is skipped.
pub(crate) struct ContentLines<'a> {
    rest: Cow<'a, [u8]>,
    at: usize,
}

/// One property of a component, or the beginning or end of one.
pub(crate) struct ContentLine {
    /// In capitals.
    pub name: String,
    /// Names in capitals, values without their quotes.
    parameters: Vec<(String, String)>,
    pub value: String,
}

impl<'a> ContentLines<'a> {
    pub fn new(bytes: &'a [u8]) -> ContentLines<'a> {
        let rest = match bytes {
            [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(rest),
            [0xFF, 0xFE, rest @ ..] => utf8(UTF_16LE.decode_without_bom_handling(rest).0),
            [0xFE, 0xFF, rest @ ..] => utf8(UTF_16BE.decode_without_bom_handling(rest).0),
            bytes => Cow::Borrowed(bytes),
        };
        ContentLines { rest, at: 0 }
    }

    /// The next line with its continuations, or `None` at the end.
    fn next_bytes(&mut self) -> Option<Option<Vec<u8>>> {
        if self.at >= self.rest.len() {
            return None;
        }
        let mut line = Vec::new();
        let mut is_short = true;
        loop {
            let rest = &self.rest[self.at..];
            let end = rest.iter().position(|b| matches!(b, b'\r' | b'\n')).unwrap_or(rest.len());
            is_short = is_short && line.len() + end <= LINE_BYTES;
            if is_short {
                line.extend_from_slice(&rest[..end]);
            }
            let after = &rest[end..];
            self.at += end + if after.starts_with(b"\r\n") { 2 } else { after.len().min(1) };
            // Folding may have cut a character in two, so lines are joined before they are decoded.
            match self.rest.get(self.at) {
                Some(b' ' | b'\t') => self.at += 1,
                _ => return Some(is_short.then_some(line)),
            }
        }
    }
}

fn utf8<'a>(text: Cow<'_, str>) -> Cow<'a, [u8]> {
    Cow::Owned(text.into_owned().into_bytes())
}

impl Iterator for ContentLines<'_> {
    type Item = ContentLine;

    fn next(&mut self) -> Option<ContentLine> {
        loop {
            let line = self.next_bytes()?.and_then(|bytes| ContentLine::parse(&decode(bytes)));
            if line.is_some() {
                return line;
            }
        }
    }
}

/// A line that is no UTF-8 is what old exporters on Windows wrote.
fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|fault| WINDOWS_1252.decode(fault.as_bytes()).0.into_owned())
}

impl ContentLine {
    /// `None` for a line without a name and a colon, which is noise.
    fn parse(line: &str) -> Option<ContentLine> {
        let name_end = line.find([';', ':'])?;
        // A group before the name (`item1.DTSTART`) is an Apple habit from vCard.
        let name = line[..name_end].rsplit('.').next()?.trim().to_ascii_uppercase();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return None;
        }
        let mut parameters = Vec::new();
        let mut rest = &line[name_end..];
        while let Some(after) = rest.strip_prefix(';') {
            let end = parameter_end(after)?;
            let (key, value) = after[..end].split_once('=').unwrap_or((&after[..end], ""));
            if parameters.len() < LINE_PARAMETERS {
                parameters.push((key.trim().to_ascii_uppercase(), plain_parameter(value)));
            }
            rest = &after[end..];
        }
        Some(ContentLine { name, parameters, value: rest.strip_prefix(':')?.to_owned() })
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Where a parameter ends: at a semicolon or colon outside quotes.
fn parameter_end(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.bytes().position(|b| {
        is_quoted ^= b == b'"';
        !is_quoted && matches!(b, b';' | b':')
    })
}

/// Without quotes, and with the escapes of RFC 6868 undone.
fn plain_parameter(value: &str) -> String {
    let value = value.trim().replace('"', "");
    if !value.contains('^') {
        return value;
    }
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = match (character, characters.peek()) {
            ('^', Some('n')) => Some('\n'),
            ('^', Some('\'')) => Some('"'),
            ('^', Some('^')) => Some('^'),
            _ => None,
        };
        if escaped.is_some() {
            characters.next();
        }
        plain.push(escaped.unwrap_or(character));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(String, String)> {
        ContentLines::new(bytes).map(|line| (line.name, line.value)).collect()
    }

    #[test]
    fn folded_lines_are_joined_whatever_ends_them() {
        let expected = vec![("SUMMARY".to_owned(), "Hello world".to_owned())];
        for text in [
            "SUMMARY:Hel\r\n lo wo\r\n\trld\r\n",
            "summary:Hel\n lo wo\n\trld",
            "SUMMARY:Hel\r lo wo\r\trld\r",
        ] {
            assert_eq!(lines(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_character_cut_by_folding_is_whole_again() {
        assert_eq!(lines(b"SUMMARY:Z\xC3\r\n \xBCrich")[0].1, "Zürich");
    }

    #[test]
    fn a_line_in_an_old_charset_is_read_and_a_byte_order_mark_is_no_text() {
        assert_eq!(lines(b"SUMMARY:Z\xFCrich")[0].1, "Zürich");
        assert_eq!(lines(b"\xEF\xBB\xBFBEGIN:VCALENDAR")[0].0, "BEGIN");
        assert_eq!(lines(b"\xFF\xFEA\0:\0b\0")[0], ("A".to_owned(), "b".to_owned()));
    }

    #[test]
    fn a_colon_or_semicolon_inside_quotes_ends_no_parameter() {
        let line = ContentLines::new(b"ATTENDEE;CN=\"Doe; J: \";ROLE=X:mailto:j@x.example")
            .next()
            .unwrap();
        assert_eq!(line.parameter("CN"), Some("Doe; J: "));
        assert_eq!(line.parameter("ROLE"), Some("X"));
        assert_eq!(line.value, "mailto:j@x.example");
    }

    #[test]
    fn carets_in_parameters_are_undone() {
        let line = ContentLines::new(b"ORGANIZER;CN=A ^'B^' ^^ c^n:x").next().unwrap();
        assert_eq!(line.parameter("CN"), Some("A \"B\" ^ c\n"));
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_one_is_read() {
        let mut bytes = b"ATTACH:".to_vec();
        bytes.resize(LINE_BYTES + 8, b'A');
        bytes.extend_from_slice(b"\r\nSUMMARY:after\r\n");
        assert_eq!(lines(&bytes), [("SUMMARY".to_owned(), "after".to_owned())]);
    }
}
