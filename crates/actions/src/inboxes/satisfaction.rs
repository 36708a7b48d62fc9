//! Whether the customers of an inbox are asked how a closed conversation was, as people see and set it.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MailboxId;
use db::Tx;
use model::guests::satisfaction::{self, SatisfactionMode};
use model::installation::audit_log::{self, Action};
use model::mailboxes::{self, Mailbox};

use crate::inboxes::setup;

/// The inboxes that the actor sees, and whether they ask.
pub fn list_satisfaction(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<(Mailbox, SatisfactionMode)>> {
    let mut inboxes = Vec::new();
    for inbox in mailboxes::all_seen_by(tx, cx.actor)? {
        let mode = satisfaction::mode_of(tx, cx.actor.ws, &inbox.id)?;
        inboxes.push((inbox, mode));
    }
    Ok(inboxes)
}

/// Sets whether an inbox asks. What is closed from now on is asked about.
pub fn set_satisfaction(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    mode: SatisfactionMode,
) -> Result<()> {
    cx.actor.must_administer()?;
    let inbox = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    save(tx, cx, &inbox, mode)
}

/// Says, and sets where a mode is given, whether the inbox with an address asks. Whoever runs the server
/// knows the address of every inbox.
pub fn set_satisfaction_at(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    address: &str,
    mode: Option<SatisfactionMode>,
) -> Result<SatisfactionMode> {
    let id = setup::mailbox_at(tx, cx, address)?;
    if let Some(mode) = mode {
        let inbox: Mailbox = tx.one(
            &format!("SELECT {} FROM mailboxes WHERE ws = ?1 AND id = ?2", Mailbox::COLUMNS),
            &[&cx.actor.ws, &id],
        )?;
        save(tx, cx, &inbox, mode)?;
    }
    satisfaction::mode_of(tx, cx.actor.ws, &id)
}

fn save(tx: &mut Tx<'_>, cx: &Cx<'_>, inbox: &Mailbox, mode: SatisfactionMode) -> Result<()> {
    satisfaction::set_mode(tx, cx.actor.ws, &inbox.id, mode)?;
    let (action, address) = (Action::SatisfactionChanged, inbox.address.as_str());
    audit_log::record(tx, cx, &inbox.circle, action, address, mode.as_str())
}
