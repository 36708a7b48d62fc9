//! Whether mail to an inbox's address with a plus tag arrives. A provider that does not deliver tags
//! would bounce every customer's reply, so a mailbox elsewhere gets them only where a test mail to
//! itself came back, or somebody said so. Mail that this server receives itself has them.

use base::app::Cx;
use base::error::Result;
use base::ids::MailboxId;
use base::string_enum::string_enum;
use db::Tx;

string_enum! {
    /// How it is known whether plus tags of an inbox arrive.
    PlusTagState {
        Untested = "untested",
        Sent = "sent",
        Works = "works",
        Refused = "refused",
        SaidToWork = "said-to-work",
        SaidNotToWork = "said-not-to-work",
    }
}

impl PlusTagState {
    /// True where somebody decided instead of a test.
    fn is_said(self) -> bool {
        matches!(self, PlusTagState::SaidToWork | PlusTagState::SaidNotToWork)
    }
}

db::row! {
    /// What is known about an inbox's plus tags.
    #[derive(Clone, Debug)]
    pub struct PlusTags from "mailboxes" {
        /// Replies and bounces go to addresses with a tag.
        pub used: bool = "mailboxes.plus_tags",
        pub state: PlusTagState = "mailboxes.plus_tag_state",
        /// When the last test mail left.
        pub tested_at: Option<i64> = "mailboxes.plus_tag_tested_at",
    }
}

pub fn load(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<Option<PlusTags>> {
    Ok(tx.opt(
        &format!("SELECT {} FROM mailboxes WHERE ws = ?1 AND id = ?2", PlusTags::COLUMNS),
        &[&ws, mailbox],
    )?)
}

/// Sets them as somebody says; false where there is no such inbox.
pub fn decide(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId, on: bool) -> Result<bool> {
    let state = if on { PlusTagState::SaidToWork } else { PlusTagState::SaidNotToWork };
    set(tx, ws, mailbox, on, state)
}

/// Mail of an inbox is fetched from another mailbox from now on: no tags until they are known to
/// arrive there.
pub fn begin_fetching(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<()> {
    set(tx, ws, mailbox, false, PlusTagState::Untested)?;
    Ok(())
}

/// Mail of an inbox comes to this server again, unless somebody decided about its tags.
pub fn end_fetching(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<()> {
    if load(tx, ws, mailbox)?.is_some_and(|tags| !tags.state.is_said()) {
        set(tx, ws, mailbox, true, PlusTagState::Untested)?;
    }
    Ok(())
}

/// A test mail with this id leaves now. No tags are used until it comes back.
pub fn begin_test(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId, test: &str) -> Result<()> {
    tx.exec(
        "UPDATE mailboxes
         SET plus_tags = FALSE, plus_tag_state = ?3, plus_tag_test = ?4, plus_tag_tested_at = ?5
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, mailbox, &PlusTagState::Sent, &test, &cx.now],
    )?;
    Ok(())
}

/// Ends a test: the mail with this id came back or was refused. False for a test that is over or
/// was another inbox's; what somebody said meanwhile stays.
pub fn end_test(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    test: &str,
    arrived: bool,
) -> Result<bool> {
    let state = if arrived { PlusTagState::Works } else { PlusTagState::Refused };
    let ended = tx.exec(
        "UPDATE mailboxes SET plus_tags = ?4, plus_tag_state = ?5, plus_tag_test = ''
         WHERE ws = ?1 AND id = ?2 AND plus_tag_test = ?3 AND plus_tag_state = ?6",
        &[&ws, mailbox, &test, &arrived, &state, &PlusTagState::Sent],
    )?;
    Ok(ended > 0)
}

/// Gives up a test whose mail did not leave.
pub fn cancel_test(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId, test: &str) -> Result<()> {
    tx.exec(
        "UPDATE mailboxes SET plus_tag_state = ?4, plus_tag_test = ''
         WHERE ws = ?1 AND id = ?2 AND plus_tag_test = ?3 AND plus_tag_state = ?5",
        &[&ws, mailbox, &test, &PlusTagState::Untested, &PlusTagState::Sent],
    )?;
    Ok(())
}

fn set(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    on: bool,
    state: PlusTagState,
) -> Result<bool> {
    let set = tx.exec(
        "UPDATE mailboxes SET plus_tags = ?3, plus_tag_state = ?4, plus_tag_test = ''
         WHERE ws = ?1 AND id = ?2",
        &[&ws, mailbox, &on, &state],
    )?;
    Ok(set > 0)
}
