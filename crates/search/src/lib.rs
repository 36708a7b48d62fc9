//! Full-text search: words are folded here, for indexing and for queries alike, so that both
//! databases return the same and a caller's text never reaches a query grammar.

mod amounts;
mod compounds;
mod conversation_words;
mod fold;
mod frequent_terms;
mod highlight;
mod inflection;
pub mod list;
mod operators;
mod probe;
mod query;
mod query_parts;
mod row_key;
mod search_term;
mod segments;
mod word_lists;

use std::collections::{BTreeSet, HashMap};

use base::error::Result;
use base::ids::{ConversationId, short_base32};
use db::Tx;

use amounts::amounts;
use operators::Field;

pub use conversation_words::{NewWordList, lines_beside, list_with_others, unknown_lines};
pub use fold::{Piece, fold_name, index_words, pieces};
pub use highlight::{Excerpt, excerpt};
pub use operators::{
    Condition, FIELD_OPERATOR, FieldQuery, FieldSign, HAS_FILE, HAS_NOTE, OPERATORS, OperatorHelp,
};
pub use probe::{PROBED_AT_ONCE, probe_width};
pub use query::{Query, Term};
pub use query_parts::{QueryPart, QuerySwitch, query_parts, query_switch};
pub use row_key::{FIRST_ENTRY, IndexRowKey, ROWS_OF_CONVERSATION, SERIALS, message_rowid_sql};
pub use search_term::{
    SearchTerm, all_terms, any_term, conversations_with, search_term, those_with_all, those_without,
};
pub use segments::{begin_merging, merge_scattered, merge_some};

/// Characters before each word that keep the words of workspaces apart.
const TAG_CHARS: u32 = 4;
/// Leads the list of a conversation that may have words which its messages no longer have.
const HAS_OTHERS: u8 = b'~';
/// Words of one mail or document that are indexed.
const WORDS_INDEXED: usize = 200_000;
/// PostgreSQL: words of one row, whose tsvector may hold 1 MB.
const ROW_WORDS: usize = 2_000;
/// PostgreSQL: how often one word may occur in a row; a tsvector keeps at most 256 positions of a
/// word.
const ROW_REPEATS: usize = 50;
/// PostgreSQL: words of the next row that a row holds too, so that a phrase is not cut.
const ROW_OVERLAP: usize = 200;

/// What a message is found by.
#[derive(Default)]
pub struct IndexedText<'a> {
    pub subject: &'a str,
    /// Names and addresses.
    pub from: Vec<&'a str>,
    /// Names and addresses, copies included.
    pub to: Vec<&'a str>,
    pub text: &'a str,
    /// What it quotes or passes on that stands nowhere else.
    pub quoted: &'a str,
    /// The names of its files.
    pub files: Vec<&'a str>,
    /// Markers of what it contains, for `has:`.
    pub has: Vec<&'static str>,
}

impl IndexedText<'_> {
    /// The words with the workspace's tag: those of each field, then all, then parts of compounds and
    /// the amounts.
    fn words(&self, ws: i64) -> Vec<String> {
        let tag = short_base32(ws, TAG_CHARS);
        let mut words = Vec::new();
        let subject = [self.subject];
        let fields: [(Field, &[&str]); 4] = [
            (Field::From, &self.from),
            (Field::To, &self.to),
            (Field::Subject, &subject),
            (Field::Has, &self.has),
        ];
        for (field, texts) in fields {
            let marked = texts.iter().flat_map(|text| index_words(text));
            words.extend(marked.map(|word| format!("{tag}{}{word}", field.marker())));
        }
        let mut texts = vec![self.subject];
        texts.extend(&self.from);
        texts.extend(&self.to);
        texts.push(self.text);
        texts.push(self.quoted);
        texts.extend(&self.files);
        words.extend(with_workspace(ws, &texts));
        words.truncate(WORDS_INDEXED);
        words
    }
}

/// Makes a mail findable by its words; it must not be in the index yet.
pub fn index_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    place: IndexRowKey<'_>,
    text: &IndexedText<'_>,
) -> Result<()> {
    if place.serial >= FIRST_ENTRY {
        return Ok(());
    }
    add(tx, ws, place, text)
}

