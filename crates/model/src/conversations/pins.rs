//! The conversations that a person keeps on top of their lists.

use base::actor::Actor;
use base::error::Result;
use base::limits::PINS;
use db::Tx;

/// The numbers of the conversations that the actor pinned.
pub fn numbers(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<i64>> {
    let Some(me) = actor.member() else { return Ok(Vec::new()) };
    let pinned: Vec<(i64,)> = tx.all(
        "SELECT c.num FROM pins p JOIN conversations c ON c.ws = p.ws AND c.id = p.conversation
         WHERE p.ws = ?1 AND p.person = ?2 LIMIT ?3",
        &[&actor.ws, &me, &PINS],
    )?;
    Ok(pinned.into_iter().map(|(num,)| num).collect())
}
