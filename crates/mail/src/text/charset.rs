//! Character sets, declared or guessed.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// Bytes from which an unknown character set is guessed.
const GUESSED_BYTES: usize = 64 * 1024;

/// Text of bytes in the character set they are said to be in, or really are in: programs label
/// UTF-8 as Latin, and Windows text as anything.
pub fn decode(bytes: &[u8], label: Option<&str>) -> String {
    let utf8 = std::str::from_utf8(bytes).ok();
    let named = label.and_then(encoding);
    match (utf8, named) {
        // Escapes of seven bits are valid UTF-8 and still mean something else.
        (Some(text), Some(named)) if !named.is_ascii_compatible() && text.is_ascii() => {
            in_encoding(bytes, named)
        }
        (Some(text), Some(named))
            if !text.is_ascii()
                && named.is_ascii_compatible()
                && !named.is_single_byte()
                && named != UTF_8 =>
        {
            let (decoded, _, broken) = named.decode(bytes);
            if broken { text.to_owned() } else { decoded.into_owned() }
        }
        (Some(text), _) => escaped_japanese(bytes).unwrap_or_else(|| text.to_owned()),
        (None, Some(named)) if named != UTF_8 => {
            let (decoded, _, broken) = named.decode(bytes);
            if broken { in_encoding(bytes, guess(bytes)) } else { decoded.into_owned() }
        }
        (None, _) if is_damaged_utf8(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        (None, _) => in_encoding(bytes, guess(bytes)),
    }
}

/// True when there is far more sense than nonsense in bytes read as UTF-8: a letter was cut off.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut letters, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        letters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    letters > 4 * broken
}

/// A header's bytes with every line in UTF-8.
pub fn repair_header<'a>(header: &'a [u8], body_label: Option<&str>) -> Cow<'a, [u8]> {
    if std::str::from_utf8(header).is_ok() && !has_escape(header) {
        return Cow::Borrowed(header);
    }
    let mut repaired = Vec::with_capacity(header.len() + header.len() / 2);
    for line in header.split_inclusive(|byte| *byte == b'\n') {
        let mut rest = line;
        while let Some((start, end)) = encoded_word(rest) {
            repaired.extend_from_slice(decode(&rest[..start], body_label).as_bytes());
            repaired.extend_from_slice(&rest[start..end]);
            rest = &rest[end..];
        }
        repaired.extend_from_slice(decode(rest, body_label).as_bytes());
    }
    Cow::Owned(repaired)
}

/// Where the first encoded word (RFC 2047) of a line begins and ends. It names its own character
/// set, also for letters that should not stand in it as they are.
fn encoded_word(line: &[u8]) -> Option<(usize, usize)> {
    let start = line.windows(2).position(|pair| pair == b"=?")?;
    let mut marks = line[start + 2..].iter().enumerate().filter(|(_, byte)| **byte == b'?');
    let (_, (text, _)) = (marks.next()?, marks.next()?);
    let text = start + 2 + text + 1;
    let length = line[text..].windows(2).position(|pair| pair == b"?=")?;
    Some((start, text + length + 2))
}

fn encoding(label: &str) -> Option<&'static Encoding> {
    let label = label.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';'));
    let alias = match label.to_ascii_lowercase().as_str() {
        "cp949" | "uhc" | "ms949" => "euc-kr",
        "cp932" | "ms932" | "windows-932" | "shift-jis" | "x-sjis" => "shift_jis",
        "cp936" | "ms936" | "windows-936" => "gbk",
        "cp950" => "big5",
        "iso-2022-jp-ms" | "iso-2022-jp-1" | "cp50220" | "cp50221" => "iso-2022-jp",
        "iso8859_1" | "latin-1" | "8859_1" => "iso-8859-1",
        "cp1250" => "windows-1250",
        "cp1254" => "windows-1254",
        "utf8mb4" | "utf_8" | "unicode" => "utf-8",
        _ => return Encoding::for_label_no_replacement(label.as_bytes()),
    };
    Encoding::for_label(alias.as_bytes())
}

fn in_encoding(bytes: &[u8], encoding: &'static Encoding) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(GUESSED_BYTES)], true);
    detector.guess(None, Utf8Detection::Deny)
}

fn has_escape(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\x1b$" || pair == b"\x1b(")
}

fn escaped_japanese(bytes: &[u8]) -> Option<String> {
    if !has_escape(bytes) {
        return None;
    }
    let (decoded, _, broken) = encoding_rs::ISO_2022_JP.decode(bytes);
    (!broken).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_believed_where_the_bytes_agree() {
        assert_eq!(decode(b"caf\xe9", Some("iso-8859-1")), "café");
        assert_eq!(decode("café".as_bytes(), Some("iso-8859-1")), "café");
        assert_eq!(decode("café".as_bytes(), None), "café");
        assert_eq!(decode(b"\x82\xb1\x82\xf1", Some("cp932")), "こん");
        assert_eq!(decode(b"\xc4\xe3\xba\xc3", Some("gb2312")), "你好");
        assert_eq!(decode(b"\x1b$B$3$s\x1b(B", None), "こん");
        assert_eq!(decode("こん".as_bytes(), Some("iso-2022-jp")), "こん");
        assert_eq!(decode(b"caf\xe9", Some("x-nonsense")), "café");
        assert_eq!(decode(b"caf\xe9 au lait", Some("utf-8")), "café au lait");
        assert_eq!(decode("Юникод\u{fffd}".as_bytes(), None), "Юникод\u{fffd}");
        assert_eq!(decode(b"\xd0\xae\xd0\xbd\xd0\xb8\xd0\xba\xd0\xbe\xd0", None), "Юнико\u{fffd}");
    }

    #[test]
    fn a_raw_header_becomes_utf_8_line_by_line() {
        let header = b"Subject: caf\xe9\nFrom: J\xc3\xbcrgen <j@x.example>\n";
        let repaired = repair_header(header, Some("iso-8859-1"));
        assert_eq!(repaired.as_ref(), "Subject: café\nFrom: Jürgen <j@x.example>\n".as_bytes());
        let word = b"Subject: =?iso-8859-1?Q?caf\xe9?= \xe9\n";
        let repaired = repair_header(word, Some("iso-8859-1"));
        assert_eq!(repaired.as_ref(), b"Subject: =?iso-8859-1?Q?caf\xe9?= \xc3\xa9\n");
    }
}
