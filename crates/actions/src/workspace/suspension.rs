//! Suspending a workspace and letting it go on, for whoever runs the service. Nothing of its data is touched: see
//! `base::workspaces::resting`.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::limits::SUSPENSION_REASON_CHARS;
use base::workspaces::resting::{self, copied_ending};
use db::Tx;
use model::installation::audit_log::{self, Action};

use crate::workspace::samples::take_sample_turn;

/// Suspends the workspace and its sample: people read the reason on every page, keys are refused, mail that comes in is
/// put off, and nothing leaves. Once more with another reason changes that alone.
pub fn suspend(tx: &mut Tx<'_>, cx: &Cx<'_>, reason: &str) -> Result<()> {
    must_operate(cx)?;
    let reason = reason.trim();
    if reason.chars().count() > SUSPENSION_REASON_CHARS || reason.chars().any(char::is_control) {
        let sentence =
            format!("A reason is one line of at most {SUSPENSION_REASON_CHARS} characters.");
        return Err(Error::invalid("reason", sentence));
    }
    take_sample_turn(tx, cx.actor.ws)?;
    for ws in with_samples(tx, cx.actor.ws)? {
        tx.exec(
            "INSERT INTO resting_workspaces (ws, suspended_at, reason) VALUES (?1, ?2, ?3)
             ON CONFLICT (ws) DO UPDATE SET reason = excluded.reason,
                 suspended_at = coalesce(resting_workspaces.suspended_at, excluded.suspended_at)",
            &[&ws, &cx.now, &reason],
        )?;
    }
    tx.wake(Queue::Pages);
    audit_log::record(tx, cx, &Circle::team(), Action::WorkspaceSuspended, reason, "")
}

/// Lets a suspended workspace and its sample go on where they stood. One that was quiet before is quiet again.
pub fn resume(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    must_operate(cx)?;
    if !resting::is_suspended(tx, cx.actor.ws)? {
        return Err(Error::Conflict("This workspace is not suspended.".into()));
    }
    for ws in with_samples(tx, cx.actor.ws)? {
        tx.exec(
            "UPDATE resting_workspaces SET suspended_at = NULL, reason = ''
             WHERE ws = ?1 AND suspended_at IS NOT NULL",
            &[&ws],
        )?;
        forget_awake(tx, ws)?;
    }
    wake_all(tx);
    audit_log::record(tx, cx, &Circle::team(), Action::WorkspaceResumed, "", "")
}

/// Lets mail, webhooks and notices of a quiet copy leave from now on.
pub fn end_quiet(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    must_operate(cx)?;
    let ended = tx.exec(
        "UPDATE resting_workspaces SET quiet_at = NULL WHERE ws = ?1 AND quiet_at IS NOT NULL",
        &[&cx.actor.ws],
    )?;
    if ended == 0 {
        return Err(Error::Conflict("This workspace is not quiet.".into()));
    }
    take_over_addresses(tx, cx.actor.ws)?;
    forget_awake(tx, cx.actor.ws)?;
    wake_all(tx);
    audit_log::record(tx, cx, &Circle::team(), Action::WorkspaceResumed, "", "it was quiet")
}

/// Gives the inboxes of a copy the addresses that they had. They have to be free by now.
fn take_over_addresses(tx: &mut Tx<'_>, ws: i64) -> Result<()> {
    let (slug,): (String,) = tx.one("SELECT slug FROM workspaces WHERE ws = ?1", &[&ws])?;
    let ending = copied_ending(&slug);
    let inboxes: Vec<(String, String)> = tx.all(
        "SELECT id, address FROM mailboxes WHERE ws = ?1 AND circle <> 'deleted' ORDER BY id",
        &[&ws],
    )?;
    for (id, address) in inboxes {
        let Some(original) = address.strip_suffix(&ending) else { continue };
        let taken: Option<(i64,)> =
            tx.opt("SELECT ws FROM mailboxes WHERE address = ?1", &[&original])?;
        if taken.is_some() {
            return Err(Error::Conflict(format!(
                "{original} is still an inbox of another workspace. Delete that workspace or inbox first."
            )));
        }
        tx.exec(
            "UPDATE mailboxes SET address = ?3 WHERE ws = ?1 AND id = ?2",
            &[&ws, &id, &original],
        )?;
    }
    Ok(())
}

/// The workspace, and the samples that were made in it.
fn with_samples(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<i64>> {
    let samples: Vec<(i64,)> = tx.all(
        "SELECT ws FROM workspaces WHERE sample_of = ?1 AND deleted_at IS NULL ORDER BY ws",
        &[&ws],
    )?;
    Ok(std::iter::once(ws).chain(samples.into_iter().map(|(sample,)| sample)).collect())
}

fn forget_awake(tx: &mut Tx<'_>, ws: i64) -> Result<()> {
    tx.exec(
        "DELETE FROM resting_workspaces
         WHERE ws = ?1 AND suspended_at IS NULL AND quiet_at IS NULL",
        &[&ws],
    )?;
    Ok(())
}

/// Everything that fell due meanwhile is looked for at once.
fn wake_all(tx: &mut Tx<'_>) {
    for queue in Queue::NAMES.iter().filter_map(|name| Queue::parse(name)) {
        tx.wake(queue);
    }
}

/// Refuses everybody but the command line.
pub(super) fn must_operate(cx: &Cx<'_>) -> Result<()> {
    match cx.actor.who {
        Principal::System => Ok(()),
        _ => Err(Error::Forbidden("Only whoever runs this service can do this.".into())),
    }
}
