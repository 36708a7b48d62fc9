//! Full-text search: words are folded here, for indexing and for queries alike, so that both
//! databases return the same and a caller's text never reaches a query grammar.

mod fold;
pub(crate) mod list;
mod query;
mod search_term;

use std::collections::{HashMap, HashSet};

use db::Tx;

use crate::base::error::Result;
use crate::base::ids::{ConversationId, short_base32};
pub use fold::fold_name;
use fold::index_words;
pub use fold::{Piece, pieces};
pub use query::{Query, Term};
pub use search_term::{
    PROBED_AT_ONCE, SearchTerm, all_terms, conversations_with, search_term, those_with_all,
};

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
/// PostgreSQL: how often one word may occur in a row; a tsvector keeps at most 256 positions of a
/// word.
const ROW_REPEATS: usize = 50;
/// PostgreSQL: words of the next row that a row holds too, so that a phrase is not cut.
const ROW_OVERLAP: usize = 200;

/// Makes a mail findable by its words.
pub fn index_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    (num, conversation): (i64, &ConversationId),
    serial: i64,
    texts: &[&str],
) -> Result<()> {
    if serial >= 1 << SERIAL_BITS {
        return Ok(());
    }
    let words = tagged(ws, texts);
    if tx.pick(true, false) {
        tx.exec_last(
            "INSERT INTO message_index (rowid, words) VALUES (?1, ?2)",
            num << SERIAL_BITS | serial,
            words.join(" "),
        )?;
        return add_conversation_words(tx, num, &words);
    }
    for (part, row) in rows(&words).into_iter().enumerate() {
        tx.exec(
            "INSERT INTO message_index (ws, conversation, serial, part, words)
             VALUES (?1, ?2, ?3, ?4, CAST(CAST(?5 AS TEXT) AS TSVECTOR))",
            &[&ws, conversation, &serial, &(part as i64), &tsvector(row)],
        )?;
    }
    Ok(())
}

/// Takes a mail out of the index. The list of its conversation's words stays.
pub fn forget_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    (num, conversation): (i64, &ConversationId),
    serial: i64,
) -> Result<()> {
    if tx.pick(true, false) {
        let row = num << SERIAL_BITS | serial;
        tx.exec("DELETE FROM message_index WHERE rowid = ?1", &[&row])?;
        return Ok(());
    }
    tx.exec(
        "DELETE FROM message_index WHERE ws = ?1 AND conversation = ?2 AND serial = ?3",
        &[&ws, conversation, &serial],
    )?;
    Ok(())
}

/// SQLite: adds the words that the conversation did not have yet, without the workspace's tag.
fn add_conversation_words(tx: &mut Tx<'_>, num: i64, words: &[String]) -> Result<()> {
    let kept: Option<(String,)> =
        tx.opt("SELECT words FROM conversation_index WHERE num = ?1", &[&num])?;
    let (known, mut text) = match kept {
        None => (false, "\n".to_owned()),
        Some((text,)) if text.is_empty() => return Ok(()),
        Some((text,)) => (true, text),
    };
    let before = text.clone();
    let mut seen: HashSet<&str> = before.lines().collect();
    for word in words {
        let word = &word[TAG_CHARS as usize..];
        if seen.insert(word) {
            text.push_str(word);
            text.push('\n');
        }
    }
    if text.len() > CONVERSATION_WORDS_BYTES {
        text.clear();
    }
    let sql = match known {
        true => "UPDATE conversation_index SET words = ?2 WHERE num = ?1",
        false => "INSERT INTO conversation_index (num, words) VALUES (?1, ?2)",
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
            "INSERT INTO document_index (rowid, words) VALUES (?1, ?2)",
            &[&num, &words.join(" ")],
        )?,
        false => tx.exec(
            "INSERT INTO document_index (num, words)
             VALUES (?1, CAST(CAST(?2 AS TEXT) AS TSVECTOR))",
            &[&num, &tsvector(&words)],
        )?,
    };
    Ok(())
}

/// Makes a document findable by other words than before.
pub fn reindex_document(tx: &mut Tx<'_>, ws: i64, num: i64, texts: &[&str]) -> Result<()> {
    forget_document(tx, num)?;
    index_document(tx, ws, num, texts)
}

/// Takes a document out of the index.
pub fn forget_document(tx: &mut Tx<'_>, num: i64) -> Result<()> {
    let forget = tx.pick(
        "DELETE FROM document_index WHERE rowid = ?1",
        "DELETE FROM document_index WHERE num = ?1",
    );
    tx.exec(forget, &[&num])?;
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
