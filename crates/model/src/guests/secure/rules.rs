//! When a message is secure, for how long, and who may send one.

use base::actor::{Principal, Role};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MailboxId;
use base::string_enum::string_enum;
use db::Tx;

use crate::conversations::Conversation;
use crate::mailboxes;

string_enum! {
    /// Who may choose to send a secure message. An answer to a secure message is always allowed.
    SecureSenders { Everybody = "everybody", Admins = "admins" }
}

db::row! {
    /// A workspace's settings for secure messages.
    #[derive(Clone, Debug)]
    pub struct SecureRules from "workspaces" {
        /// How long a page is open, in days, unless the writer says otherwise.
        pub days: i64 = "workspaces.secure_days",
        pub days_max: i64 = "workspaces.secure_days_max",
        pub senders: SecureSenders = "workspaces.secure_senders",
    }
}

/// What the writer of a message asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct SecureSendOptions {
    /// `None` leaves it to the conversation and the inbox.
    pub secure: Option<bool>,
    pub days: Option<i64>,
}

pub fn rules_of(tx: &mut Tx<'_>, ws: i64) -> Result<SecureRules> {
    Ok(tx.one(&format!("SELECT {} FROM workspaces WHERE ws = ?1", SecureRules::COLUMNS), &[&ws])?)
}

/// Why an ordinary message is refused.
pub const ALWAYS_SECURE: &str = "this inbox sends protected messages only";

/// For how many days the page of the next message is open; `None` for an ordinary message. After the
/// customer's answer on a page, and in an inbox that says so, a message is secure by itself.
pub fn days_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    wish: SecureSendOptions,
) -> Result<Option<i64>> {
    let always = is_always_secure(tx, cx.actor.ws, &conversation.mailbox)?;
    if always && wish.secure == Some(false) {
        return Err(Error::invalid("secure", ALWAYS_SECURE));
    }
    let by_itself = always || conversation.secure_answer;
    if !wish.secure.unwrap_or(by_itself) {
        return Ok(None);
    }
    let rules = rules_of(tx, cx.actor.ws)?;
    if !by_itself && !rules.allow(cx) {
        let sentence = "Only owners and admins send protected messages here.";
        return Err(Error::Forbidden(sentence.into()));
    }
    let days = wish.days.unwrap_or(rules.days.min(rules.days_max));
    if days > rules.days_max {
        let sentence = format!("must be at most {} in this workspace", rules.days_max);
        return Err(Error::invalid("secureDays", sentence));
    }
    Ok(Some(days))
}

/// True for an inbox that sends secure messages only.
pub fn is_always_secure(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<bool> {
    Ok(mailboxes::writing_of(tx, ws, mailbox)?.always_secure)
}

/// True for somebody who may send secure messages where nothing demands them.
pub fn may_protect(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    // Whoever administers may, whatever the rules say.
    Ok(administers(cx) || rules_of(tx, cx.actor.ws)?.allow(cx))
}

fn administers(cx: &Cx<'_>) -> bool {
    matches!(
        cx.actor.who,
        Principal::Person { role: Role::Owner | Role::Admin, .. } | Principal::System
    )
}

impl SecureRules {
    fn allow(&self, cx: &Cx<'_>) -> bool {
        administers(cx) || self.senders != SecureSenders::Admins
    }
}
