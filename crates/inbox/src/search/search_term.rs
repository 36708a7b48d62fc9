//! Finds the rows of the search index that match a query.

use std::collections::HashSet;

use db::{Arg, Tx};
use memchr::memmem::Finder;

use super::{HAS_OTHERS, Query, SERIAL_BITS, TAG_CHARS, Term};
use crate::base::error::Result;
use crate::base::ids::short_base32;

/// Conversations looked at in one statement.
pub const PROBED_AT_ONCE: usize = 25;

/// A term in the query language of the database in use.
pub struct SearchTerm {
    /// As a full-text query.
    pub expression: String,
    /// The same, with the last word whole.
    pub whole: String,
    /// The substrings that a conversation's word list must contain; of a phrase, each word.
    lines: Vec<Finder<'static>>,
    /// The substrings of which it may contain one instead.
    alternatives: Vec<Finder<'static>>,
    /// The same of phrases, each word of one.
    phrases: Vec<Vec<Finder<'static>>>,
    is_phrase: bool,
}

impl SearchTerm {
    /// True when its last word is not a prefix.
    pub fn is_whole(&self) -> bool {
        self.expression == self.whole
    }

    /// True when a conversation's word list has it, or has each word of a phrase.
    fn is_in(&self, words: &[u8]) -> bool {
        self.lines.iter().all(|line| line.find(words).is_some())
            || self.alternatives.iter().any(|line| line.find(words).is_some())
            || self.phrases.iter().any(|all| all.iter().all(|line| line.find(words).is_some()))
    }
}

pub fn search_term(tx: &Tx<'_>, ws: i64, term: &Term) -> SearchTerm {
    let tag = short_base32(ws, TAG_CHARS);
    let last = term.words.len().saturating_sub(1);
    let lines = term.words.iter().enumerate().map(|(place, word)| {
        let end = if term.prefix && place == last { "" } else { "\n" };
        Finder::new(&format!("\n{word}{end}")).into_owned()
    });
    let line = |word: &String| Finder::new(&format!("\n{word}\n")).into_owned();
    let alternatives = term.alternatives.iter().map(line);
    let phrases = term.phrases.iter().map(|phrase| phrase.iter().map(line).collect());
    SearchTerm {
        expression: expression(tx, &tag, term),
        whole: expression(tx, &tag, &Term { prefix: false, ..term.clone() }),
        lines: lines.collect(),
        alternatives: alternatives.collect(),
        phrases: phrases.collect(),
        is_phrase: term.words.len() > 1 || term.phrases.iter().any(|phrase| phrase.len() > 1),
    }
}

/// Every term at once, in the query language of the index.
pub fn all_terms(tx: &Tx<'_>, ws: i64, query: &Query) -> String {
    let tag = short_base32(ws, TAG_CHARS);
    let terms: Vec<String> = query.terms.iter().map(|term| expression(tx, &tag, term)).collect();
    terms.join(tx.pick(" AND ", " & "))
}

/// Any of the terms, in the query language of the index.
pub fn any_term(tx: &Tx<'_>, ws: i64, query: &Query) -> String {
    let tag = short_base32(ws, TAG_CHARS);
    let terms: Vec<String> = query.terms.iter().map(|term| expression(tx, &tag, term)).collect();
    terms.join(tx.pick(" OR ", " | "))
}

/// A term, or one of its alternatives.
fn expression(tx: &Tx<'_>, tag: &str, term: &Term) -> String {
    let typed = phrase(tx, tag, &term.words, term.prefix);
    if term.alternatives.is_empty() && term.phrases.is_empty() {
        return typed;
    }
    let quote = tx.pick('"', '\'');
    let mut all = vec![typed];
    all.extend(term.phrases.iter().map(|words| phrase(tx, tag, words, false)));
    all.extend(term.alternatives.iter().map(|word| format!("{quote}{tag}{word}{quote}")));
    format!("({})", all.join(tx.pick(" OR ", " | ")))
}

/// Adjacent words, the last of which may go on where it is a prefix.
fn phrase(tx: &Tx<'_>, tag: &str, words: &[String], prefix: bool) -> String {
    let words = words.iter().map(|word| format!("{tag}{word}"));
    match tx.pick(true, false) {
        true => {
            let phrase = words.collect::<Vec<_>>().join(" ");
            format!("\"{phrase}\"{}", if prefix { " *" } else { "" })
        }
        false => {
            let phrase = words.map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" <-> ");
            format!("({phrase}{})", if prefix { ":*" } else { "" })
        }
    }
}

/// The numbers of conversations with a mail that matches, each once; `None` when more than `most`
/// mails do.
pub fn conversations_with(
    tx: &mut Tx<'_>,
    expression: &str,
    most: i64,
) -> Result<Option<HashSet<i64>>> {
    let sql = tx.pick(
        "SELECT rowid >> 20 FROM message_index WHERE message_index MATCH ?1 LIMIT ?2",
        // Not joined, which may read all conversations for a few mails.
        "SELECT (SELECT c.num FROM conversations c WHERE c.ws = m.ws AND c.id = m.conversation)
         FROM message_index m WHERE m.words @@ CAST(CAST(?1 AS TEXT) AS TSQUERY) LIMIT ?2",
    );
    let nums: Vec<(Option<i64>,)> = tx.all(sql, &[&expression, &(most + 1)])?;
    let few = nums.len() as i64 <= most;
    Ok(few.then(|| nums.into_iter().filter_map(|(num,)| num).collect()))
}

