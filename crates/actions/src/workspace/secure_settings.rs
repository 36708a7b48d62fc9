//! A workspace's settings for secure messages.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MailboxId;
use base::limits::SECURE_DAYS_MAX;
use db::Tx;
use model::guests::secure::{self, SecureRules, SecureSenders};
use model::installation::audit_log::{self, Action};
use model::mailboxes::{self, Mailbox};

/// What owners and admins set. Inboxes that the actor does not see stay as they are.
#[derive(Clone, Debug)]
pub struct SecureSettingsInput {
    pub days: i64,
    pub days_max: i64,
    pub senders: SecureSenders,
    /// The inboxes that send secure messages only.
    pub always: Vec<MailboxId>,
}

pub fn secure_rules(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<SecureRules> {
    secure::rules_of(tx, cx.actor.ws)
}

/// The inboxes that the actor sees, and whether they send secure messages only.
pub fn secure_inboxes(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<(Mailbox, bool)>> {
    let mut inboxes = Vec::new();
    for inbox in mailboxes::all_seen_by(tx, cx.actor)? {
        let always = secure::is_always_secure(tx, cx.actor.ws, &inbox.id)?;
        inboxes.push((inbox, always));
    }
    Ok(inboxes)
}

pub fn set_secure_rules(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &SecureSettingsInput) -> Result<()> {
    cx.actor.must_administer()?;
    if !(1..=SECURE_DAYS_MAX).contains(&input.days_max) {
        let sentence = format!("The most can be 1 to {SECURE_DAYS_MAX} days.");
        return Err(Error::invalid("daysMax", sentence));
    }
    if !(1..=input.days_max).contains(&input.days) {
        let sentence = format!("Choose 1 to {} days.", input.days_max);
        return Err(Error::invalid("days", sentence));
    }
    tx.exec(
        "UPDATE workspaces SET secure_days = ?2, secure_days_max = ?3, secure_senders = ?4
         WHERE ws = ?1",
        &[&cx.actor.ws, &input.days, &input.days_max, &input.senders],
    )?;
    for inbox in mailboxes::all_seen_by(tx, cx.actor)? {
        let always = input.always.contains(&inbox.id);
        tx.exec(
            "UPDATE mailboxes SET always_secure = ?3 WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, &inbox.id, &always],
        )?;
    }
    let detail = format!("{} of at most {} days", input.days, input.days_max);
    let action = Action::SecureRulesChanged;
    audit_log::record(tx, cx, &Circle::team(), action, "protected messages", &detail)
}
