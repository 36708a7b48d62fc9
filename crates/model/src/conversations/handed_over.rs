//! The mark of conversations that an agent handed over to people.

use base::actor::Principal;
use base::app::Cx;
use base::error::Result;
use base::ids::ConversationId;
use db::Tx;

/// Marks a conversation for people.
pub fn mark(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<()> {
    set(tx, cx, id, Some(cx.now))
}

/// A person who acts on a conversation has taken it over.
pub fn end(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId, since: Option<i64>) -> Result<()> {
    match since.is_some() && matches!(cx.actor.who, Principal::Person { .. }) {
        true => set(tx, cx, id, None),
        false => Ok(()),
    }
}

fn set(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId, at: Option<i64>) -> Result<()> {
    tx.exec(
        "UPDATE conversations SET handed_over_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &at],
    )?;
    Ok(())
}
