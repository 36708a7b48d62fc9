//! Copies what is public of an answer into the tables that visitors read, and takes it out of them again.

use std::collections::BTreeMap;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AnswerId;
use base::limits::{HELP_PAGE_WORDS, HELP_SLUG_CHARS, HELP_SLUG_TRIES};
use db::Tx;
use model::messages::answers::TeamAnswer;

use crate::page_text::{page_body, plain_words};
use crate::slugs::{is_slug, slug_of};

/// How much a word counts in a title, in the name of a section and in the text.
const TITLE_WEIGHT: i64 = 8;
const SECTION_WEIGHT: i64 = 3;
/// A word that is repeated counts no more than this.
const TEXT_WEIGHT: i64 = 4;

/// Makes the public tables say what the answer says. `is_older` is true for a translation that is older than what
/// it translates.
pub fn refresh(tx: &mut Tx<'_>, cx: &Cx<'_>, answer: &TeamAnswer, is_older: bool) -> Result<()> {
    let ws = cx.actor.ws;
    let before: Option<(i64,)> = tx.opt(
        "SELECT published_at FROM help_pages WHERE ws = ?1 AND answer = ?2",
        &[&ws, &answer.id],
    )?;
    withdraw(tx, ws, &answer.id)?;
    if !answer.is_public() {
        return Ok(());
    }
    let Ok(body) = page_body(&answer.body, &answer.help_body) else { return Ok(()) };
    let plain = plain_words(&body);
    let published_at = before.map_or(cx.now, |(at,)| at);
    tx.exec(
        "INSERT INTO help_pages (
            ws, answer, original, language, slug, section, section_slug, title, body, plain, is_older,
            valid_until, published_at, changed_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        &[
            &ws,
            &answer.id,
            &answer.original_id(),
            &answer.language,
            &answer.slug,
            &answer.section,
            &section_slug(&answer.section),
            &answer.title,
            &body,
            &plain,
            &is_older,
            &answer.valid_until,
            &published_at,
            &answer.text_at,
        ],
    )?;
    tx.exec(
        "INSERT INTO help_slugs (ws, language, slug, answer) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, language, slug) DO UPDATE SET answer = excluded.answer",
        &[&ws, &answer.language, &answer.slug, &answer.id],
    )?;
    for (word, weight) in weighed_words(&answer.title, &answer.section, &plain) {
        tx.exec_soon(
            "INSERT INTO help_words (ws, language, word, answer, weight) VALUES (?1, ?2, ?3, ?4, ?5)",
            &[&ws, &answer.language, &word, &answer.id, &weight],
        )?;
    }
    Ok(())
}

/// Takes an answer off the public pages. Its addresses stay its own.
pub fn withdraw(tx: &mut Tx<'_>, ws: i64, answer: &AnswerId) -> Result<()> {
    tx.exec("DELETE FROM help_words WHERE ws = ?1 AND answer = ?2", &[&ws, answer])?;
    tx.exec("DELETE FROM help_pages WHERE ws = ?1 AND answer = ?2", &[&ws, answer])?;
    Ok(())
}

/// The address of a section; `more` for answers in none.
pub fn section_slug(section: &str) -> String {
    let slug = slug_of(section);
    match (section.is_empty(), slug.is_empty()) {
        (true, _) => "more".to_owned(),
        // A name without a Latin letter: told from others by what it is made of.
        (false, true) => {
            let sum = section
                .bytes()
                .fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
            format!("s-{sum:08x}")
        }
        (false, false) => slug,
    }
}

/// The address that a public answer gets: what somebody typed, what it has, or one made of its title.
pub fn choose_slug(tx: &mut Tx<'_>, ws: i64, answer: &TeamAnswer, typed: &str) -> Result<String> {
    let typed = typed.trim();
    if !typed.is_empty() && typed != answer.slug {
        if !is_slug(typed) {
            let sentence =
                format!("The address has 1 to {HELP_SLUG_CHARS} lower-case letters, digits and -.");
            return Err(Error::invalid("slug", sentence));
        }
        if is_taken(tx, ws, answer, typed)? {
            return Err(Error::invalid("slug", "Another answer has or had this address."));
        }
        return Ok(typed.to_owned());
    }
    if !answer.slug.is_empty() && !is_taken(tx, ws, answer, &answer.slug)? {
        return Ok(answer.slug.clone());
    }
    let first = match slug_of(&answer.title) {
        slug if slug.is_empty() => fallback(&answer.id),
        slug => slug,
    };
    for number in 1..=HELP_SLUG_TRIES {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let start: String = first.chars().take(HELP_SLUG_CHARS - end.len()).collect();
        let slug = format!("{}{end}", start.trim_end_matches('-'));
        if !is_taken(tx, ws, answer, &slug)? {
            return Ok(slug);
        }
    }
    Ok(fallback(&answer.id))
}

/// An address that no other answer makes: the end of the id.
fn fallback(id: &AnswerId) -> String {
    id.as_str()[AnswerId::PREFIX.len()..].to_owned()
}

/// True where another answer of this language has or had the address.
fn is_taken(tx: &mut Tx<'_>, ws: i64, answer: &TeamAnswer, slug: &str) -> Result<bool> {
    let holder: Option<(AnswerId,)> = tx.opt(
        "SELECT answer FROM help_slugs WHERE ws = ?1 AND language = ?2 AND slug = ?3",
        &[&ws, &answer.language, &slug],
    )?;
    Ok(holder.is_some_and(|(holder,)| holder != answer.id))
}

/// The words that a page is found by, and how much each counts.
fn weighed_words(title: &str, section: &str, plain: &str) -> BTreeMap<String, i64> {
    let mut words: BTreeMap<String, i64> = BTreeMap::new();
    for word in search::index_words(title) {
        words.insert(word, TITLE_WEIGHT);
    }
    for word in search::index_words(section) {
        words.entry(word).or_insert(SECTION_WEIGHT);
    }
    for word in search::index_words(plain) {
        if words.len() >= HELP_PAGE_WORDS && !words.contains_key(&word) {
            continue;
        }
        let weight = words.entry(word).or_insert(0);
        if *weight < TEXT_WEIGHT {
            *weight += 1;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_title_counts_more_than_one_that_is_repeated() {
        let words = weighed_words("Dimmer", "Lamps", &"the bulb hums at the dimmer ".repeat(9));
        assert_eq!((words["dimmer"], words["lamps"], words["bulb"]), (8, 3, 4));
        let many: String = (0..3_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(weighed_words("a", "", &many).len(), HELP_PAGE_WORDS);
    }

    #[test]
    fn a_section_has_an_address_in_every_script() {
        assert_eq!(section_slug("Returns & refunds"), "returns-refunds");
        assert_eq!(section_slug(""), "more");
        assert!(section_slug("配送").starts_with("s-"));
        assert_ne!(section_slug("配送"), section_slug("返品"));
    }
}
