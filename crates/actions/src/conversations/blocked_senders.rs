//! Senders whose mail goes to the spam at once: the list, and letting them write again.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use db::Tx;
use model::contacts;
use model::contacts::blocked_senders::{self, BlockedSender};
use model::contacts::contact_addresses;

/// Senders on one page.
pub const BLOCKED_LISTED: usize = 50;

/// The blocked senders that the actor sees, by address; those after `after`.
pub fn list_blocked(tx: &mut Tx<'_>, cx: &Cx<'_>, after: &str) -> Result<Vec<BlockedSender>> {
    blocked_senders::list(tx, cx.actor, after, BLOCKED_LISTED)
}

/// Blocks every address of a person, wherever the actor sees mail of theirs.
pub fn block_contact(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<()> {
    let mut is_seen = false;
    for address in contact_addresses::of(tx, cx.actor, email)? {
        for circle in contacts::circles_with(tx, cx.actor, &address)? {
            is_seen = true;
            blocked_senders::block(tx, cx, &circle, &address)?;
        }
    }
    if is_seen { Ok(()) } else { Err(Error::NotFound("contact")) }
}

/// Lets every address of a person write again.
pub fn unblock_contact(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &EmailAddress) -> Result<()> {
    let addresses = contact_addresses::of(tx, cx.actor, email)?;
    if !blocked_senders::is_any_blocked(tx, cx.actor, &addresses)? {
        return Err(Error::NotFound("sender"));
    }
    for address in &addresses {
        for circle in cx.actor.circles.distinct() {
            blocked_senders::unblock(tx, cx, circle, address)?;
        }
    }
    Ok(())
}
