//! Cuts what an IMAP server says into whole lines, and refuses what no parser should see.
//!
//! The parser calls itself for each parenthesis and begins anew with each piece that arrives, so a server
//! could end the process by nesting and keep it busy by dripping. Parentheses are counted wherever they
//! stand, because what is a string to us may be none to the parser. Letters beyond ASCII that stand in words for people
//! become question marks: the parser cuts such words by bytes.

use std::fmt;

/// Parentheses in one response. Those of the responses that are asked for have a few.
const PARENTHESES: usize = 50;
/// Literals in one response.
const LITERALS: usize = 20;
/// Bytes of a line: the numbers of some 250,000 mails.
pub const LINE_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a response by which it is told what it is.
const HEAD_BYTES: usize = 32;

/// Why a server is not listened to any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingError {
    TooDeep,
    TooManyLiterals,
    LongLine,
    /// A line ends within a quoted string.
    OpenString,
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FramingError::TooDeep => "a response is nested too deeply",
            FramingError::TooManyLiterals => "a response has too many literals",
            FramingError::LongLine => "a line is too long",
            FramingError::OpenString => "a line ends within a string",
        })
    }
}

impl std::error::Error for FramingError {}

/// Follows the responses of a server, however they arrive (RFC 9051, section 2.2).
#[derive(Debug, Default)]
pub struct ResponseFraming {
    /// Bytes of a literal that are still to come.
    literal_left: u64,
    /// How the response begins.
    head: Vec<u8>,
    parentheses: usize,
    literals: usize,
    quoted: bool,
    escaped: bool,
    /// The number in braces at the end of what came so far.
    braces: Braces,
    line_bytes: usize,
    after_return: bool,
}

/// How much of `{123}` has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Braces {
    #[default]
    None,
    Open(u64),
    Closed(u64),
}

impl ResponseFraming {
    /// Takes what arrived. Returns how many bytes of it, from the first on, belong to whole lines or to
    /// literals; all others wait for the rest of their line.
    pub fn take(&mut self, bytes: &mut [u8]) -> Result<usize, FramingError> {
        let (mut at, mut whole) = (0, 0);
        while at < bytes.len() {
            if self.literal_left > 0 {
                let skipped = (bytes.len() - at)
                    .min(usize::try_from(self.literal_left).unwrap_or(usize::MAX));
                self.literal_left -= skipped as u64;
                at += skipped;
                whole = at;
                continue;
            }
            if !bytes[at].is_ascii() && (!self.quoted || self.is_said_in_words()) {
                bytes[at] = b'?';
            }
            let ends_line = self.take_byte(bytes[at])?;
            at += 1;
            if ends_line {
                whole = at;
            }
        }
        Ok(whole)
    }

