//! Senders whose mail goes to the spam at once.

use db::Tx;

use crate::app::Cx;
use crate::base::actor::Circle;
use crate::base::email_address::EmailAddress;
use crate::base::error::Result;
use crate::model::audit_log::{self, Action};

/// Blocks a sender; false when they were blocked already.
pub fn block(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle, email: &EmailAddress) -> Result<bool> {
    let blocked = tx.exec(
        "INSERT INTO blocked_senders (ws, circle, email, blocked_by, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ws, circle, email) DO NOTHING",
        &[&cx.actor.ws, circle, email, &cx.actor.name(), &cx.now],
    )?;
    if blocked > 0 {
        audit_log::record(tx, cx, circle, Action::SenderBlocked, email.as_str(), "")?;
    }
    Ok(blocked > 0)
}

pub fn unblock(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle, email: &EmailAddress) -> Result<()> {
    let unblocked = tx.exec(
        "DELETE FROM blocked_senders WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&cx.actor.ws, circle, email],
    )?;
    if unblocked > 0 {
        audit_log::record(tx, cx, circle, Action::SenderUnblocked, email.as_str(), "")?;
    }
    Ok(())
}

pub fn is_blocked(tx: &mut Tx<'_>, ws: i64, circle: &Circle, email: &str) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT created_at FROM blocked_senders WHERE ws = ?1 AND circle = ?2 AND email = ?3",
        &[&ws, circle, &EmailAddress::new(email)],
    )?;
    Ok(found.is_some())
}
