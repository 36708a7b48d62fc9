//! Senders whose mail goes to the spam at once.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use db::Tx;

use crate::installation::audit_log::{self, Action};

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

/// True when one of a person's addresses is blocked where the actor sees it.
pub fn is_any_blocked(tx: &mut Tx<'_>, actor: &Actor, addresses: &[EmailAddress]) -> Result<bool> {
    for email in addresses {
        for circle in actor.circles.distinct() {
            if is_blocked(tx, actor.ws, circle, email)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

db::row! {
    /// A sender whose mail goes to the spam.
    #[derive(Clone, Debug)]
    pub struct BlockedSender from "s" {
        pub email: EmailAddress,
        pub circle: Circle,
        pub blocked_by: String,
        pub created_at: i64,
    }
}

/// Blocked senders in the order of their addresses, those after one of them.
pub fn list(
    tx: &mut Tx<'_>,
    actor: &Actor,
    after: &str,
    most: usize,
) -> Result<Vec<BlockedSender>> {
    let sql = format!(
        "SELECT {} FROM blocked_senders s
         WHERE s.ws = ?1 AND s.circle = ?2 AND s.email > ?3 ORDER BY s.email LIMIT ?4",
        BlockedSender::COLUMNS
    );
    let mut found: Vec<BlockedSender> = Vec::new();
    for circle in actor.circles.distinct() {
        found.extend(tx.all::<BlockedSender>(&sql, &[&actor.ws, circle, &after, &(most as i64)])?);
    }
    found.sort_by(|a, b| a.email.cmp(&b.email));
    found.dedup_by(|a, b| a.email == b.email);
    found.truncate(most);
    Ok(found)
}
