//! Deleting an inbox or the whole workspace, and how long an inbox keeps closed conversations.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::MailboxId;
use base::limits::{DAY_MS, RESTRICTED_INBOXES};
use db::Tx;
use model::erasure::deletions::{self, DeletionCounts};
use model::erasure::retention::{self, KEPT_DAYS_LEAST, KEPT_DAYS_MOST};
use model::installation::audit_log::{self, Action};
use model::mailboxes::Mailbox;

use crate::inboxes::inbox_access::{end_webhooks, is_owner};

/// An inbox that can be deleted, and what goes with it.
#[derive(Clone, Debug)]
pub struct InboxDeletion {
    pub mailbox: Mailbox,
    pub counts: DeletionCounts,
    /// It belonged to somebody who was removed, and nobody can read it.
    pub is_closed: bool,
    /// Why it cannot be deleted now.
    pub obstacle: Option<String>,
}

impl InboxDeletion {
    /// What has to be typed to confirm it: the address, or the id where it has none any more.
    pub fn confirmation(&self) -> &str {
        if self.is_closed { self.mailbox.id.as_str() } else { self.mailbox.address.as_str() }
    }
}

/// An inbox with what would go with it, for whoever may delete it.
pub fn inbox_deletion(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<InboxDeletion> {
    let (mailbox, is_closed) = deletable(tx, cx, id)?;
    let counts = DeletionCounts::of_inbox(tx, cx, id)?;
    let obstacle = obstacle(tx, cx, &mailbox, &counts)?;
    Ok(InboxDeletion { mailbox, counts, is_closed, obstacle })
}

/// Deletes an inbox. Its mail stops and its address is free at once; a job erases what is in it.
pub fn delete_inbox(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    confirmation: &str,
) -> Result<DeletionCounts> {
    hold_team_inboxes(tx, cx)?;
    let deletion = inbox_deletion(tx, cx, id)?;
    if let Some(obstacle) = deletion.obstacle {
        return Err(Error::Conflict(obstacle));
    }
    if !confirmation.trim().eq_ignore_ascii_case(deletion.confirmation()) {
        let sentence = format!("Type {} to delete it.", deletion.confirmation());
        return Err(Error::invalid("confirmation", sentence));
    }
    end_webhooks(tx, cx, &deletion.mailbox.circle, "its inbox was deleted")?;
    if deletion.mailbox.circle.is_closed() {
        rules::forget_inbox(tx, cx.actor.ws, &deletion.mailbox.id)?;
    }
    deletions::begin_inbox(tx, cx, &deletion.mailbox, &deletion.counts)?;
    Ok(deletion.counts)
}

/// Locks the inboxes that everybody sees until the transaction ends. Of two deletions at once, one finds
/// the row that the other changed, and is tried again with what is left then.
fn hold_team_inboxes(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let lock = tx.pick("", " FOR UPDATE");
    let sql =
        format!("SELECT id FROM mailboxes WHERE ws = ?1 AND circle = 'team' ORDER BY id{lock}");
    let _: Vec<(MailboxId,)> = tx.all(&sql, &[&cx.actor.ws])?;
    Ok(())
}

/// An inbox that the actor may delete: an owner those of the team, also the ones for some that they do not
/// see, and those of people who were removed; everybody their own private ones. What belongs to another
/// person is theirs.
fn deletable(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<(Mailbox, bool)> {
    let found: Option<Mailbox> = tx.opt(
        &format!("SELECT {} FROM mailboxes WHERE ws = ?1 AND id = ?2", Mailbox::COLUMNS),
        &[&cx.actor.ws, id],
    )?;
    let mailbox = found.ok_or(Error::NotFound("inbox"))?;
    let is_closed = is_left_behind(tx, cx, &mailbox.circle)?;
    if mailbox.circle.is_shared() {
        let is_known = cx.actor.sees(&mailbox.circle) || is_owner(cx);
        return match (is_owner(cx), is_known) {
            (true, _) => Ok((mailbox, false)),
            (false, true) => Err(Error::Forbidden("Only an owner can delete an inbox.".into())),
            (false, false) => Err(Error::NotFound("inbox")),
        };
    }
    let is_own = mailbox.circle.person().is_some() && cx.actor.sees(&mailbox.circle);
    let is_given = is_closed && is_owner(cx);
    match is_own || is_given {
        true => Ok((mailbox, is_closed)),
        false => Err(Error::NotFound("inbox")),
    }
}

/// True for the circle of a person who was removed.
fn is_left_behind(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle) -> Result<bool> {
    let Some(person) = circle.person() else { return Ok(false) };
    let found: Option<(String,)> =
        tx.opt("SELECT id FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, &person])?;
    Ok(found.is_none())
}

/// The closed inboxes of people who were removed, for owners. Nobody can read them.
pub fn closed_inboxes(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<Mailbox>> {
    if !is_owner(cx) {
        return Ok(Vec::new());
    }
    Ok(tx.all(
        &format!(
            "SELECT {} FROM mailboxes WHERE ws = ?1 AND circle NOT IN ('team', 'sandbox', 'deleted')
               AND circle <> id AND NOT EXISTS (
                 SELECT 1 FROM users u WHERE u.ws = mailboxes.ws AND u.id = mailboxes.circle
             )
             ORDER BY name, id LIMIT ?2",
            Mailbox::COLUMNS
        ),
        &[&cx.actor.ws, &RESTRICTED_INBOXES],
    )?)
}

/// The inboxes whose conversations are being erased, by name.
pub fn deletions_under_way(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<String>> {
    let (first, second) = cx.actor.circles.pair();
    let found: Vec<(String,)> = tx.all(
        "SELECT name FROM deletions WHERE ws = ?1 AND audience IN (?2, ?3)
         ORDER BY begun_at, mailbox LIMIT ?4",
        &[&cx.actor.ws, first, second, &RESTRICTED_INBOXES],
    )?;
    Ok(found.into_iter().map(|(name,)| name).collect())
}

/// Why an inbox cannot be deleted now: guests rely on it, or no inbox would be left.
fn obstacle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    counts: &DeletionCounts,
) -> Result<Option<String>> {
    let (ws, id) = (cx.actor.ws, &mailbox.id);
    if mailbox.circle.is_team() {
        let other: Option<(String,)> = tx.opt(
            "SELECT id FROM mailboxes WHERE ws = ?1 AND circle = 'team' AND id <> ?2 LIMIT 1",
            &[&ws, id],
        )?;
        if other.is_none() {
            return Ok(Some(LAST_INBOX.into()));
        }
    }
    let types: Vec<(String,)> = tx.all(
        "SELECT name FROM booking_types WHERE ws = ?1 AND mailbox = ?2 ORDER BY name",
        &[&ws, id],
    )?;
    if !types.is_empty() {
        let names: Vec<String> = types.into_iter().map(|(name,)| name).collect();
        return Ok(Some(format!(
            "Guests of these booking types are written to from this inbox: {}. Choose another inbox \
             for them first.",
            names.join(", ")
        )));
    }
    Ok(match counts.appointments {
        0 => None,
        1 => Some("There is an appointment ahead in it. Move or cancel it first.".into()),
        many => {
            Some(format!("There are {many} appointments ahead in it. Move or cancel them first."))
        }
    })
}

const LAST_INBOX: &str = "This is the only inbox that everybody sees. Add another one first, or delete \
                          the workspace.";

/// What goes with the workspace, for an owner.
pub fn workspace_deletion(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<DeletionCounts> {
    match is_owner(cx) {
        true => DeletionCounts::of_workspace(tx, cx),
        false => Err(Error::Forbidden("Only an owner can delete the workspace.".into())),
    }
}

/// Deletes the workspace: everybody is signed out and nothing works any more at once; a job erases it.
pub fn delete_workspace(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    confirmation: &str,
) -> Result<DeletionCounts> {
    let counts = workspace_deletion(tx, cx)?;
    let (name, slug): (String, String) =
        tx.one("SELECT name, slug FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    let typed = confirmation.trim();
    if typed != name.trim() && typed != slug {
        let sentence = format!("Type {name} to delete it.");
        return Err(Error::invalid("confirmation", sentence));
    }
    deletions::begin_workspace(tx, cx, &counts)?;
    Ok(counts)
}

/// How long an inbox keeps closed conversations, for whoever may change it.
#[derive(Clone, Debug)]
pub struct InboxRetention {
    pub mailbox: Mailbox,
    /// `None` where it keeps them for good.
    pub days: Option<i64>,
}

pub fn inbox_retention(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<InboxRetention> {
    let (mailbox, _) = deletable(tx, cx, id)?;
    let days = retention::kept_days(tx, cx.actor.ws, id)?;
    Ok(InboxRetention { mailbox, days })
}

/// How many conversations would go into the trash at once if the inbox kept them so long.
pub fn count_untouched(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId, days: i64) -> Result<i64> {
    deletable(tx, cx, id)?;
    check_days(days)?;
    retention::untouched_since(tx, cx.actor.ws, id, cx.now - days * DAY_MS)
}

/// Sets how long an inbox keeps closed conversations; `None` for good.
pub fn set_retention(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    days: Option<i64>,
) -> Result<()> {
    let (mailbox, _) = deletable(tx, cx, id)?;
    days.map_or(Ok(()), check_days)?;
    tx.exec(
        "UPDATE mailboxes SET kept_days = ?3, retention_at = ?4 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &days, &days.map(|_| cx.now)],
    )?;
    tx.wake(Queue::Retention);
    let detail = match days {
        Some(days) => format!("closed conversations go after {days} days"),
        None => "closed conversations are kept for good".into(),
    };
    audit_log::record(tx, cx, &mailbox.circle, Action::RetentionChanged, &mailbox.name, &detail)
}

fn check_days(days: i64) -> Result<()> {
    match (KEPT_DAYS_LEAST..=KEPT_DAYS_MOST).contains(&days) {
        true => Ok(()),
        false => Err(Error::invalid(
            "days",
            format!("must be {KEPT_DAYS_LEAST} to {KEPT_DAYS_MOST} days"),
        )),
    }
}

/// Whether the actor may delete an inbox that they see: an owner, or whose own it is.
pub fn may_delete(cx: &Cx<'_>, mailbox: &Mailbox) -> bool {
    let is_person = matches!(cx.actor.who, Principal::Person { .. } | Principal::System);
    is_person && (mailbox.circle.person().is_some() || is_owner(cx))
}
