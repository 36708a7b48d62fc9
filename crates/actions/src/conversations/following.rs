//! Following conversations, and whether a mention begins it.

use base::app::Cx;
use base::error::Result;
use db::Tx;

use crate::sign_in::sessions::own_id;

/// Whether the actor follows every conversation in which a note mentions them.
pub fn follows_mentions(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let (follows,) = tx.one(
        "SELECT follows_mentions FROM users WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?],
    )?;
    Ok(follows)
}

pub fn follow_mentions(tx: &mut Tx<'_>, cx: &Cx<'_>, follows: bool) -> Result<()> {
    tx.exec_soon(
        "UPDATE users SET follows_mentions = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, own_id(cx)?, &follows],
    )?;
    Ok(())
}
