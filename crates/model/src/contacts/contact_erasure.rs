//! Forgetting a contact with their last mail: the address that is offered, notes on them, and which
//! addresses are theirs.

use base::actor::Circle;
use base::email_address::EmailAddress;
use base::error::Result;
use db::Tx;

use crate::contacts;
use crate::contacts::contact_addresses;
use crate::fields::stored_values;
use crate::people::agent_limits::recent_acts;

/// Forgets somebody with whom no conversation of the circle is left.
pub fn forget_last(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &EmailAddress) -> Result<()> {
    // Of two erasures at once the later one is tried again, and sees what the other one left.
    tx.exec_soon(
        "UPDATE contacts SET email = email WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&ws, circle, email],
    )?;
    if takes_part(tx, ws, circle, email)? {
        return Ok(());
    }
    for table in ["contact_words", "contacts"] {
        tx.exec_soon(
            &format!("DELETE FROM {table} WHERE ws = ?1 AND circle = ?2 AND email = ?3"),
            &[&ws, circle, email],
        )?;
    }
    recent_acts::forget_mailed(tx, ws, email)?;
    // Whoever belongs to an inbox belongs to the team, and sees the contact by the team's mail.
    if contacts::is_in(tx, ws, &Circle::team(), email)? {
        return Ok(());
    }
    for circle in without_mail(tx, ws, circle, email)? {
        forget_written(tx, ws, &circle, email)?;
    }
    Ok(())
}

/// True for the contact of a conversation of the circle, and for whoever takes part in one.
/// Concatenation keeps the planner from using the lists of a circle.
fn takes_part(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &EmailAddress) -> Result<bool> {
    for sql in [
        "SELECT c.id FROM conversations c
         WHERE c.ws = ?1 AND c.contact_email = ?2 AND c.circle || '' = ?3 LIMIT 1",
        "SELECT c.id FROM participants p
         CROSS JOIN conversations c
         WHERE p.ws = ?1 AND p.email = ?2 AND c.ws = p.ws AND c.id = p.conversation
           AND c.circle || '' = ?3 LIMIT 1",
    ] {
        let found: Option<(String,)> = tx.opt(sql, &[&ws, email, circle])?;
        if found.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The circles in which something is written about a contact of whom they have no mail: the one that the
/// contact left, or every one when no mail of theirs is left at all. A person who sees several inboxes
/// for some may have merged addresses of them in their own circle.
fn without_mail(
    tx: &mut Tx<'_>,
    ws: i64,
    left: &Circle,
    email: &EmailAddress,
) -> Result<Vec<Circle>> {
    for sql in [
        "SELECT id FROM conversations WHERE ws = ?1 AND contact_email = ?2 LIMIT 1",
        "SELECT conversation FROM participants WHERE ws = ?1 AND email = ?2 LIMIT 1",
    ] {
        let found: Option<(String,)> = tx.opt(sql, &[&ws, email])?;
        if found.is_some() {
            return Ok(vec![left.clone()]);
        }
    }
    let all: Vec<(Circle,)> = tx.all(
        "SELECT circle FROM contact_notes WHERE ws = ?1 AND email = ?2
         UNION
         SELECT circle FROM contact_fields WHERE ws = ?1 AND email = ?2
         UNION
         SELECT circle FROM contact_addresses WHERE ws = ?1 AND email = ?2",
        &[&ws, email],
    )?;
    Ok(all.into_iter().map(|(circle,)| circle).collect())
}

/// Takes the address off its contact. Notes and fields go with it, unless the contact has another address
/// with mail, under which they are read.
fn forget_written(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &EmailAddress) -> Result<()> {
    for other in contact_addresses::forget(tx, ws, circle, email)? {
        let is_known = contacts::is_in(tx, ws, circle, &other)?
            || contacts::is_in(tx, ws, &Circle::team(), &other)?;
        if is_known {
            tx.exec_soon(
                "UPDATE contact_notes SET email = ?4 WHERE ws = ?1 AND circle = ?2 AND email = ?3",
                &[&ws, circle, email, &other],
            )?;
            stored_values::carry_over(tx, ws, circle, email, &other)?;
            break;
        }
    }
    for table in ["contact_notes", "contact_fields"] {
        tx.exec_soon(
            &format!("DELETE FROM {table} WHERE ws = ?1 AND circle = ?2 AND email = ?3"),
            &[&ws, circle, email],
        )?;
    }
    Ok(())
}
