//! What a mail says, as one number: the same on every way that it comes, and another for any other mail.

use sha2::{Digest, Sha256};

use crate::source;

/// The fields that are part of what a mail says. Machines on the way add fields of their own before
/// them, and fold these anew.
const FIELDS: &[&str] = &["from", "to", "cc", "subject", "date", "content-type"];
const DATE: &str = "date";
/// Bytes of the hash that are kept: nobody finds a second mail for a given one.
const HASH_BYTES: usize = 16;

/// The hash of a mail's body and of the fields that its author wrote, without what machines on the way
/// added. A mail without a date may be sent again with the same words and be news: it is known by all
/// its bytes.
pub fn content_hash(raw: &[u8]) -> String {
    let repaired = source::with_line_feeds(source::without_mailbox_line(raw));
    let end = source::header_end(&repaired);
    let (header, body) = repaired.split_at(end);
    let mut hash = Sha256::new();
    let fields = written_fields(header);
    if fields.iter().any(|(name, _)| *name == DATE) {
        for (name, value) in &fields {
            hash.update(name.as_bytes());
            hash.update(b":");
            hash.update(value);
            hash.update(b"\n");
        }
        // Carriage returns and blank lines at the end come and go on the way.
        for piece in body.trim_ascii().split(|byte| *byte == b'\r') {
            hash.update(piece);
        }
    } else {
        hash.update(raw);
    }
    hash.finalize().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// The header of a mail alone, as far as the blank line after it.
pub fn header_bytes(raw: &[u8]) -> Vec<u8> {
    let repaired = source::with_line_feeds(source::without_mailbox_line(raw));
    let mut header = repaired[..source::header_end(&repaired)].to_vec();
    header.extend_from_slice(b"\r\n");
    header
}

/// The fields of the author, unfolded, in an order of their own: relays may change that of the header.
fn written_fields(header: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut fields: Vec<(&'static str, Vec<u8>)> = Vec::new();
    let mut is_written = false;
    for line in header.split(|byte| *byte == b'\n') {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let Some((_, value)) = fields.last_mut().filter(|_| is_written) {
                push_words(value, line);
            }
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(0);
        let name = line[..colon].trim_ascii();
        let known = FIELDS.iter().find(|field| name.eq_ignore_ascii_case(field.as_bytes()));
        is_written = known.is_some();
        if let Some(name) = known {
            let mut value = Vec::new();
            push_words(&mut value, &line[colon + 1..]);
            fields.push((name, value));
        }
    }
    fields.sort_by_key(|(name, _)| FIELDS.iter().position(|field| field == name));
    fields
}

/// Adds the words of a line, with one space between two.
fn push_words(value: &mut Vec<u8>, line: &[u8]) {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    for word in words {
        if !value.is_empty() {
            value.push(b' ');
        }
        value.extend_from_slice(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "From: Ann <ann@x.example>\r\nTo: b@y.example\r\nSubject: A long\r\n subject\r\n\
        Date: Sun, 15 Nov 2026 09:00:00 +0000\r\nMessage-ID: <1@x>\r\n\r\nHello\r\nBen\r\n";

    #[test]
    fn what_machines_on_the_way_do_changes_nothing() {
        let trace =
            format!("Received: from a by b\r\n\tfor c; Sun\r\nX-Spam: no\r\n{MAIL}\r\n\r\n");
        let refolded = MAIL.replace("A long\r\n subject", "A long subject");
        let unix = MAIL.replace("\r\n", "\n");
        let in_mailbox = format!("From ann@x.example Sun Nov 15\n{unix}");
        let moved = MAIL.replace("To: b@y.example\r\n", "");
        let moved = moved.replacen("\r\n\r\n", "\r\nto:  b@y.example\r\n\r\n", 1);
        for other in [trace, refolded, unix, in_mailbox, moved] {
            assert_eq!(content_hash(MAIL.as_bytes()), content_hash(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn other_words_people_times_or_types_are_another_mail() {
        for (from, to) in [
            ("Hello", "Hallo"),
            ("Ben", "Ben\r\n-- \r\nA list's footer"),
            ("ann@x", "eve@x"),
            ("b@y", "c@y"),
            ("A long", "Another"),
            ("09:00:00", "09:00:01"),
            ("Message-ID", "Content-Type: text/html\r\nMessage-ID"),
        ] {
            let other = MAIL.replace(from, to);
            assert_ne!(content_hash(MAIL.as_bytes()), content_hash(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn without_a_date_every_byte_counts() {
        let undated = MAIL.replace("Date", "X-Date");
        let again = format!("Received: from a\r\n{undated}");
        assert_eq!(content_hash(undated.as_bytes()), content_hash(undated.as_bytes()));
        assert_ne!(content_hash(undated.as_bytes()), content_hash(again.as_bytes()));
        assert_eq!(content_hash(b"").len(), 2 * HASH_BYTES);
        assert_ne!(content_hash(b":"), content_hash(b"\n"));
    }
}
