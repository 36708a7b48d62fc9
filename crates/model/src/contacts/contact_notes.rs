//! What people write down about a person. Customers never see it.

use base::actor::{Actor, Circle, Principal, Role};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::ContactNoteId;
use base::limits::{CONTACT_NOTE_CHARS, CONTACT_NOTES, thousands};
use db::Tx;

use crate::contacts;

db::row! {
    /// A note on a contact.
    #[derive(Clone, Debug)]
    pub struct ContactNote from "n" {
        pub id: ContactNoteId,
        /// The address that it was written about.
        pub email: EmailAddress,
        pub author: String,
        pub author_name: String,
        pub body: String,
        pub at: i64,
    }
}

/// The notes on the person with these addresses, the newest first.
pub fn on(tx: &mut Tx<'_>, actor: &Actor, addresses: &[EmailAddress]) -> Result<Vec<ContactNote>> {
    let (first, second) = actor.circles.pair();
    let sql = format!(
        "SELECT {} FROM contact_notes n
         WHERE n.ws = ?1 AND n.email = ?2 AND n.circle IN (?3, ?4)
         ORDER BY n.id DESC LIMIT ?5",
        ContactNote::COLUMNS
    );
    let mut notes: Vec<ContactNote> = Vec::new();
    for email in addresses {
        notes.extend(
            tx.all::<ContactNote>(&sql, &[&actor.ws, email, first, second, &CONTACT_NOTES])?,
        );
    }
    notes.sort_by(|a, b| b.id.cmp(&a.id));
    notes.truncate(CONTACT_NOTES as usize);
    Ok(notes)
}

/// Writes a note on a contact, for those who see mail of theirs.
pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>, addresses: &[EmailAddress], body: &str) -> Result<()> {
    let body = body.trim();
    if body.is_empty() || body.contains('\0') || body.chars().count() > CONTACT_NOTE_CHARS {
        let most = thousands(CONTACT_NOTE_CHARS);
        return Err(Error::invalid("body", format!("Write 1 to {most} characters.")));
    }
    let (email, circle) = place(tx, cx.actor, addresses)?;
    if on(tx, cx.actor, addresses)?.len() as i64 >= CONTACT_NOTES {
        let sentence = format!("There are {CONTACT_NOTES} notes already. Delete one first.");
        return Err(Error::invalid("body", sentence));
    }
    let author = cx.actor.member();
    tx.exec_soon(
        "INSERT INTO contact_notes (ws, email, id, circle, author, author_name, body, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            &cx.actor.ws,
            email,
            &ContactNoteId::new(cx.ids, cx.now),
            &circle,
            &author.as_ref().map_or("", |author| author.as_str()),
            &cx.actor.name(),
            &body,
            &cx.now,
        ],
    )?;
    Ok(())
}

/// The address that something about a person is kept under, and who sees it: the widest circle that has
/// mail of one.
pub(crate) fn place<'a>(
    tx: &mut Tx<'_>,
    actor: &Actor,
    addresses: &'a [EmailAddress],
) -> Result<(&'a EmailAddress, Circle)> {
    let mut found = None;
    for email in addresses {
        let circle = contacts::widest_circle(tx, actor, email)?;
        let is_wider = found.is_none() || circle.as_ref().is_some_and(Circle::is_team);
        if let Some(circle) = circle.filter(|_| is_wider) {
            let is_team = circle.is_team();
            found = Some((email, circle));
            if is_team {
                break;
            }
        }
    }
    found.ok_or(Error::NotFound("contact"))
}

/// Deletes a note: one's own, or as an owner or admin anybody's.
pub fn delete(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    addresses: &[EmailAddress],
    id: &ContactNoteId,
) -> Result<()> {
    let found = on(tx, cx.actor, addresses)?;
    let note = found.into_iter().find(|note| note.id == *id).ok_or(Error::NotFound("note"))?;
    if !may_delete(cx.actor, &note) {
        return Err(Error::Forbidden(
            "Only its author, an owner or an admin deletes a note.".into(),
        ));
    }
    tx.exec_soon(
        "DELETE FROM contact_notes WHERE ws = ?1 AND email = ?2 AND id = ?3",
        &[&cx.actor.ws, &note.email, id],
    )?;
    Ok(())
}

pub fn may_delete(actor: &Actor, note: &ContactNote) -> bool {
    match &actor.who {
        Principal::Person { role: Role::Owner | Role::Admin, .. } => true,
        Principal::Person { id, .. } => id.as_str() == note.author,
        _ => false,
    }
}
