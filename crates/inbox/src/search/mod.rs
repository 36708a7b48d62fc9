//! Full-text search: words folded here, the same for what is indexed and what is asked, so that
//! both databases find the same and a caller's text never reaches a query grammar.

mod fold;
mod query;

use std::collections::{HashMap, HashSet};

use db::Tx;
use memchr::memmem::Finder;

use crate::conversations::Conversation;
use crate::error::Result;
use crate::ids::{ConversationId, short_base32};
use fold::index_words;
pub use query::{Query, Term};

/// Characters before each word that keep the words of workspaces apart.
const TAG_CHARS: u32 = 4;
/// Bits of a row's number that hold the serial of a mail within its conversation (SQLite).
const SERIAL_BITS: u32 = 20;
/// Words of one mail or document that are indexed.
const WORDS_INDEXED: usize = 200_000;
/// SQLite: how long the list of a conversation's different words may grow, in bytes.
const CONVERSATION_WORDS_BYTES: usize = 64 * 1024;
/// PostgreSQL: words of one row, whose tsvector may hold 1 MB.
const ROW_WORDS: usize = 2_000;
/// PostgreSQL: how often one word may stand in a row; of more than 256 the places are forgotten.
const ROW_REPEATS: usize = 50;
/// PostgreSQL: words of the next row that a row holds too, so that a phrase is not cut.
const ROW_OVERLAP: usize = 200;

/// Makes a mail findable by its words.
pub fn index_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    serial: i64,
    texts: &[&str],
) -> Result<()> {
    if serial >= 1 << SERIAL_BITS {
        return Ok(());
    }
    let words = tagged(ws, texts);
    if tx.pick(true, false) {
        tx.exec(
            "INSERT INTO mail_words (rowid, words) VALUES (?1, ?2)",
            &[&(conversation.num << SERIAL_BITS | serial), &words.join(" ")],
        )?;
        return add_conversation_words(tx, conversation.num, &words);
    }
    for (part, row) in rows(&words).into_iter().enumerate() {
        tx.exec(
            "INSERT INTO mail_words (ws, conversation, serial, part, words)
             VALUES (?1, ?2, ?3, ?4, CAST(CAST(?5 AS TEXT) AS TSVECTOR))",
            &[&ws, &conversation.id, &serial, &(part as i64), &tsvector(row)],
        )?;
    }
    Ok(())
}

/// SQLite: adds the words that the conversation did not have yet.
fn add_conversation_words(tx: &mut Tx<'_>, num: i64, words: &[String]) -> Result<()> {
    let kept: Option<(String,)> =
        tx.opt("SELECT words FROM conversation_words WHERE num = ?1", &[&num])?;
    let (known, mut text) = match kept {
        None => (false, "\n".to_owned()),
        Some((text,)) if text.is_empty() => return Ok(()),
        Some((text,)) => (true, text),
    };
    let before = text.clone();
    let mut seen: HashSet<&str> = before.lines().collect();
    for word in words {
        if seen.insert(word) {
            text.push_str(word);
            text.push('\n');
        }
    }
    if text.len() > CONVERSATION_WORDS_BYTES {
        text.clear();
    }
    let sql = match known {
        true => "UPDATE conversation_words SET words = ?2 WHERE num = ?1",
        false => "INSERT INTO conversation_words (num, words) VALUES (?1, ?2)",
    };
    if text != before {
        tx.exec(sql, &[&num, &text])?;
    }
    Ok(())
}

/// The words of one mail as PostgreSQL can keep them.
fn rows(words: &[String]) -> Vec<&[String]> {
    let mut starts = vec![0];
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (place, word) in words.iter().enumerate() {
        let start = starts.last().copied().unwrap_or(0);
        let repeats = seen.entry(word).or_insert(0);
        if place - start == ROW_WORDS || *repeats == ROW_REPEATS {
            starts.push(place);
            seen.clear();
            seen.insert(word, 1);
        } else {
            *repeats += 1;
        }
    }
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    let rows = starts.iter().zip(ends);
    rows.map(|(start, end)| &words[*start..words.len().min(end + ROW_OVERLAP)]).collect()
}

/// Makes a document findable by its words.
pub fn index_document(tx: &mut Tx<'_>, ws: i64, num: i64, texts: &[&str]) -> Result<()> {
    let words = tagged(ws, texts);
    match tx.pick(true, false) {
        true => tx.exec(
            "INSERT INTO document_words (rowid, words) VALUES (?1, ?2)",
            &[&num, &words.join(" ")],
        )?,
        false => tx.exec(
            "INSERT INTO document_words (num, words)
             VALUES (?1, CAST(CAST(?2 AS TEXT) AS TSVECTOR))",
            &[&num, &tsvector(&words)],
        )?,
    };
    Ok(())
}

fn tagged(ws: i64, texts: &[&str]) -> Vec<String> {
    let tag = short_base32(ws, TAG_CHARS);
    let words = texts.iter().flat_map(|text| index_words(text));
    words.take(WORDS_INDEXED).map(|word| format!("{tag}{word}")).collect()
}

