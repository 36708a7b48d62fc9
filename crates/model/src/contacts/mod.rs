//! The people that mail came from or went to, and the words by which their addresses are completed.
//!
//! They are stored per circle, so that nobody is offered an address from a private inbox of another
//! person.

pub mod blocked_senders;
pub mod contact_addresses;
pub mod contact_erasure;
pub mod contact_notes;
pub mod contact_profile;
pub mod correspondents;

use std::collections::HashSet;

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::ConversationId;
use base::limits::{ADDRESS_CHARS, DAY_MS, PERSON_NAME_CHARS};
use base::string_enum::string_enum;
use db::{Arg, Tx};
use mail::{AuthorKind, Dmarc};
use search::{Piece, pieces};

use crate::messages::recipients::Party;

/// Addresses that a completion offers.
pub const OFFERED: usize = 8;
/// Entries of the index that one completion looks at, for each circle.
const LOOKED_AT: i64 = 200;
/// Entries that are walked in search of them: most people only wrote.
const WALKED: i64 = 5_000;
/// Words of one person that are indexed.
const WORDS: usize = 12;
/// When somebody was last written to is kept no more exactly than this.
const NOTED_EVERY_MS: i64 = DAY_MS;

string_enum! {
    /// What the team did for somebody: an agent wrote to them of its own accord, or a person wrote to
    /// them, approved what was written or released their mail. Who only wrote has none: anybody can.
    ContactStanding {
        Written = "written",
        Trusted = "trusted",
    }
}

/// Why somebody is recorded, and so how far they are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactEvidence {
    /// They are said to have written, or automatic mail went to them.
    Unproven,
    /// They wrote, and their domain proves it.
    Proven,
    /// The team did something for them.
    Team(ContactStanding),
}

impl ContactEvidence {
    /// What a received mail shows: only DMARC tells who wrote it.
    pub fn of_mail(dmarc: Dmarc) -> ContactEvidence {
        match dmarc {
            Dmarc::Pass => ContactEvidence::Proven,
            Dmarc::Fail | Dmarc::Absent => ContactEvidence::Unproven,
        }
    }

    /// What a mail shows that the team sent with another program.
    pub fn of_sent(kind: AuthorKind) -> ContactEvidence {
        match kind {
            AuthorKind::Person => ContactEvidence::Team(ContactStanding::Trusted),
            AuthorKind::AutoReply => ContactEvidence::Unproven,
        }
    }

    fn standing(self) -> Option<ContactStanding> {
        match self {
            ContactEvidence::Team(standing) => Some(standing),
            ContactEvidence::Unproven | ContactEvidence::Proven => None,
        }
    }

    /// True where a name takes the place of another. A forged sender must not rename anybody.
    fn renames(self) -> bool {
        matches!(self, ContactEvidence::Proven | ContactEvidence::Team(ContactStanding::Trusted))
    }
}

db::row! {
    /// What is recorded of somebody.
    struct NotedContact from "contacts" {
        name: String,
        last_at: i64,
        standing: Option<ContactStanding>,
    }
}

/// Records a sender or recipient. The sandbox keeps only those whom the team wrote to, and no names.
pub fn note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    party: &Party,
    evidence: ContactEvidence,
) -> Result<()> {
    let email = party.address();
    let is_kept = !circle.is_sandbox() || evidence.standing().is_some();
    if !is_kept || email.chars().count() > ADDRESS_CHARS {
        return Ok(());
    }
    let name: String =
        party.name.as_deref().unwrap_or("").trim().chars().take(PERSON_NAME_CHARS).collect();
    let name = if circle.is_sandbox() { String::new() } else { name };
    let known: Option<NotedContact> = tx.opt(
        &format!(
            "SELECT {} FROM contacts WHERE ws = ?1 AND circle = ?2 AND email = ?3",
            NotedContact::COLUMNS
        ),
        &[&cx.actor.ws, circle, &email],
    )?;
    let standing = evidence.standing().max(known.as_ref().and_then(|known| known.standing));
    let rises = known.as_ref().is_some_and(|known| known.standing != standing);
    // Mail of the past says nothing newer, except a name where there is none.
    let is_past = |known: &NotedContact| {
        known.last_at > cx.now && (name.is_empty() || !known.name.is_empty())
    };
    if !rises && known.as_ref().is_some_and(is_past) {
        return Ok(());
    }
    let is_renamed = known.as_ref().is_none_or(|known| {
        !name.is_empty()
            && known.name != name
            && (known.name.is_empty() || evidence.renames() && known.last_at <= cx.now)
    });
    let is_recent = known.as_ref().is_some_and(|known| cx.now - known.last_at < NOTED_EVERY_MS);
    if !is_renamed && !rises && is_recent {
        return Ok(());
    }
    let name = match known {
        Some(known) if !is_renamed => known.name,
        _ => name,
    };
    tx.exec_soon(
        "INSERT INTO contacts (ws, circle, email, name, last_at, domain, standing)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (ws, circle, email) DO UPDATE
         SET last_at = CASE
                 WHEN excluded.last_at > contacts.last_at THEN excluded.last_at
                 ELSE contacts.last_at
             END,
             name = excluded.name, standing = excluded.standing",
        &[
            &cx.actor.ws,
            circle,
            &email,
            &name,
            &cx.now,
            &email.domain().unwrap_or_default(),
            &standing,
        ],
    )?;
    if is_renamed { index(tx, cx, circle, &name, &email) } else { Ok(()) }
}