/// Makes a message, note or document findable that is not in the index yet. On SQLite new rows are
/// written last and together.
pub fn add(tx: &mut Tx<'_>, ws: i64, place: IndexRowKey<'_>, text: &IndexedText<'_>) -> Result<()> {
    if !place.has_rowid() {
        return Ok(());
    }
    let words = text.words(ws);
    conversation_words::add(tx, ws, place, &words)?;
    match tx.pick(true, false) {
        true => tx.exec_last(INSERT_SQLITE, place.rowid(), words.join(" "))?,
        false => insert_rows(tx, ws, place, &words)?,
    }
    Ok(())
}

/// As [`index_mail`], for a mail whose draft may be in the index with some of the same words.
pub fn index_sent(
    tx: &mut Tx<'_>,
    ws: i64,
    place: IndexRowKey<'_>,
    text: &IndexedText<'_>,
) -> Result<()> {
    delete_row(tx, ws, place)?;
    index_mail(tx, ws, place, text)
}

/// Makes a message, note or document findable by other words than before.
pub fn replace(
    tx: &mut Tx<'_>,
    ws: i64,
    place: IndexRowKey<'_>,
    text: &IndexedText<'_>,
    now: i64,
) -> Result<()> {
    extend(tx, ws, place, text)?;
    conversation_words::mark_others(tx, place.num, now)
}

/// As [`replace`], where the words include those of before.
pub fn extend(
    tx: &mut Tx<'_>,
    ws: i64,
    place: IndexRowKey<'_>,
    text: &IndexedText<'_>,
) -> Result<()> {
    delete_row(tx, ws, place)?;
    add(tx, ws, place, text)
}

const INSERT_SQLITE: &str = "INSERT INTO message_index (rowid, words) VALUES (?1, ?2)";

fn insert_rows(tx: &mut Tx<'_>, ws: i64, place: IndexRowKey<'_>, words: &[String]) -> Result<()> {
    for (part, row) in rows(words).into_iter().enumerate() {
        tx.exec_soon(
            "INSERT INTO message_index (ws, conversation, num, serial, part, words)
             VALUES (?1, ?2, ?3, ?4, ?5, CAST(CAST(?6 AS TEXT) AS TSVECTOR))",
            &[&ws, place.conversation, &place.num, &place.serial, &(part as i64), &tsvector(row)],
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
    delete_row(tx, ws, IndexRowKey { num, conversation, serial })
}

/// Takes a row out of the index, so that its words are not found any more. The list of its
/// conversation's words is written again soon.
pub fn remove(tx: &mut Tx<'_>, ws: i64, place: IndexRowKey<'_>, now: i64) -> Result<()> {
    delete_row(tx, ws, place)?;
    conversation_words::mark_others(tx, place.num, now)
}

fn delete_row(tx: &mut Tx<'_>, ws: i64, place: IndexRowKey<'_>) -> Result<()> {
    if tx.pick(true, false) {
        tx.cancel_last(INSERT_SQLITE, place.rowid());
        tx.exec_soon(
            "DELETE FROM message_index WHERE rowid IN (?1, ?2)",
            &[&place.rowid(), &place.former_rowid()],
        )?;
    } else {
        tx.exec_soon(
            "DELETE FROM message_index WHERE ws = ?1 AND conversation = ?2 AND serial = ?3",
            &[&ws, place.conversation, &place.serial],
        )?;
    }
    Ok(())
}

/// Takes all rows of a conversation out of the index.
pub fn forget_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    (num, conversation): (i64, &ConversationId),
    serials: &[i64],
) -> Result<()> {
    if tx.pick(true, false) {
        for serial in serials {
            delete_row(tx, ws, IndexRowKey { num, conversation, serial: *serial })?;
        }
    } else {
        tx.exec_soon(
            "DELETE FROM message_index WHERE ws = ?1 AND conversation = ?2",
            &[&ws, conversation],
        )?;
    }
    tx.exec_soon("DELETE FROM conversation_index WHERE num = ?1", &[&num])?;
    Ok(())
}

/// PostgreSQL's indexes of words, and their tables.
const WORD_INDEXES: [(&str, &str); 2] =
    [("mail_words_by_word", "message_index"), ("document_words_by_word", "document_index")];
/// The memory that an index of words is built in, at least.
const BUILD_MEMORY: &str = "SELECT set_config('maintenance_work_mem', '256MB', true)
    WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('256MB')";

/// The indexes of words that are missing, because building them was cut off, and their tables
/// (PostgreSQL).
pub fn missing_word_indexes(tx: &mut Tx<'_>) -> Result<Vec<(&'static str, &'static str)>> {
    if tx.pick(true, false) {
        return Ok(Vec::new());
    }
    let mut missing = Vec::new();
    for (name, table) in WORD_INDEXES {
        let (is_there,): (bool,) =
            tx.one("SELECT to_regclass(CAST(?1 AS TEXT)) IS NOT NULL", &[&name])?;
        if !is_there {
            missing.push((name, table));
        }
    }
    Ok(missing)
}

/// Creates the indexes of words that are missing (PostgreSQL).
pub fn create_word_indexes(tx: &mut Tx<'_>) -> Result<()> {
    if tx.pick(true, false) {
        return Ok(());
    }
    tx.exec_soon(BUILD_MEMORY, &[])?;
    for (name, table) in WORD_INDEXES {
        tx.exec_soon(
            &format!(
                "CREATE INDEX IF NOT EXISTS {name} ON {table} USING gin (words)
                 WITH (fastupdate = off)"
            ),
            &[],
        )?;
    }
    Ok(())
}

/// Drops them, so that rows are added faster. Nobody may search before they are created again.
pub fn drop_word_indexes(tx: &mut Tx<'_>) -> Result<()> {
    if tx.pick(true, false) {
        return Ok(());
    }
    for (name, _) in WORD_INDEXES {
        tx.exec_soon(&format!("DROP INDEX IF EXISTS {name}"), &[])?;
    }
    Ok(())
}

/// Takes a document out of the index.
pub fn forget_document(tx: &mut Tx<'_>, num: i64) -> Result<()> {
    let forget = tx.pick(
        "DELETE FROM document_index WHERE rowid = ?1",
        "DELETE FROM document_index WHERE num = ?1",
    );
    tx.exec_soon(forget, &[&num])?;
    Ok(())
}

/// The newest row of a conversation that matches an expression, of those below a serial.
pub fn newest_match(
    tx: &mut Tx<'_>,
    ws: i64,
    (num, conversation): (i64, &ConversationId),
    expression: &str,
    below: i64,
) -> Result<Option<i64>> {
    if tx.pick(true, false) {
        return newest_in_sqlite(tx, num, expression, below);
    }
    let found: Option<(i64,)> = tx.opt(
        "SELECT serial FROM (
             SELECT m.serial, m.words FROM message_index m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.serial < ?4 OFFSET 0
         ) mails
         WHERE words @@ CAST(CAST(?3 AS TEXT) AS TSQUERY) ORDER BY serial DESC LIMIT 1",
        &[&ws, conversation, &expression, &below],
    )?;
    Ok(found.map(|(serial,)| serial))
}

