//! The addresses of one person: which of them people merged into one contact.
//!
//! A merge has a circle like the mail that it is about, so that an address of a private inbox is
//! not told to those who do not see that inbox.

use base::actor::{Actor, Circle, Principal};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::limits::CONTACT_ADDRESSES;
use db::Tx;

use crate::contacts;
use crate::installation::audit_log::{self, Action};

/// All addresses of the person with this one, which comes first, as far as the actor may know.
pub fn of(tx: &mut Tx<'_>, actor: &Actor, email: &EmailAddress) -> Result<Vec<EmailAddress>> {
    let (first, second) = actor.circles.pair();
    let mut all = vec![email.clone()];
    let mut looked_at = 0;
    while looked_at < all.len() {
        let found: Vec<(EmailAddress, EmailAddress)> = tx.all(
            "SELECT o.email, o.contact FROM contact_addresses a
             JOIN contact_addresses o ON o.ws = a.ws AND o.circle = a.circle AND o.contact = a.contact
             WHERE a.ws = ?1 AND a.circle IN (?2, ?3) AND a.email = ?4
             ORDER BY o.email LIMIT ?5",
            &[&actor.ws, first, second, &all[looked_at], &(CONTACT_ADDRESSES as i64)],
        )?;
        add(&mut all, found);
        looked_at += 1;
    }
    Ok(all)
}

/// All addresses of the person with this one as the team merged them: what somebody merged for
/// themselves says nothing about the person.
pub fn of_team(tx: &mut Tx<'_>, ws: i64, email: &EmailAddress) -> Result<Vec<EmailAddress>> {
    let mut all = vec![email.clone()];
    let mut looked_at = 0;
    while looked_at < all.len() {
        let found: Vec<(EmailAddress, EmailAddress)> = tx.all(
            "SELECT o.email, o.contact FROM contact_addresses a
             JOIN contact_addresses o ON o.ws = a.ws AND o.circle = a.circle AND o.contact = a.contact
             WHERE a.ws = ?1 AND a.circle = ?2 AND a.email = ?3 ORDER BY o.email LIMIT ?4",
            &[&ws, &Circle::team(), &all[looked_at], &(CONTACT_ADDRESSES as i64)],
        )?;
        add(&mut all, found);
        looked_at += 1;
    }
    Ok(all)
}

fn add(all: &mut Vec<EmailAddress>, found: Vec<(EmailAddress, EmailAddress)>) {
    for address in found.into_iter().flat_map(|(email, contact)| [email, contact]) {
        if !all.contains(&address) && all.len() < CONTACT_ADDRESSES {
            all.push(address);
        }
    }
}

/// The address that a person is shown under.
pub fn shown_under(tx: &mut Tx<'_>, actor: &Actor, email: &EmailAddress) -> Result<EmailAddress> {
    for circle in actor.circles.distinct() {
        if let Some(contact) = contact_in(tx, actor.ws, circle, email)? {
            return Ok(contact);
        }
    }
    Ok(email.clone())
}

/// Makes two contacts one, which is shown under the second address.
pub fn merge(tx: &mut Tx<'_>, cx: &Cx<'_>, from: &EmailAddress, into: &EmailAddress) -> Result<()> {
    let (ours, theirs) = (of(tx, cx.actor, into)?, of(tx, cx.actor, from)?);
    if ours.contains(from) {
        return Err(Error::invalid("with", "This is an address of the same contact already."));
    }
    if ours.len() + theirs.len() > CONTACT_ADDRESSES {
        let sentence = format!("A contact has at most {CONTACT_ADDRESSES} addresses.");
        return Err(Error::invalid("with", sentence));
    }
    let circle = circle_of_both(tx, cx.actor, from, into)?;
    let ws = cx.actor.ws;
    let into = contact_in(tx, ws, &circle, into)?.unwrap_or_else(|| into.clone());
    let from = contact_in(tx, ws, &circle, from)?.unwrap_or_else(|| from.clone());
    let mut moved = together(tx, ws, &circle, &from)?;
    if moved.is_empty() {
        moved.push(from.clone());
    }
    put(tx, cx, &circle, &into, &into, &into)?;
    for address in &moved {
        put(tx, cx, &circle, address, &into, &from)?;
    }
    audit_log::record(tx, cx, &circle, Action::ContactsMerged, &from, &format!("into {into}"))
}

