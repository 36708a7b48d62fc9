//! The language of a mail that Mailroom writes: of a customer that of their own mail, or else that of the
//! workspace's help pages; of a person the one that they chose for the app. English where it is not known or has no
//! catalogue.
//!
//! Customers read these texts.

use base::actor::Circle;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, UserId};
use db::Tx;
use translation::{Language, Reader, t};

/// Whoever gets mail of a conversation.
pub fn of_conversation(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Reader> {
    type Found = (Option<String>, Circle, EmailAddress);
    let found: Option<Found> = tx.opt(
        "SELECT language, circle, contact_email FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, id],
    )?;
    match found {
        Some((Some(language), ..)) => Ok(speaking(&language)),
        Some((None, circle, email)) => of_address(tx, ws, &circle, email.as_str()),
        None => Ok(Reader::default()),
    }
}

/// Whoever gets mail at an address, by their latest conversation that those of a circle see.
pub fn of_address(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &str) -> Result<Reader> {
    let found: Option<(String,)> = tx.opt(
        "SELECT language FROM conversations
         WHERE ws = ?1 AND contact_email = ?2 AND num > 0 AND circle = ?3 AND language IS NOT NULL
         ORDER BY last_message_at DESC, id DESC LIMIT 1",
        &[&ws, &email, circle],
    )?;
    match found {
        Some((language,)) => Ok(speaking(&language)),
        None => of_workspace(tx, ws),
    }
}

/// Customers of whom nothing is known.
fn of_workspace(tx: &mut Tx<'_>, ws: i64) -> Result<Reader> {
    let main: Option<(String,)> =
        tx.opt("SELECT language FROM help_sites WHERE ws = ?1", &[&ws])?;
    Ok(main.map_or_else(Reader::default, |(language,)| speaking(&language)))
}

/// A person of the team.
pub fn of_person(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Reader> {
    let chosen: Option<(String,)> =
        tx.opt("SELECT language FROM users WHERE ws = ?1 AND id = ?2", &[&ws, person])?;
    Ok(chosen.map_or_else(Reader::default, |(language,)| speaking(&language)))
}

/// The first line of a mail, with the reader's name where it is known.
pub fn salutation(name: Option<&str>) -> String {
    match name.filter(|name| !name.is_empty()) {
        Some(name) => t!("Hello {name},", name),
        None => t!("Hello,").to_owned(),
    }
}

fn speaking(code: &str) -> Reader {
    Reader::new(Language::parse(code).unwrap_or_default())
}
