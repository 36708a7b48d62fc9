//! The words of RTF, without formatting, pictures and fields.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::code_page::encoding_of;
use crate::limits::{RTF_DEPTH, TEXT_BYTES};

/// Bytes of a control word, and digits of its number.
const WORD_BYTES: usize = 32;
const NUMBER_BYTES: usize = 10;
/// The most letters that stand in for one of Unicode.
const FALLBACK_LETTERS: usize = 16;

/// Groups whose words are no part of the text.
const HIDDEN_GROUPS: &[&[u8]] = &[
    b"colortbl",
    b"filetbl",
    b"fldinst",
    b"fonttbl",
    b"footer",
    b"footerf",
    b"footerl",
    b"footerr",
    b"header",
    b"headerf",
    b"headerl",
    b"headerr",
    b"info",
    b"listtable",
    b"nonshppict",
    b"pict",
    b"revtbl",
    b"stylesheet",
    b"xmlnstbl",
];

/// Control words that are a letter.
const LETTERS: &[(&[u8], char)] = &[
    (b"par", '\n'),
    (b"line", '\n'),
    (b"row", '\n'),
    (b"sect", '\n'),
    (b"page", '\n'),
    (b"tab", '\t'),
    (b"cell", '\t'),
    (b"emdash", '\u{2014}'),
    (b"endash", '\u{2013}'),
    (b"bullet", '\u{2022}'),
    (b"lquote", '\u{2018}'),
    (b"rquote", '\u{2019}'),
    (b"ldblquote", '\u{201c}'),
    (b"rdblquote", '\u{201d}'),
];

/// The text of RTF, as far as its groups are nested no deeper than the limit.
pub(super) fn text_of_rtf(rtf: &[u8]) -> String {
    let group = RtfGroup { is_hidden: false, fallback: 1 };
    let mut reader = RtfReader {
        rest: rtf,
        group,
        outer: Vec::new(),
        skipped: 0,
        encoding: WINDOWS_1252,
        letters: Vec::new(),
        surrogate: None,
        text: String::new(),
    };
    while reader.text.len() + reader.letters.len() < TEXT_BYTES && reader.step().is_some() {}
    reader.end_letters();
    reader.text
}

#[derive(Clone, Copy)]
struct RtfGroup {
    is_hidden: bool,
    /// Letters that stand in for one of Unicode, for programs that do not know it.
    fallback: usize,
}

struct RtfReader<'a> {
    rest: &'a [u8],
    group: RtfGroup,
    /// The groups around it.
    outer: Vec<RtfGroup>,
    /// Letters that are still to be left out, because one of Unicode stood before them.
    skipped: usize,
    encoding: &'static Encoding,
    /// Bytes in the character set, not decoded yet.
    letters: Vec<u8>,
    /// The first half of a letter that has two.
    surrogate: Option<u16>,
    text: String,
}

