//! The people that mail came from or went to, and the words by which their addresses are completed.
//!
//! They are stored per circle, so that nobody is offered an address from a private inbox of another
//! person.

use db::{Arg, Tx};

use crate::app::Cx;
use crate::base::actor::Circle;
use crate::base::email_address::EmailAddress;
use crate::base::error::Result;
use crate::base::limits::{ADDRESS_CHARS, DAY_MS, PERSON_NAME_CHARS};
use crate::model::recipients::Party;
use crate::search::{Piece, pieces};

/// Addresses that a completion offers.
pub const OFFERED: usize = 8;
/// Entries of the index that one completion looks at, for each circle.
const LOOKED_AT: i64 = 200;
/// Words of one person that are indexed.
const WORDS: usize = 12;
/// When somebody was last written to is kept no more exactly than this.
const NOTED_EVERY_MS: i64 = DAY_MS;

/// Records a sender or recipient.
pub fn note(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle, party: &Party) -> Result<()> {
    let email = party.address();
    if circle.is_sandbox() || email.chars().count() > ADDRESS_CHARS {
        return Ok(());
    }
    let name: String =
        party.name.as_deref().unwrap_or("").trim().chars().take(PERSON_NAME_CHARS).collect();
    let known: Option<(String, i64)> = tx.opt(
        "SELECT name, last_at FROM contacts WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&cx.actor.ws, circle, &email],
    )?;
    // Mail of the past says nothing newer, except a name where there is none.
    let is_past =
        |(known, at): &(String, i64)| *at > cx.now && (name.is_empty() || !known.is_empty());
    if known.as_ref().is_some_and(is_past) {
        return Ok(());
    }
    let is_renamed = known.as_ref().is_none_or(|(known, _)| !name.is_empty() && *known != name);
    if !is_renamed && known.is_some_and(|(_, at)| cx.now - at < NOTED_EVERY_MS) {
        return Ok(());
    }
    tx.exec(
        "INSERT INTO contacts (ws, circle, email, name, last_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws, circle, email) DO UPDATE
         SET last_at = CASE
                 WHEN excluded.last_at > contacts.last_at THEN excluded.last_at
                 ELSE contacts.last_at
             END,
             name = CASE WHEN excluded.name = '' THEN contacts.name ELSE excluded.name END",
        &[&cx.actor.ws, circle, &email, &name, &cx.now],
    )?;
    if is_renamed { index(tx, cx, circle, &name, &email) } else { Ok(()) }
}

fn index(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    name: &str,
    email: &EmailAddress,
) -> Result<()> {
    let words = words_of(name, email);
    if words.is_empty() {
        return Ok(());
    }
    let rows: Vec<String> = (4..words.len() + 4).map(|at| format!("(?1, ?2, ?{at}, ?3)")).collect();
    let mut values: Vec<&dyn Arg> = vec![&cx.actor.ws, circle, email];
    values.extend(words.iter().map(|word| word as &dyn Arg));
    tx.exec(
        &format!(
            "INSERT INTO contact_words (ws, circle, word, email) VALUES {}
             ON CONFLICT (ws, circle, word, email) DO NOTHING",
            rows.join(", ")
        ),
        &values,
    )?;
    Ok(())
}

/// Forgets somebody with whom no conversation of the circle is left.
pub fn forget_last(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &EmailAddress) -> Result<()> {
    let another: Option<(String,)> = tx.opt(
        "SELECT id FROM conversations WHERE ws = ?1 AND contact_email = ?2 AND circle = ?3 LIMIT 1",
        &[&ws, email, circle],
    )?;
    if another.is_some() {
        return Ok(());
    }
    for table in ["contact_words", "contacts"] {
        tx.exec(
            &format!("DELETE FROM {table} WHERE ws = ?1 AND circle = ?2 AND email = ?3"),
            &[&ws, circle, email],
        )?;
    }
    Ok(())
}

/// The people of whom every word of the query begins a word, the latest first.
pub fn complete(tx: &mut Tx<'_>, cx: &Cx<'_>, query: &str) -> Result<Vec<Party>> {
    let wanted = words(query);
    // The longest word has the fewest entries.
    let Some(first) = wanted.iter().max_by_key(|word| word.chars().count()) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<(i64, Party)> = Vec::new();
    for circle in cx.actor.circles.distinct().filter(|circle| !circle.is_sandbox()) {
        let rows: Vec<(String, String, i64)> = tx.all(
            "SELECT c.email, c.name, c.last_at
             FROM contact_words w
             JOIN contacts c ON c.ws = w.ws AND c.circle = w.circle AND c.email = w.email
             WHERE w.ws = ?1 AND w.circle = ?2 AND w.word >= ?3 AND w.word < ?4
             ORDER BY w.word, w.email LIMIT ?5",
            &[&cx.actor.ws, circle, first, &after(first), &LOOKED_AT],
        )?;
        for (email, name, last_at) in rows {
            let own = words_of(&name, &email);
            let fits = wanted.iter().all(|word| own.iter().any(|own| own.starts_with(word)));
            if fits && !found.iter().any(|(_, known)| known.email == email) {
                let name = Some(name).filter(|name| !name.is_empty());
                found.push((last_at, Party { name, email }));
            }
        }
    }
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.email.cmp(&other.email)));
    found.truncate(OFFERED);
    Ok(found.into_iter().map(|(_, party)| party).collect())
}

/// The words of a person: of the name, and of the address without its last label.
fn words_of(name: &str, email: &str) -> Vec<String> {
    let address = EmailAddress::new(email);
    let domain = address.domain().unwrap_or_default();
    let labels = domain.rsplit_once('.').map_or(domain, |(labels, _)| labels);
    let mut own = words(name);
    own.extend(words(address.local()));
    own.extend(words(labels));
    own.truncate(WORDS);
    own.sort();
    own.dedup();
    own
}

fn words(text: &str) -> Vec<String> {
    let word = |piece| match piece {
        Piece::Word(word) => word,
        Piece::Run(run) => run.into_iter().collect(),
    };
    pieces(text).into_iter().map(word).collect()
}

/// The least text behind all that begin with this word.
fn after(word: &str) -> String {
    let mut chars: Vec<char> = word.chars().collect();
    if let Some(last) = chars.last_mut() {
        *last = (u32::from(*last) + 1..).find_map(char::from_u32).unwrap_or(char::MAX);
    }
    chars.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_found_by_every_part_of_name_and_address() {
        let own = words_of("Zoë Pellegrini", "office+x@pellegrini-wines.example");
        assert_eq!(own, ["office", "pellegrini", "wines", "x", "zoe"]);
    }

    #[test]
    fn the_end_of_a_range_is_behind_every_word_that_begins_so() {
        assert_eq!(after("pel"), "pem");
        assert!("pelz" < after("pel").as_str());
    }
}