/// Rows that have numbers of before stand before the others, so one of them may have a serial that is not
/// below: then the rest is looked through.
fn newest_in_sqlite(
    tx: &mut Tx<'_>,
    num: i64,
    expression: &str,
    below: i64,
) -> Result<Option<i64>> {
    const NEWEST: &str = "SELECT rowid FROM message_index
        WHERE message_index MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT 1";
    let (first, _) = row_key::rowids_of(num);
    let last = row_key::rowid(num, below) - 1;
    let found: Option<(i64,)> = tx.opt(NEWEST, &[&expression, &first, &last])?;
    let serial = found.map(|(rowid,)| row_key::serial(num, rowid));
    if serial.is_none_or(|serial| serial < below) {
        return Ok(serial);
    }
    let found: Option<(i64,)> = tx.opt(NEWEST, &[&expression, &first, &(first + below - 1)])?;
    let serial = found.map(|(rowid,)| row_key::serial(num, rowid));
    Ok(serial.filter(|serial| *serial < below))
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
    let words = with_workspace(ws, texts);
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

fn with_workspace(ws: i64, texts: &[&str]) -> Vec<String> {
    let tag = short_base32(ws, TAG_CHARS);
    let words = texts.iter().flat_map(|text| index_words(text));
    let words: Vec<String> = words.take(WORDS_INDEXED).collect();
    let parts: BTreeSet<&str> = words.iter().flat_map(|word| compounds::parts(word)).collect();
    let parts: Vec<String> = parts.into_iter().map(str::to_owned).collect();
    let amounts = texts.iter().flat_map(|text| amounts(text)).map(|amount| amount.word);
    words.into_iter().chain(parts).chain(amounts).map(|word| format!("{tag}{word}")).collect()
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
