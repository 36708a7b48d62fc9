//! Conversations that a person keeps on top of their lists.

use std::collections::HashSet;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::ConversationId;
use base::limits::PINS;
use db::Tx;

use crate::sign_in::sessions::own_id;

/// Pins a conversation; false when it is pinned already.
pub(crate) fn pin(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<bool> {
    let pinned = pins(tx, cx)?;
    if pinned.contains(id) {
        return Ok(false);
    }
    if pinned.len() as i64 >= PINS {
        let sentence = format!("You have {PINS} pinned conversations. Unpin one first.");
        return Err(Error::invalid("pin", sentence));
    }
    tx.exec_soon(
        "INSERT INTO pins (ws, person, conversation, pinned_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, person, conversation) DO NOTHING",
        &[&cx.actor.ws, own_id(cx)?, id, &cx.now],
    )?;
    Ok(true)
}

/// False when it was not pinned.
pub(crate) fn unpin(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<bool> {
    let unpinned = tx.exec(
        "DELETE FROM pins WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
        &[&cx.actor.ws, own_id(cx)?, id],
    )?;
    Ok(unpinned > 0)
}

/// What the actor has pinned.
pub fn pins(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<HashSet<ConversationId>> {
    let pinned: Vec<(ConversationId,)> = tx.all(
        "SELECT conversation FROM pins WHERE ws = ?1 AND person = ?2 LIMIT ?3",
        &[&cx.actor.ws, own_id(cx)?, &PINS],
    )?;
    Ok(pinned.into_iter().map(|(id,)| id).collect())
}