    /// True where the byte ends a line.
    fn take_byte(&mut self, byte: u8) -> Result<bool, FramingError> {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        self.line_bytes += 1;
        if self.line_bytes > LINE_BYTES {
            return Err(FramingError::LongLine);
        }
        if byte == b'\n' && after_return {
            return self.end_line().map(|()| true);
        }
        if self.head.len() < HEAD_BYTES {
            self.head.push(byte.to_ascii_uppercase());
        }
        if byte == b'(' {
            self.parentheses += 1;
            if self.parentheses > PARENTHESES {
                return Err(FramingError::TooDeep);
            }
        }
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = self.quoted,
            b'"' => self.quoted = !self.quoted,
            _ => {}
        }
        self.braces = match (self.braces, byte) {
            (_, b'{') => Braces::Open(0),
            (Braces::Open(number), b'0'..=b'9') => {
                Braces::Open(number.saturating_mul(10).saturating_add(u64::from(byte - b'0')))
            }
            (Braces::Open(number), b'}') => Braces::Closed(number),
            (braces, b'\r') => braces,
            _ => Braces::None,
        };
        Ok(false)
    }

    fn end_line(&mut self) -> Result<(), FramingError> {
        self.line_bytes = 0;
        match std::mem::take(&mut self.braces) {
            // Elsewhere braces may stand in words, and what follows them is a response of its own.
            Braces::Closed(number) if !self.quoted && self.is_fetch() => {
                self.literals += 1;
                if self.literals > LITERALS {
                    return Err(FramingError::TooManyLiterals);
                }
                self.literal_left = number;
                return Ok(());
            }
            _ if self.quoted && !self.is_said_in_words() => return Err(FramingError::OpenString),
            _ => *self = ResponseFraming::default(),
        }
        Ok(())
    }

    /// True for `* 12 FETCH …`, which is where mails come.
    fn is_fetch(&self) -> bool {
        let rest = self.head.strip_prefix(b"* ").unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && rest[digits..].starts_with(b" FETCH ")
    }

    /// True for responses that end in words for people, in which a quotation mark is a letter.
    fn is_said_in_words(&self) -> bool {
        let Some(rest) = self.head.strip_prefix(b"* ") else { return true };
        [&b"OK"[..], b"NO", b"BAD", b"BYE", b"PREAUTH"]
            .iter()
            .any(|status| rest.starts_with(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(said: &str) -> Result<usize, FramingError> {
        ResponseFraming::default().take(&mut said.as_bytes().to_vec())
    }

    #[test]
    fn whole_lines_go_on_and_the_rest_waits() {
        assert_eq!(take("* OK ready\r\n* 3 EXI"), Ok(12));
        assert_eq!(take("* OK \"inches\" and 5\"\r\n"), Ok(22));
        assert_eq!(take("* 1 FETCH (UID 5 BODY[] {10}\r\n(((((((((("), Ok(40));
        assert_eq!(take("* 1 FETCH (UID 5 BODY[] {4}\r\nabcd)\r\nx"), Ok(36));
        let mut framing = ResponseFraming::default();
        let mut pieces = b"* 2 FETCH (UID 7 BODY[] {3}\r\nabc FLAGS ())\r\n".to_vec();
        let whole: usize = pieces.chunks_mut(1).map(|byte| framing.take(byte).unwrap()).sum();
        // The bytes that wait are counted by whoever keeps them: here only line ends and the literal.
        assert_eq!(whole, 5);
    }

    #[test]
    fn words_for_people_are_ascii_and_names_and_mails_are_left_alone() {
        for (said, heard) in [
            ("* OK [UIDNEXT 9]é x\r\n", "* OK [UIDNEXT 9]?? x\r\n"),
            ("A0003 NO [ALERT]\"ü\r\n", "A0003 NO [ALERT]\"??\r\n"),
            ("* LIST () \"/\" \"Entwürfe\"\r\n", "* LIST () \"/\" \"Entwürfe\"\r\n"),
            ("* 1 FETCH (BODY[] {2}\r\né)\r\n", "* 1 FETCH (BODY[] {2}\r\né)\r\n"),
        ] {
            let mut bytes = said.as_bytes().to_vec();
            ResponseFraming::default().take(&mut bytes).unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap(), heard);
        }
    }

    #[test]
    fn nesting_is_refused_however_it_is_hidden() {
        let deep = "(".repeat(60);
        for said in [
            format!("* 1 FETCH (BODYSTRUCTURE {deep}"),
            format!("* 1 FETCH (INTERNALDATE \"{deep}"),
            format!("* 1 FETCH (X \")))))))\" {deep}"),
            format!("* OK words {{1000}}\r\n* 1 FETCH {deep}"),
            format!("* THREAD {deep}"),
            format!("* 1 FETCH (UID 1 BODY[] {{2}}\r\nab BODYSTRUCTURE {deep}"),
        ] {
            assert_eq!(take(&said), Err(FramingError::TooDeep), "{said}");
        }
        assert_eq!(take("* 1 FETCH (ENVELOPE (\"a\r\n"), Err(FramingError::OpenString));
        assert_eq!(take("* 1 FETCH (INTERNALDATE \"{9}\r\n"), Err(FramingError::OpenString));
        let literals = format!("* 1 FETCH ({}", "X {0}\r\n".repeat(30));
        assert_eq!(take(&literals), Err(FramingError::TooManyLiterals));
        assert_eq!(take(&"x".repeat(LINE_BYTES + 1)), Err(FramingError::LongLine));
    }
}