/// The words and their places as PostgreSQL writes them. Words hold letters and digits only.
fn tsvector(words: &[String]) -> String {
    let mut text = String::new();
    for (place, word) in words.iter().enumerate() {
        text.push_str(&format!("'{word}':{} ", place + 1));
    }
    text
}

/// A term as the database at hand asks for it.
pub struct Needle {
    /// In the query language of the index.
    pub expression: String,
    /// The same, with the last word whole.
    pub whole: String,
    /// SQLite: what the list of a conversation's words must hold; of a phrase, each word.
    lines: Vec<Finder<'static>>,
    is_phrase: bool,
}

pub fn needle(tx: &Tx<'_>, ws: i64, term: &Term) -> Needle {
    let tag = short_base32(ws, TAG_CHARS);
    let last = term.words.len().saturating_sub(1);
    let lines = term.words.iter().enumerate().map(|(place, word)| {
        let end = if term.prefix && place == last { "" } else { "\n" };
        Finder::new(&format!("\n{tag}{word}{end}")).into_owned()
    });
    Needle {
        expression: expression(tx, &tag, term),
        whole: expression(tx, &tag, &Term { words: term.words.clone(), prefix: false }),
        lines: lines.collect(),
        is_phrase: term.words.len() > 1,
    }
}

/// Every term at once, in the query language of the index.
pub fn all_terms(tx: &Tx<'_>, ws: i64, query: &Query) -> String {
    let tag = short_base32(ws, TAG_CHARS);
    let terms: Vec<String> = query.terms.iter().map(|term| expression(tx, &tag, term)).collect();
    terms.join(tx.pick(" AND ", " & "))
}

fn expression(tx: &Tx<'_>, tag: &str, term: &Term) -> String {
    let words = term.words.iter().map(|word| format!("{tag}{word}"));
    match tx.pick(true, false) {
        true => {
            let phrase = words.collect::<Vec<_>>().join(" ");
            format!("\"{phrase}\"{}", if term.prefix { " *" } else { "" })
        }
        false => {
            let phrase = words.map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" <-> ");
            format!("({phrase}{})", if term.prefix { ":*" } else { "" })
        }
    }
}

/// SQLite: the numbers of conversations with a mail that matches, each once; `None` when more
/// than `most` mails do.
pub fn conversations_with(
    tx: &mut Tx<'_>,
    expression: &str,
    most: i64,
) -> Result<Option<HashSet<i64>>> {
    let rows: Vec<(i64,)> = tx.all(
        "SELECT rowid FROM mail_words WHERE mail_words MATCH ?1 LIMIT ?2",
        &[&expression, &(most + 1)],
    )?;
    let few = rows.len() as i64 <= most;
    Ok(few.then(|| rows.into_iter().map(|(rowid,)| rowid >> SERIAL_BITS).collect()))
}

/// True when the conversation has a mail for each needle.
pub fn conversation_has_all(
    tx: &mut Tx<'_>,
    ws: i64,
    needles: &[&Needle],
    num: i64,
    id: &ConversationId,
) -> Result<bool> {
    if !tx.pick(true, false) {
        for needle in needles {
            if !has_in_postgres(tx, ws, needle, id)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let words: Option<(String,)> =
        tx.opt("SELECT words FROM conversation_words WHERE num = ?1", &[&num])?;
    let Some((words,)) = words else { return Ok(false) };
    let listed = !words.is_empty();
    for needle in needles {
        if listed && !needle.lines.iter().all(|line| line.find(words.as_bytes()).is_some()) {
            return Ok(false);
        }
        if (!listed || needle.is_phrase) && !has_in_sqlite(tx, needle, num)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_in_sqlite(tx: &mut Tx<'_>, needle: &Needle, num: i64) -> Result<bool> {
    let first = num << SERIAL_BITS;
    let last = first | ((1 << SERIAL_BITS) - 1);
    let found: Option<(i64,)> = tx.opt(
        "SELECT rowid FROM mail_words
         WHERE mail_words MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT 1",
        &[&needle.expression, &first, &last],
    )?;
    Ok(found.is_some())
}

fn has_in_postgres(tx: &mut Tx<'_>, ws: i64, needle: &Needle, id: &ConversationId) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT serial FROM mail_words
         WHERE ws = ?1 AND conversation = ?2
           AND words @@ CAST(CAST(?3 AS TEXT) AS TSQUERY) LIMIT 1",
        &[&ws, id, &needle.expression],
    )?;
    Ok(found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_short_overlap_and_repeat_no_word_too_often() {
        let words: Vec<String> = (0..5_000).map(|n| format!("w{n}")).collect();
        let rows_of =
            |words: &[String]| rows(words).iter().map(|row| row.len()).collect::<Vec<_>>();
        assert_eq!(rows_of(&words), [2_200, 2_200, 1_000]);
        let same = vec!["the".to_owned(); 120];
        assert_eq!(rows_of(&same), [120, 70, 20]);
        assert_eq!(rows_of(&[]), [0]);
    }
}
