//! The list of a conversation's different words, which tells at once what it does not contain.

use std::collections::HashSet;

use base::concurrency::queue::Queue;
use base::error::Result;
use db::Tx;

use super::fold::index_words;
use super::{HAS_OTHERS, IndexRowKey, IndexedText, TAG_CHARS};

/// How long the list may grow, in bytes; then it is left empty.
const CONVERSATION_WORDS_BYTES: usize = 64 * 1024;
/// How long a list that lost words waits until it is written again: what changes at once is one rebuild.
const REBUILD_AFTER_MS: i64 = 5_000;

/// Adds the words that the conversation did not have yet, without the workspace's tag.
pub(super) fn add(
    tx: &mut Tx<'_>,
    ws: i64,
    place: IndexRowKey<'_>,
    words: &[String],
) -> Result<()> {
    let sql = tx.pick(
        "SELECT words FROM conversation_index WHERE num = ?1",
        "SELECT words FROM conversation_index WHERE num = ?1 FOR UPDATE",
    );
    let kept: Option<(String,)> = tx.opt(sql, &[&place.num])?;
    let (is_known, mut text) = match kept {
        Some((text,)) if text.is_empty() => return Ok(()),
        Some((text,)) => (true, text),
        None => (false, indexed_before(tx, ws, place)?),
    };
    let words = words.iter().map(|word| &word[TAG_CHARS as usize..]);
    let mut missing: HashSet<&str> = words.clone().collect();
    for word in text.lines() {
        missing.remove(word);
    }
    if is_known && missing.is_empty() {
        // The row that had them may be gone, and a list that is made just now be without them.
        if has_others(&text) {
            touch_rebuild(tx, place.num)?;
        }
        return Ok(());
    }
    for word in words {
        if missing.remove(word) {
            text.push_str(word);
            text.push('\n');
        }
    }
    if text.len() > CONVERSATION_WORDS_BYTES {
        text.clear();
    }
    let sql = match is_known {
        true => "UPDATE conversation_index SET words = ?2 WHERE num = ?1",
        false => "INSERT INTO conversation_index (num, words) VALUES (?1, ?2)",
    };
    tx.exec_soon(sql, &[&place.num, &text])?;
    Ok(())
}

/// Says of a conversation that its list may have words that none of its rows has any more, and has the
/// list written again soon. Until then a look at the rows follows whenever the list has a word.
pub(super) fn mark_others(tx: &mut Tx<'_>, num: i64, now: i64) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversation_index SET words = '~' || words
         WHERE num = ?1 AND words <> '' AND substr(words, 1, 1) <> '~'",
        &[&num],
    )?;
    // Another time tells the job that more was lost since it looked.
    tx.exec_soon(
        "INSERT INTO index_rebuilds (name, next_num, due_at, words_only)
         SELECT ?2, num, CAST(?3 AS BIGINT), TRUE FROM conversation_index WHERE num = ?1 AND words <> ''
         ON CONFLICT (name) DO UPDATE SET due_at = index_rebuilds.due_at + 1",
        &[&num, &rebuild_name(num), &(now + REBUILD_AFTER_MS)],
    )?;
    tx.wake(Queue::IndexRebuild);
    Ok(())
}

/// Tells the job that makes the list, by another time, that the rows have changed since it looked.
fn touch_rebuild(tx: &mut Tx<'_>, num: i64) -> Result<()> {
    tx.exec_soon(
        "UPDATE index_rebuilds SET due_at = due_at + 1 WHERE name = ?1",
        &[&rebuild_name(num)],
    )?;
    Ok(())
}

fn rebuild_name(num: i64) -> String {
    format!("words of {num}")
}

fn has_others(list: &str) -> bool {
    list.as_bytes().first() == Some(&HAS_OTHERS)
}

/// The list of a conversation, made anew from all its rows.
#[derive(Default)]
pub struct NewWordList {
    words: HashSet<String>,
    text: String,
}

impl NewWordList {
    /// Adds the words of a row, as long as the list is not too long to be kept.
    pub fn add(&mut self, ws: i64, text: &IndexedText<'_>) {
        if self.is_too_long() {
            return;
        }
        for word in text.words(ws) {
            let word = &word[TAG_CHARS as usize..];
            if self.words.insert(word.to_owned()) {
                self.text.push_str(word);
                self.text.push('\n');
            }
        }
        if self.is_too_long() {
            self.words = HashSet::new();
        }
    }

    fn is_too_long(&self) -> bool {
        // A line break leads the list.
        self.text.len() >= CONVERSATION_WORDS_BYTES
    }

    /// Puts it in the place of the list that was read before; false if that, or the time by which its rebuild
    /// was claimed, changed meanwhile.
    pub fn replace(&self, tx: &mut Tx<'_>, num: i64, before: &str, claimed: i64) -> Result<bool> {
        let text = format!("\n{}", self.text);
        let text = if self.is_too_long() { "" } else { &text };
        let replaced = tx.exec(
            "UPDATE conversation_index SET words = ?2 WHERE num = ?1 AND words = ?3
               AND EXISTS (SELECT 1 FROM index_rebuilds WHERE name = ?4 AND due_at = ?5)",
            &[&num, &text, &before, &rebuild_name(num), &claimed],
        )?;
        Ok(replaced == 1)
    }
}

/// The list of a conversation, if it may have words that its rows do not have.
pub fn list_with_others(tx: &mut Tx<'_>, num: i64) -> Result<Option<String>> {
    let list: Option<(String,)> =
        tx.opt("SELECT words FROM conversation_index WHERE num = ?1", &[&num])?;
    let list = list.map(|(list,)| list);
    Ok(list.filter(|list| has_others(list)))
}

/// The lines of a text with words that a conversation does not have; `None` where its list is too long
/// to be kept.
pub fn unknown_lines(tx: &mut Tx<'_>, num: i64, text: &str) -> Result<Option<String>> {
    let kept: Option<(String,)> =
        tx.opt("SELECT words FROM conversation_index WHERE num = ?1", &[&num])?;
    Ok(match kept {
        Some((list,)) if list.is_empty() => None,
        Some((list,)) => Some(lines_beside(text, &list.lines().collect())),
        None => Some(text.to_owned()),
    })
}

/// The lines of a text with words that others do not have.
pub fn lines_beside(text: &str, known: &HashSet<&str>) -> String {
    let has_other = |line: &&str| index_words(line).iter().any(|word| !known.contains(&**word));
    text.lines().filter(has_other).collect::<Vec<_>>().join("\n")
}

/// The list of a conversation that has none yet: empty for a new one. PostgreSQL's conversations from
/// before there were lists have messages in the index.
fn indexed_before(tx: &mut Tx<'_>, ws: i64, place: IndexRowKey<'_>) -> Result<String> {
    let mut text = "\n".to_owned();
    if tx.pick(true, false) {
        return Ok(text);
    }
    let words: Vec<(String,)> = tx.all(
        "SELECT DISTINCT CAST(w.lexeme AS TEXT) FROM message_index m, unnest(m.words) w
         WHERE m.ws = ?1 AND m.conversation = ?2",
        &[&ws, place.conversation],
    )?;
    for (word,) in &words {
        text.push_str(&word[TAG_CHARS as usize..]);
        text.push('\n');
    }
    Ok(text)
}
