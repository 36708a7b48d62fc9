//! Where a page of the queues ended: the section of the list, and the key of its last item.

use std::fmt;

use base::error::{Error, Result};

use super::SECTIONS;

/// Between the parts of a cursor; no key has it.
const SEPARATOR: char = '~';
/// Characters of a cursor at the most.
const CURSOR_CHARS: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueueCursor {
    pub section: usize,
    pub key: Vec<String>,
}

impl QueueCursor {
    pub fn parse(text: &str) -> Result<QueueCursor> {
        let unfit = || Error::invalid("cursor", "is not one that a list gave out");
        if text.len() > CURSOR_CHARS {
            return Err(unfit());
        }
        let mut parts = text.split(SEPARATOR);
        let section = parts.next().and_then(|number| number.parse().ok()).ok_or_else(unfit)?;
        let key: Vec<String> = parts.map(str::to_owned).collect();
        match section < SECTIONS.len() && !key.is_empty() {
            true => Ok(QueueCursor { section, key }),
            false => Err(unfit()),
        }
    }
}

impl fmt::Display for QueueCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.section)?;
        self.key.iter().try_for_each(|part| write!(f, "{SEPARATOR}{part}"))
    }
}

/// A part of a key that is a number.
pub(super) fn number(key: &[String], part: usize) -> Result<i64> {
    let number = key.get(part).and_then(|part| part.parse().ok());
    number.ok_or_else(|| Error::invalid("cursor", "is not one that a list gave out"))
}

/// A part of a key that is a word.
pub(super) fn word(key: &[String], part: usize) -> Result<&str> {
    let word = key.get(part).map(String::as_str);
    word.ok_or_else(|| Error::invalid("cursor", "is not one that a list gave out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_anything_else_is_refused() {
        let cursor = QueueCursor { section: 1, key: vec!["3".into(), "msg_1".into()] };
        assert_eq!(cursor.to_string(), "1~3~msg_1");
        assert_eq!(QueueCursor::parse("1~3~msg_1").unwrap(), cursor);
        for bad in ["", "1", "x~3", "99~3", "-1~3", &"1~".repeat(400)] {
            assert!(QueueCursor::parse(bad).is_err(), "{bad}");
        }
        assert!(number(&cursor.key, 1).is_err() && word(&cursor.key, 2).is_err());
    }
}
