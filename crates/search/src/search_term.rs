//! Finds the rows of the search index that match a query.

use std::collections::HashSet;

use base::error::Result;
use base::ids::short_base32;
use db::Tx;

use super::frequent_terms::FrequentTerms;
use super::probe::{PROBED_AT_ONCE, arguments, marks, probe_width};
use super::word_lists::{WordList, WordPattern, each_word_list};
use super::{HAS_OTHERS, Query, TAG_CHARS, Term, row_key};

/// A term in the query language of the database in use.
pub struct SearchTerm {
    /// As a full-text query.
    pub expression: String,
    /// The same, with the last word whole.
    pub whole: String,
    /// The words that a conversation's word list must have; of a phrase, each.
    words: Vec<WordPattern>,
    /// The words of which it may have one instead.
    alternatives: Vec<WordPattern>,
    /// The same of phrases, each word of one.
    phrases: Vec<Vec<WordPattern>>,
    is_phrase: bool,
}

impl SearchTerm {
    /// True when its last word is not a prefix.
    pub fn is_whole(&self) -> bool {
        self.expression == self.whole
    }

    /// True when a conversation's word list has it, or has each word of a phrase.
    fn is_in(&self, list: &dyn WordList) -> bool {
        self.words.iter().all(|word| list.has(word))
            || self.alternatives.iter().any(|word| list.has(word))
            || self.phrases.iter().any(|words| words.iter().all(|word| list.has(word)))
    }
}

pub fn search_term(tx: &Tx<'_>, ws: i64, term: &Term) -> SearchTerm {
    let tag = short_base32(ws, TAG_CHARS);
    let last = term.words.len().saturating_sub(1);
    let words = term.words.iter().enumerate();
    let words = words.map(|(n, word)| WordPattern::new(word, term.prefix && n == last));
    let whole = |word: &String| WordPattern::new(word, false);
    let phrases = term.phrases.iter().map(|phrase| phrase.iter().map(whole).collect());
    SearchTerm {
        expression: expression(tx, &tag, term),
        whole: expression(tx, &tag, &Term { prefix: false, ..term.clone() }),
        words: words.collect(),
        alternatives: term.alternatives.iter().map(whole).collect(),
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
    let frequent = tx.cache::<FrequentTerms>();
    if frequent.as_ref().is_some_and(|terms| terms.has_more_than(expression, most)) {
        return Ok(None);
    }
    let nums = match &frequent {
        None => in_sqlite_index(tx, expression, most)?,
        Some(_) => in_postgres_index(tx, expression, most)?,
    };
    if let (None, Some(frequent)) = (&nums, frequent) {
        frequent.remember(expression, most + 1);
    }
    Ok(nums)
}

fn in_sqlite_index(tx: &mut Tx<'_>, expression: &str, most: i64) -> Result<Option<HashSet<i64>>> {
    let nums: Vec<(i64,)> = tx.all(
        "SELECT rowid >> 20 FROM message_index WHERE message_index MATCH ?1 LIMIT ?2",
        &[&expression, &(most + 1)],
    )?;
    let few = nums.len() as i64 <= most;
    Ok(few.then(|| nums.into_iter().map(|(num,)| num).collect()))
}

/// All numbers come as one text, because each row costs more than its number. The number of a row of
/// before is looked up, and not joined, which may read all conversations for a few mails.
fn in_postgres_index(tx: &mut Tx<'_>, expression: &str, most: i64) -> Result<Option<HashSet<i64>>> {
    let (nums,): (Option<String>,) = tx.one(
        "SELECT CASE WHEN count(*) <= ?2 THEN coalesce(string_agg(CAST(num AS TEXT), ' '), '') END
         FROM (
             SELECT coalesce(m.num, (
                 SELECT c.num FROM conversations c WHERE c.ws = m.ws AND c.id = m.conversation
             )) AS num
             FROM message_index m WHERE m.words @@ CAST(CAST(?1 AS TEXT) AS TSQUERY) LIMIT ?3
         ) AS found",
        &[&expression, &most, &(most + 1)],
    )?;
    Ok(nums.map(|nums| nums.split(' ').filter_map(|num| num.parse().ok()).collect()))
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

/// Searches the word lists of conversations. Returns the conversations whose messages must be looked at:
/// those with too many words, with words of before, or without a list, and for a phrase all that have its
/// words.
fn by_word_lists(
    tx: &mut Tx<'_>,
    terms: &[&SearchTerm],
    nums: &[i64],
    found: &mut HashSet<i64>,
) -> Result<Vec<i64>> {
    let has_phrase = terms.iter().any(|term| term.is_phrase);
    let (mut unclear, mut listed) = (Vec::new(), HashSet::new());
    each_word_list(tx, nums, |num, list| {
        listed.insert(num);
        let first = list.lines().first();
        if first.is_none() {
            unclear.push(num);
        } else if terms.iter().all(|term| term.is_in(list)) {
            match has_phrase || first == Some(&HAS_OTHERS) {
                true => unclear.push(num),
                false => drop(found.insert(num)),
            }
        }
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
    let (first, last) = row_key::rowids_of(num);
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
    let mut args = arguments(nums);
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
        marks(nums),
        probe_width(nums) + 1,
        tests.join(" AND "),
    );
    let nums: Vec<(i64,)> = tx.all(&sql, &args)?;
    found.extend(nums.into_iter().map(|(num,)| num));
    Ok(())
}