impl RtfReader<'_> {
    /// Reads the next sign. `None` at the end.
    fn step(&mut self) -> Option<()> {
        match self.byte()? {
            b'{' => {
                if self.outer.len() >= RTF_DEPTH {
                    return None;
                }
                self.outer.push(self.group);
                self.skipped = 0;
            }
            b'}' => {
                self.group = self.outer.pop()?;
                self.skipped = 0;
            }
            b'\\' => self.control()?,
            b'\r' | b'\n' | 0 => {}
            byte => self.letter(byte),
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn control(&mut self) -> Option<()> {
        let first = *self.rest.first()?;
        if first.is_ascii_alphabetic() {
            self.word();
            return Some(());
        }
        self.byte()?;
        match first {
            b'\'' => {
                let digits = [self.byte()?, self.byte()?];
                let digit = |byte: u8| char::from(byte).to_digit(16);
                if let (Some(high), Some(low)) = (digit(digits[0]), digit(digits[1])) {
                    self.letter((high * 16 + low) as u8);
                }
            }
            b'\\' | b'{' | b'}' => self.letter(first),
            b'*' => self.group.is_hidden = true,
            b'~' => self.push('\u{a0}'),
            b'_' => self.push('-'),
            b'\r' | b'\n' => self.push('\n'),
            _ => {}
        }
        Some(())
    }

    /// A control word with the number after it.
    fn word(&mut self) {
        let name = self.take_while(WORD_BYTES, |byte| byte.is_ascii_alphabetic());
        let digits = self.take_while(NUMBER_BYTES, |byte| byte.is_ascii_digit() || byte == b'-');
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i64>().ok());
        if let Some(rest) = self.rest.strip_prefix(b" ") {
            self.rest = rest;
        }
        match (name, number) {
            (b"u", Some(number)) => {
                // Numbers beyond the half are written as negative ones.
                self.unicode(number as u16);
                self.skipped = self.group.fallback;
            }
            (b"uc", Some(number)) => {
                self.group.fallback = usize::try_from(number).unwrap_or(0).min(FALLBACK_LETTERS);
            }
            (b"ansicpg", Some(number)) => {
                self.end_letters();
                self.encoding = encoding_of(u32::try_from(number).unwrap_or(0));
            }
            (b"bin", Some(number)) => {
                let length = usize::try_from(number).unwrap_or(0).min(self.rest.len());
                self.rest = &self.rest[length..];
            }
            (name, _) if HIDDEN_GROUPS.contains(&name) => self.group.is_hidden = true,
            (name, _) => {
                if let Some((_, letter)) = LETTERS.iter().find(|(word, _)| *word == name) {
                    self.push(*letter);
                }
            }
        }
    }

    /// A letter in the character set.
    fn letter(&mut self, byte: u8) {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if !self.group.is_hidden {
            self.letters.push(byte);
        }
    }

    fn unicode(&mut self, unit: u16) {
        let first = self.surrogate.take();
        match (first, unit) {
            (_, 0xd800..=0xdbff) => self.surrogate = Some(unit),
            (Some(first), 0xdc00..=0xdfff) => {
                char::decode_utf16([first, unit]).flatten().for_each(|letter| self.push(letter));
            }
            (_, unit) => {
                if let Some(letter) = char::from_u32(u32::from(unit)) {
                    self.push(letter);
                }
            }
        }
    }

    fn push(&mut self, letter: char) {
        if !self.group.is_hidden {
            self.end_letters();
            self.text.push(letter);
        }
    }

    fn end_letters(&mut self) {
        if !self.letters.is_empty() {
            self.text.push_str(&self.encoding.decode_without_bom_handling(&self.letters).0);
            self.letters.clear();
        }
    }
}

impl<'a> RtfReader<'a> {
    fn take_while(&mut self, most: usize, fits: impl Fn(u8) -> bool) -> &'a [u8] {
        let length = self.rest.iter().take(most).take_while(|byte| fits(**byte)).count();
        let (found, rest) = self.rest.split_at(length);
        self.rest = rest;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_rtf_are_read_and_nothing_else() {
        for (rtf, expected) in [
            (r"{\rtf1\ansi\pard hello world}", "hello world"),
            (
                r"{\rtf1{\fonttbl{\f0 Arial;}}{\colortbl;\red0;}\f0 One\par Two\line\tab Three}",
                "One\nTwo\n\tThree",
            ),
            (r"{\rtf1\ansicpg1252 Gr\'fc\'dfe \{a\\b\}}", "Grüße {a\\b}"),
            (r"{\rtf1\ansicpg1251\'cf\'f0}", "Пр"),
            (r"{\rtf1\uc1\u8364?5 \u-10179?\u-8704? x}", "€5 😀 x"),
            (r"{\rtf1 a{\*\htmltag64 <b>}b{\pict\bin3 }}}c}d}", "abd"),
            (
                r"{\rtf1 {\field{\*\fldinst HYPERLINK x}{\fldrslt here}}\~\emdash}",
                "here\u{a0}\u{2014}",
            ),
            (r"no group\par }", "no group\n"),
            (r"{\rtf1 cut \'f", "cut "),
        ] {
            assert_eq!(text_of_rtf(rtf.as_bytes()), expected, "{rtf}");
        }
    }

    #[test]
    fn groups_end_at_the_limit_and_so_does_the_text() {
        assert_eq!(text_of_rtf(format!("a{}b", "{".repeat(1_000_000)).as_bytes()), "a");
        let long = text_of_rtf("\\par ".repeat(TEXT_BYTES).as_bytes());
        assert_eq!(long.len(), TEXT_BYTES);
    }
}
