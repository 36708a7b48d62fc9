//! Inboxes, and who may see them.

use db::{FromRow, Row, Tx};

use crate::base::actor::{Actor, Circle};
use crate::base::error::Result;
use crate::base::ids::MailboxId;

#[derive(Clone, Debug)]
pub struct Mailbox {
    pub id: MailboxId,
    pub address: String,
    pub name: String,
    pub circle: Circle,
}

impl FromRow for Mailbox {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::StoreError> {
        Ok(Mailbox {
            id: row.take()?,
            address: row.take()?,
            name: row.take()?,
            circle: row.take()?,
        })
    }
}

/// An inbox by id, if the actor may see it.
pub fn seen_by(tx: &mut Tx<'_>, actor: &Actor, id: &MailboxId) -> Result<Option<Mailbox>> {
    let [first, second] = &actor.circles;
    Ok(tx.opt(
        "SELECT id, address, name, circle FROM mailboxes
         WHERE ws = ?1 AND id = ?2 AND circle IN (?3, ?4)",
        &[&actor.ws, id, first, second],
    )?)
}

/// Every inbox that the actor may see, by name.
pub fn all_seen_by(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<Mailbox>> {
    let [first, second] = &actor.circles;
    Ok(tx.all(
        "SELECT id, address, name, circle FROM mailboxes
         WHERE ws = ?1 AND circle IN (?2, ?3) ORDER BY name, id",
        &[&actor.ws, first, second],
    )?)
}