/// True when a person of the team wrote to somebody or released mail of theirs. What they wrote
/// themselves makes nobody trusted, nor what was answered automatically.
pub fn is_trusted(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &EmailAddress) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT last_at FROM contacts
         WHERE ws = ?1 AND circle = ?2 AND email = ?3 AND standing = ?4",
        &[&ws, circle, email, &ContactStanding::Trusted],
    )?;
    Ok(found.is_some())
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
    tx.exec_soon(
        &format!(
            "INSERT INTO contact_words (ws, circle, word, email) VALUES {}
             ON CONFLICT (ws, circle, word, email) DO NOTHING",
            rows.join(", ")
        ),
        &values,
    )?;
    Ok(())
}

/// The people of whom every word of the query begins a word, the latest first.
pub fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, query: &str) -> Result<Vec<Party>> {
    matching(tx, cx, query, "TRUE")
}

/// Those of them who are offered as recipients: whom the team wrote to or whose mail it released, so that
/// no stranger's address takes the place of the one that was meant, and who is not blocked.
pub fn complete(tx: &mut Tx<'_>, cx: &Cx<'_>, query: &str) -> Result<Vec<Party>> {
    let offered = "c.standing IS NOT NULL
        AND NOT EXISTS (
            SELECT 1 FROM blocked_senders b
            WHERE b.ws = c.ws AND b.circle = c.circle AND b.email = c.email
        )";
    matching(tx, cx, query, offered)
}

/// The contacts `c` that match a query, under a further condition.
fn matching(tx: &mut Tx<'_>, cx: &Cx<'_>, query: &str, condition: &str) -> Result<Vec<Party>> {
    let wanted = words(query);
    // The longest word has the fewest entries.
    let Some(first) = wanted.iter().max_by_key(|word| word.chars().count()) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<(i64, Party)> = Vec::new();
    for circle in cx.actor.circles.distinct().filter(|circle| !circle.is_sandbox()) {
        let rows: Vec<(String, String, i64)> = tx.all(
            &format!(
                "SELECT c.email, c.name, c.last_at
                 FROM (
                     SELECT ws, circle, email, word FROM contact_words
                     WHERE ws = ?1 AND circle = ?2 AND word >= ?3 AND word < ?4
                     ORDER BY word, email LIMIT ?6
                 ) AS w
                 JOIN contacts c ON c.ws = w.ws AND c.circle = w.circle AND c.email = w.email
                 WHERE {condition} ORDER BY w.word, w.email LIMIT ?5"
            ),
            &[&cx.actor.ws, circle, first, &after(first), &LOOKED_AT, &WALKED],
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

/// Another conversation `k` with the contact of the conversation `c`, under any of their addresses.
/// What is held or spam makes nobody known, nor what only they wrote. Concatenation keeps the planner
/// from using the lists of a circle.
const OTHERS: &str = "k.id <> c.id AND k.circle || '' = c.circle AND k.held = FALSE
    AND k.merged_into IS NULL AND coalesce(k.removed, '') <> 'spam'";

/// The team wrote to the contact of a conversation, or released their mail.
fn has_standing(conversation: &str) -> String {
    format!(
        "EXISTS (
             SELECT 1 FROM contacts s
             WHERE s.ws = {conversation}.ws AND s.circle = {conversation}.circle
               AND s.email = {conversation}.contact_email AND s.standing IS NOT NULL
         )"
    )
}

/// Those of some conversations whose contact we had before: there is another conversation with them,
/// and the team wrote to them or released their mail.
pub fn known_among<'i>(
    tx: &mut Tx<'_>,
    ws: i64,
    ids: impl Iterator<Item = &'i ConversationId>,
) -> Result<HashSet<ConversationId>> {
    let mut args: Vec<&dyn Arg> = vec![&ws];
    args.extend(ids.map(|id| id as &dyn Arg));
    if args.len() == 1 {
        return Ok(HashSet::new());
    }
    let places: Vec<String> = (2..=args.len()).map(|place| format!("?{place}")).collect();
    let (here, there) = (has_standing("c"), has_standing("k"));
    // Each loop is within the one before, so that no planner turns them around.
    let under_another = |circle: &str| {
        format!(
            "EXISTS (
                 SELECT 1 FROM contact_addresses a
                 WHERE a.ws = c.ws AND a.circle = {circle} AND a.email = c.contact_email AND EXISTS (
                     SELECT 1 FROM contact_addresses o
                     WHERE o.ws = a.ws AND o.circle = a.circle AND o.contact = a.contact
                       AND o.email <> a.email AND EXISTS (
                           SELECT 1 FROM conversations k
                           WHERE k.ws = o.ws AND k.contact_email = o.email AND {OTHERS}
                             AND ({here} OR {there})
                       )
                 )
             )"
        )
    };
    let known: Vec<(ConversationId,)> = tx.all(
        &format!(
            "SELECT c.id FROM conversations c
             WHERE c.ws = ?1 AND c.id IN ({}) AND (
                 {here} AND EXISTS (
                     SELECT 1 FROM conversations k
                     WHERE k.ws = c.ws AND k.contact_email = c.contact_email AND {OTHERS}
                 )
                 OR {}
                 OR c.circle <> 'team' AND {}
             )",
            places.join(", "),
            under_another("'team'"),
            under_another("c.circle")
        ),
        &args,
    )?;
    Ok(known.into_iter().map(|(id,)| id).collect())
}