/// Those of the conversations that have no mail for any of the terms.
pub fn those_without(
    tx: &mut Tx<'_>,
    ws: i64,
    terms: &[SearchTerm],
    mut nums: HashSet<i64>,
) -> Result<HashSet<i64>> {
    for term in terms {
        let left: Vec<i64> = nums.iter().copied().collect();
        for num in those_with_all(tx, ws, &[term], &left)? {
            nums.remove(&num);
        }
    }
    Ok(nums)
}

/// Those of the conversations that have a mail for each term.
pub fn those_with_all(
    tx: &mut Tx<'_>,
    ws: i64,
    terms: &[&SearchTerm],
    nums: &[i64],
) -> Result<HashSet<i64>> {
    if terms.is_empty() {
        return Ok(nums.iter().copied().collect());
    }
    let mut found = HashSet::new();
    for nums in nums.chunks(PROBED_AT_ONCE) {
        let unclear = by_word_lists(tx, terms, nums, &mut found)?;
        if unclear.is_empty() {
            continue;
        }
        match tx.pick(true, false) {
            true => in_sqlite(tx, terms, &unclear, &mut found)?,
            false => in_postgres(tx, ws, terms, &unclear, &mut found)?,
        }
    }
    Ok(found)
}

/// Searches the word lists of conversations in the database's buffer, without a copy. Returns the
/// conversations whose messages must be looked at: those with too many words, with words of before,
/// or without a list, and for a phrase all that have its words.
fn by_word_lists(
    tx: &mut Tx<'_>,
    terms: &[&SearchTerm],
    nums: &[i64],
    found: &mut HashSet<i64>,
) -> Result<Vec<i64>> {
    let has_phrase = terms.iter().any(|term| term.is_phrase);
    let mut unclear = Vec::new();
    let mut see = |num: i64, words: &[u8]| {
        if words.is_empty() {
            unclear.push(num);
        } else if terms.iter().all(|term| term.is_in(words)) {
            match has_phrase || words.first() == Some(&HAS_OTHERS) {
                true => unclear.push(num),
                false => drop(found.insert(num)),
            }
        }
    };
    if tx.pick(true, false) {
        for num in nums {
            tx.each("SELECT words FROM conversation_index WHERE num = ?1", &[num], |row| {
                see(*num, row.take_bytes()?);
                Ok(())
            })?;
        }
        return Ok(unclear);
    }
    let mut listed = HashSet::new();
    let sql = format!(
        "SELECT num, words FROM conversation_index WHERE num IN ({})",
        marks(1, PROBED_AT_ONCE)
    );
    tx.each(&sql, &asked(nums), |row| {
        let num = row.take()?;
        listed.insert(num);
        see(num, row.take_bytes()?);
        Ok(())
    })?;
    unclear.extend(nums.iter().filter(|num| !listed.contains(*num)));
    Ok(unclear)
}

fn in_sqlite(
    tx: &mut Tx<'_>,
    terms: &[&SearchTerm],
    nums: &[i64],
    found: &mut HashSet<i64>,
) -> Result<()> {
    for num in nums {
        let mut has_all = true;
        for term in terms {
            has_all = has_all && has_in_sqlite(tx, term, *num)?;
        }
        if has_all {
            found.insert(*num);
        }
    }
    Ok(())
}

fn has_in_sqlite(tx: &mut Tx<'_>, term: &SearchTerm, num: i64) -> Result<bool> {
    let first = num << SERIAL_BITS;
    let last = first | ((1 << SERIAL_BITS) - 1);
    let found: Option<(i64,)> = tx.opt(
        "SELECT rowid FROM message_index
         WHERE message_index MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT 1",
        &[&term.expression, &first, &last],
    )?;
    Ok(found.is_some())
}

/// Tests the mails of each conversation until one matches. `OFFSET 0` keeps the planner from
/// reading all index entries of a word, and `ws + 0` from scanning all conversations.
fn in_postgres(
    tx: &mut Tx<'_>,
    ws: i64,
    terms: &[&SearchTerm],
    nums: &[i64],
    found: &mut HashSet<i64>,
) -> Result<()> {
    let mut args = asked(nums);
    args.push(&ws);
    let mut tests = Vec::new();
    for term in terms {
        args.push(&term.expression);
        tests.push(format!(
            "EXISTS (
                SELECT 1 FROM (
                    SELECT m.words FROM message_index m
                    WHERE m.ws = c.ws AND m.conversation = c.id OFFSET 0
                ) mails
                WHERE words @@ CAST(CAST(?{} AS TEXT) AS TSQUERY)
             )",
            args.len()
        ));
    }
    let sql = format!(
        "SELECT c.num FROM conversations c WHERE c.num IN ({}) AND c.ws + 0 = ?{} AND {}",
        marks(1, PROBED_AT_ONCE),
        PROBED_AT_ONCE + 1,
        tests.join(" AND "),
    );
    let nums: Vec<(i64,)> = tx.all(&sql, &args)?;
    found.extend(nums.into_iter().map(|(num,)| num));
    Ok(())
}

/// The numbers as arguments, filled up by repeating the last, so that every count shares one
/// statement.
fn asked(nums: &[i64]) -> Vec<&dyn Arg> {
    let filled = nums.iter().chain(nums.last().into_iter().cycle());
    filled.take(PROBED_AT_ONCE).map(|num| num as &dyn Arg).collect()
}

fn marks(first: usize, count: usize) -> String {
    let marks: Vec<String> = (first..first + count).map(|mark| format!("?{mark}")).collect();
    marks.join(", ")
}