/// Undoes the merge by which an address came to its contact: those that came along are a contact of
/// their own again.
pub fn separate(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<()> {
    let (ws, mut undone) = (cx.actor.ws, false);
    for circle in cx.actor.circles.distinct() {
        let found: Option<(EmailAddress, EmailAddress)> = tx.opt(
            "SELECT contact, before FROM contact_addresses
             WHERE ws = ?1 AND circle = ?2 AND email = ?3",
            &[&ws, circle, email],
        )?;
        let Some((contact, before)) = found else { continue };
        if before == contact {
            tx.exec_soon(
                "DELETE FROM contact_addresses WHERE ws = ?1 AND circle = ?2 AND email = ?3",
                &[&ws, circle, email],
            )?;
        } else {
            tx.exec_soon(
                "UPDATE contact_addresses SET contact = ?4, before = ?4
                 WHERE ws = ?1 AND circle = ?2 AND contact = ?3 AND before = ?4",
                &[&ws, circle, &contact, &before],
            )?;
            show_under_one_of_them(tx, ws, circle, &before)?;
        }
        let left = show_under_one_of_them(tx, ws, circle, &contact)?;
        let detail = format!("from {left}");
        audit_log::record(tx, cx, circle, Action::ContactSeparated, email, &detail)?;
        undone = true;
    }
    if undone { Ok(()) } else { Err(Error::NotFound("address")) }
}

/// Shows a contact under an address that it still has; returns that address.
pub fn show_under_one_of_them(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    contact: &EmailAddress,
) -> Result<EmailAddress> {
    let left = together(tx, ws, circle, contact)?;
    let shown = match left.first() {
        Some(first) if !left.contains(contact) => first.clone(),
        _ => contact.clone(),
    };
    tx.exec_soon(
        "UPDATE contact_addresses SET contact = ?4, before = email
         WHERE ws = ?1 AND circle = ?2 AND contact = ?3 AND contact <> ?4",
        &[&ws, circle, contact, &shown],
    )?;
    end_if_alone(tx, ws, circle, &shown)?;
    Ok(shown)
}

/// Takes an address of which no mail is left off its contact; returns the other addresses of the contact.
pub fn forget(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    email: &EmailAddress,
) -> Result<Vec<EmailAddress>> {
    let Some(contact) = contact_in(tx, ws, circle, email)? else { return Ok(Vec::new()) };
    tx.exec_soon(
        "DELETE FROM contact_addresses WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&ws, circle, email],
    )?;
    let others = together(tx, ws, circle, &contact)?;
    // Those that came with it stay together when that merge is undone.
    let came_along: Option<(EmailAddress,)> = tx.opt(
        "SELECT email FROM contact_addresses
         WHERE ws = ?1 AND circle = ?2 AND contact = ?3 AND before = ?4 ORDER BY email LIMIT 1",
        &[&ws, circle, &contact, email],
    )?;
    if let Some((first,)) = came_along {
        tx.exec_soon(
            "UPDATE contact_addresses SET before = ?5
             WHERE ws = ?1 AND circle = ?2 AND contact = ?3 AND before = ?4",
            &[&ws, circle, &contact, email, &first],
        )?;
    }
    show_under_one_of_them(tx, ws, circle, &contact)?;
    Ok(others)
}

/// A contact with one address needs no row.
fn end_if_alone(tx: &mut Tx<'_>, ws: i64, circle: &Circle, contact: &EmailAddress) -> Result<()> {
    if together(tx, ws, circle, contact)?.len() == 1 {
        tx.exec_soon(
            "DELETE FROM contact_addresses WHERE ws = ?1 AND circle = ?2 AND contact = ?3",
            &[&ws, circle, contact],
        )?;
    }
    Ok(())
}

fn contact_in(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    email: &EmailAddress,
) -> Result<Option<EmailAddress>> {
    let found: Option<(EmailAddress,)> = tx.opt(
        "SELECT contact FROM contact_addresses WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&ws, circle, email],
    )?;
    Ok(found.map(|(contact,)| contact))
}

/// The addresses of one contact in one circle.
fn together(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    contact: &EmailAddress,
) -> Result<Vec<EmailAddress>> {
    let found: Vec<(EmailAddress,)> = tx.all(
        "SELECT email FROM contact_addresses WHERE ws = ?1 AND circle = ?2 AND contact = ?3
         ORDER BY email LIMIT ?4",
        &[&ws, circle, contact, &(CONTACT_ADDRESSES as i64)],
    )?;
    Ok(found.into_iter().map(|(email,)| email).collect())
}

fn put(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    email: &EmailAddress,
    contact: &EmailAddress,
    before: &EmailAddress,
) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO contact_addresses (ws, circle, email, contact, before, merged_by, merged_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (ws, circle, email) DO UPDATE
         SET contact = excluded.contact, before = excluded.before,
             merged_by = excluded.merged_by, merged_at = excluded.merged_at",
        &[&cx.actor.ws, circle, email, contact, before, &cx.actor.name(), &cx.now],
    )?;
    Ok(())
}

/// The widest circle of the actor whose people see mail of both.
fn circle_of_both(
    tx: &mut Tx<'_>,
    actor: &Actor,
    one: &EmailAddress,
    other: &EmailAddress,
) -> Result<Circle> {
    let team = Circle::team();
    for circle in actor.circles.distinct() {
        let mut both = true;
        for email in [one, other] {
            // Whoever belongs to an inbox belongs to the team.
            both = both
                && (contacts::is_in(tx, actor.ws, circle, email)?
                    || contacts::is_in(tx, actor.ws, &team, email)?);
        }
        if both {
            return Ok(circle.clone());
        }
    }
    match &actor.who {
        Principal::Person { id, .. } => Ok(Circle::of(id)),
        _ => Err(Error::NotFound("contact")),
    }
}