/// True when we had the contact of a conversation before.
pub fn is_known(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<bool> {
    Ok(!known_among(tx, ws, std::iter::once(id))?.is_empty())
}

/// True when those of a circle have mail of somebody.
pub fn is_in(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &EmailAddress) -> Result<bool> {
    let contact: Option<(i64,)> = tx.opt(
        "SELECT last_at FROM contacts WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&ws, circle, email],
    )?;
    if contact.is_some() {
        return Ok(true);
    }
    let conversation: Option<(String,)> = tx.opt(
        "SELECT id FROM conversations
         WHERE ws = ?1 AND contact_email = ?2 AND circle || '' = ?3 LIMIT 1",
        &[&ws, email, circle],
    )?;
    Ok(conversation.is_some())
}

/// The circles of an actor that have mail of somebody, the widest first.
pub fn circles_with(tx: &mut Tx<'_>, actor: &Actor, email: &EmailAddress) -> Result<Vec<Circle>> {
    let mut with = Vec::new();
    for circle in actor.circles.distinct() {
        if is_in(tx, actor.ws, circle, email)? {
            with.push(circle.clone());
        }
    }
    Ok(with)
}

/// The widest circle of an actor that has mail of somebody; `None` when the actor sees none.
pub fn widest_circle(
    tx: &mut Tx<'_>,
    actor: &Actor,
    email: &EmailAddress,
) -> Result<Option<Circle>> {
    Ok(circles_with(tx, actor, email)?.into_iter().next())
}

/// What somebody calls themselves, as far as the actor knows.
pub fn name_of(tx: &mut Tx<'_>, actor: &Actor, email: &EmailAddress) -> Result<Option<String>> {
    let (first, second) = actor.circles.pair();
    let noted: Vec<(String,)> = tx.all(
        "SELECT name FROM contacts WHERE ws = ?1 AND circle IN (?2, ?3) AND email = ?4",
        &[&actor.ws, first, second, email],
    )?;
    if let Some((name,)) = noted.into_iter().find(|(name,)| !name.is_empty()) {
        return Ok(Some(name));
    }
    let written: Option<(String,)> = tx.opt(
        "SELECT contact_name FROM conversations
         WHERE ws = ?1 AND contact_email = ?2 AND circle IN (?3, ?4)
           AND contact_name IS NOT NULL AND contact_name <> ''
         ORDER BY last_message_at DESC, id DESC LIMIT 1",
        &[&actor.ws, email, first, second],
    )?;
    Ok(written.map(|(name,)| name))
}

/// Others with an address at the same domain, the latest first; nobody for a provider at which
/// anybody gets an address.
pub fn colleagues(
    tx: &mut Tx<'_>,
    actor: &Actor,
    addresses: &[EmailAddress],
    most: usize,
) -> Result<Vec<Party>> {
    let mut found: Vec<(i64, Party)> = Vec::new();
    let companies = addresses.iter().filter(|email| mail::organisation(email).is_some());
    let mut domains: Vec<&str> = companies.filter_map(|email| email.domain()).collect();
    domains.sort_unstable();
    domains.dedup();
    for domain in domains {
        for circle in actor.circles.distinct().filter(|circle| !circle.is_sandbox()) {
            let rows: Vec<(EmailAddress, String, i64)> = tx.all(
                "SELECT email, name, last_at FROM contacts
                 WHERE ws = ?1 AND circle = ?2 AND domain = ?3
                 ORDER BY last_at DESC, email DESC LIMIT ?4",
                &[&actor.ws, circle, &domain, &((most + addresses.len()) as i64)],
            )?;
            for (email, name, last_at) in rows {
                let is_met = found.iter().any(|(_, party)| email == party.email.as_str());
                if !is_met && !addresses.contains(&email) {
                    let name = Some(name).filter(|name| !name.is_empty());
                    found.push((last_at, Party { name, email: email.into() }));
                }
            }
        }
    }
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.email.cmp(&other.email)));
    found.truncate(most);
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
