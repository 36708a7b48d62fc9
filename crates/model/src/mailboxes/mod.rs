//! Inboxes, and who may see them.

pub mod domains;
pub mod inbox_access;
pub mod mailbox_grants;
pub mod office_hours;
pub mod outgoing_servers;
pub mod plus_tags;
pub mod weekly_hours;

use base::actor::{Actor, Circle};
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::MailboxId;
use base::string_enum::string_enum;
use db::Tx;

/// What the address of an inbox ends in whose person was removed.
pub const CLOSED_ENDING: &str = "@closed.invalid";

string_enum! {
    /// Who drafts replies in an inbox: nobody, the built-in helper from the team's answers, or a
    /// language model that cites them.
    DraftingMode { Off = "off", Answers = "answers", Model = "model" }
}

db::row! {
    #[derive(Clone, Debug)]
    pub struct Mailbox from "mailboxes" {
        pub id: MailboxId,
        pub address: EmailAddress,
        pub name: String,
        pub circle: Circle,
    }
}

/// An inbox by id, if the actor may see it.
pub fn seen_by(tx: &mut Tx<'_>, actor: &Actor, id: &MailboxId) -> Result<Option<Mailbox>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM mailboxes WHERE ws = ?1 AND id = ?2 AND circle IN (?3, ?4)",
            Mailbox::COLUMNS
        ),
        &[&actor.ws, id, first, second],
    )?)
}

/// An inbox by id or address, if the actor may see it.
pub fn find(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<Option<Mailbox>> {
    if let Some(id) = MailboxId::parse(name) {
        return seen_by(tx, actor, &id);
    }
    let (first, second) = actor.circles.pair();
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM mailboxes WHERE ws = ?1 AND address = ?2 AND circle IN (?3, ?4)",
            Mailbox::COLUMNS
        ),
        &[&actor.ws, &EmailAddress::new(name), first, second],
    )?)
}

/// Every inbox that the actor may see, by name.
pub fn all_seen_by(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<Mailbox>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM mailboxes WHERE ws = ?1 AND circle IN (?2, ?3) ORDER BY name, id",
            Mailbox::COLUMNS
        ),
        &[&actor.ws, first, second],
    )?)
}

db::row! {
    /// What an inbox says of the messages that are written in it.
    pub struct InboxWriting from "mailboxes" {
        pub signature: String,
        pub name: String,
        pub always_secure: bool,
    }
}

/// How messages of an inbox are written.
pub fn writing_of(tx: &mut Tx<'_>, ws: i64, id: &MailboxId) -> Result<InboxWriting> {
    let sql = format!("SELECT {} FROM mailboxes WHERE ws = ?1 AND id = ?2", InboxWriting::COLUMNS);
    Ok(tx.one(&sql, &[&ws, id])?)
}

/// True for an inbox that is being deleted, or is gone, or whose person was removed: nothing is written into it or sent
/// from it.
pub fn is_deleted(tx: &mut Tx<'_>, ws: i64, id: &MailboxId) -> Result<bool> {
    let found: Option<(Circle, EmailAddress)> =
        tx.opt("SELECT circle, address FROM mailboxes WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    Ok(found.is_none_or(|(circle, address)| {
        circle.is_deleted() || address.as_str().ends_with(CLOSED_ENDING)
    }))
}
