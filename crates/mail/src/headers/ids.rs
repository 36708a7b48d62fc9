//! Message-IDs of a header field.

use crate::limits::MESSAGE_ID_BYTES;

/// Message-IDs of one field that are read.
const FIELD_IDS: usize = 200;

/// A Message-ID without the angle brackets and spaces that may stand around it.
pub fn bare_message_id(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix('<').and_then(|id| id.strip_suffix('>')).unwrap_or(id).trim()
}

/// The Message-IDs in a field: what stands in angle brackets, white space of folded lines removed;
/// without any brackets, the words with an `@` in them.
pub fn message_ids(field: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for piece in field.split('<').skip(1) {
        let id: String = match piece.split_once('>') {
            Some((id, _)) => id.chars().filter(|c| !c.is_whitespace()).collect(),
            None => piece.split_whitespace().next().unwrap_or_default().to_owned(),
        };
        note(&mut found, &id);
    }
    if found.is_empty() {
        let words = field.split(|c: char| c.is_whitespace() || c == ',');
        for word in words.filter(|word| word.contains('@')) {
            note(&mut found, word);
        }
    }
    found
}

/// The ID that a mail gives itself. Some programs write a bare number, which is one as well.
pub fn own_message_id(field: &str) -> Option<String> {
    let mut found = message_ids(field);
    if found.is_empty() && field.split_whitespace().count() == 1 {
        note(&mut found, field.trim());
    }
    found.pop()
}

/// The Message-IDs of a field that may come several times.
pub fn message_ids_within<'a>(fields: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for id in fields.flat_map(message_ids) {
        if !found.contains(&id) {
            found.push(id);
        }
        if found.len() == FIELD_IDS {
            break;
        }
    }
    found
}

fn note(found: &mut Vec<String>, id: &str) {
    let id = id.trim_matches(['<', '>', '"']);
    let fits = !id.is_empty() && id.len() <= MESSAGE_ID_BYTES && !id.contains(char::is_control);
    if fits && found.len() < FIELD_IDS {
        found.push(id.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_however_they_are_written() {
        assert_eq!(message_ids("<a@x> <b@x>"), ["a@x", "b@x"]);
        assert_eq!(message_ids("<a@\r\n x>,<b@x"), ["a@x", "b@x"]);
        assert_eq!(message_ids("a@x b@x"), ["a@x", "b@x"]);
        assert_eq!(message_ids("your mail of Monday"), Vec::<String>::new());
        assert_eq!(message_ids(&format!("<{}@x>", "a".repeat(2_000))), Vec::<String>::new());
        assert_eq!(message_ids_within(["<a@x>", "<a@x> <c@x>"].into_iter()), ["a@x", "c@x"]);
    }

    #[test]
    fn a_mail_may_call_itself_by_a_number() {
        assert_eq!(own_message_id("00220"), Some("00220".into()));
        assert_eq!(own_message_id("<a@x>"), Some("a@x".into()));
        assert_eq!(own_message_id("none of them"), None);
        assert_eq!(own_message_id(""), None);
    }

    #[test]
    fn brackets_around_a_message_id_do_not_count() {
        assert_eq!(bare_message_id(" <a.1@x> "), "a.1@x");
        assert_eq!(bare_message_id("a.1@x"), "a.1@x");
        assert_eq!(bare_message_id("<a.1@x"), "<a.1@x");
    }
}
