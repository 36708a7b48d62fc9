//! What a new workspace has done and has left to do until its team answers mail.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MailboxId};
use base::time::Moment;
use db::Tx;
use model::mailboxes;

/// The state of the first steps, for owners and admins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FirstSteps {
    pub created_at: i64,
    /// The first inbox of the team, with its address.
    pub inbox: Option<(MailboxId, String)>,
    /// Mail of an inbox is fetched from a mailbox.
    pub fetches: bool,
    /// Why the first fetched inbox fails, if it does.
    pub fetch_error: Option<String>,
    /// The newest mail that arrived.
    pub arrived: Option<ArrivedMail>,
    pub people: i64,
    pub has_key: bool,
    /// Somebody put the page away.
    pub is_over: bool,
}

db::row! {
    /// A conversation that began with a mail.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct ArrivedMail from "c" {
        pub id: ConversationId,
        pub subject: String,
        pub contact_email: Option<String>,
        pub at: i64 = "c.last_message_at",
    }
}

pub fn first_steps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<FirstSteps> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    let (created_at, over): (i64, Option<Moment>) =
        tx.one("SELECT created_at, first_steps_over_at FROM workspaces WHERE ws = ?1", &[&ws])?;
    let first: Option<(MailboxId, String)> = tx.opt(
        "SELECT id, address FROM mailboxes WHERE ws = ?1 AND circle = 'team'
         ORDER BY created_at, id LIMIT 1",
        &[&ws],
    )?;
    let seen = mailboxes::all_seen_by(tx, cx.actor)?;
    let accounts: Vec<(MailboxId, Option<String>)> = tx.all(
        "SELECT mailbox, last_error FROM imap_accounts WHERE ws = ?1 ORDER BY created_at",
        &[&ws],
    )?;
    let own = |(id, _): &&(MailboxId, Option<String>)| seen.iter().any(|inbox| inbox.id == *id);
    let fetched = accounts.iter().find(own);
    let (people,): (i64,) =
        tx.one("SELECT CAST(count(*) AS BIGINT) FROM users WHERE ws = ?1", &[&ws])?;
    let key: Option<(String,)> =
        tx.opt("SELECT id FROM agents WHERE ws = ?1 AND revoked_at IS NULL LIMIT 1", &[&ws])?;
    Ok(FirstSteps {
        created_at,
        inbox: first,
        fetches: fetched.is_some(),
        fetch_error: fetched.and_then(|(_, error)| error.clone()),
        arrived: newest(tx, cx)?,
        people,
        has_key: key.is_some(),
        is_over: over.is_some(),
    })
}

/// The newest open conversation of the team: the first mail of a new workspace is one.
fn newest(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<ArrivedMail>> {
    for view in ["open", "leaving", "waiting", "closed"] {
        let found: Option<ArrivedMail> = tx.opt(
            &format!(
                "SELECT {} FROM conversations c
                 WHERE c.ws = ?1 AND c.circle = 'team' AND c.view = ?2
                 ORDER BY c.last_message_at DESC, c.id DESC LIMIT 1",
                ArrivedMail::COLUMNS
            ),
            &[&cx.actor.ws, &view],
        )?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Puts the page of first steps away, for everybody.
pub fn end_first_steps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    cx.actor.must_administer()?;
    tx.exec(
        "UPDATE workspaces SET first_steps_over_at = coalesce(first_steps_over_at, ?2) WHERE ws = ?1",
        &[&cx.actor.ws, &cx.now],
    )?;
    Ok(())
}
