//! Workspaces that rest: nobody works with a suspended one, and nothing leaves a quiet one. Whatever acts for a
//! workspace asks here: sign-ins and keys with the row they are read with, pages of guests by
//! [`Actor::for_guest`], mail that comes in by [`is_suspended`], and background jobs by the conditions below.
//! A row of `resting_workspaces` is the whole state, so that beginning and ending it changes nothing else.

use db::Tx;

use crate::actor::{Actor, Circle};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;

/// The condition of rows that background jobs work on: their workspace is not suspended.
#[macro_export]
macro_rules! unless_suspended {
    () => {
        "ws NOT IN (SELECT ws FROM resting_workspaces WHERE suspended_at IS NOT NULL)"
    };
}

/// The same for jobs that reach outside, which rest for a quiet workspace too.
#[macro_export]
macro_rules! unless_resting {
    () => {
        "ws NOT IN (SELECT ws FROM resting_workspaces)"
    };
}

/// Refuses who is signed in to a suspended workspace, or has a key of it. `reason` is what was read with them:
/// what whoever suspended it says, or nothing where it is not suspended.
pub fn refuse_suspended(reason: Option<String>) -> Result<()> {
    reason.map_or(Ok(()), |reason| Err(Error::Suspended { reason }))
}

db::row! {
    /// How a workspace rests.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RestingWorkspace from "resting_workspaces" {
        pub ws: i64,
        pub suspended_at: Option<i64>,
        /// What people read on every page of a suspended workspace; may be empty.
        pub reason: String,
        pub quiet_at: Option<i64>,
    }
}

/// Every workspace that rests. For commands and figures.
pub fn list_resting(tx: &mut Tx<'_>) -> Result<Vec<RestingWorkspace>> {
    let sql = format!("SELECT {} FROM resting_workspaces ORDER BY ws", RestingWorkspace::COLUMNS);
    Ok(tx.all(&sql, &[])?)
}

/// How a workspace rests; `None` where it does not.
pub fn resting(tx: &mut Tx<'_>, ws: i64) -> Result<Option<RestingWorkspace>> {
    let sql = format!("SELECT {} FROM resting_workspaces WHERE ws = ?1", RestingWorkspace::COLUMNS);
    Ok(tx.opt(&sql, &[&ws])?)
}

/// True for a suspended workspace.
pub fn is_suspended(tx: &mut Tx<'_>, ws: i64) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT ws FROM resting_workspaces WHERE ws = ?1 AND suspended_at IS NOT NULL",
        &[&ws],
    )?;
    Ok(found.is_some())
}

/// Refuses guests and services of a suspended workspace. They are not told why.
pub fn must_be_open(tx: &mut Tx<'_>, ws: i64) -> Result<()> {
    if is_suspended(tx, ws)? { Err(Error::ClosedForNow) } else { Ok(()) }
}

impl Actor {
    /// Mailroom at work for a guest of a page, which is closed while its workspace is suspended.
    pub fn for_guest(
        tx: &mut Tx<'_>,
        ws: i64,
        workspace: WorkspaceId,
        circle: Circle,
    ) -> Result<Actor> {
        must_be_open(tx, ws)?;
        Ok(Actor::system(ws, workspace, circle))
    }
}

/// The address of an inbox in a quiet copy of a workspace: nobody can write to it, and it tells which one it was.
pub fn copied_address(address: &str, slug: &str) -> String {
    match address.strip_prefix("sandbox@").filter(|domain| domain.ends_with(".test")) {
        Some(_) => format!("sandbox@{slug}.test"),
        None => format!("{address}{}", copied_ending(slug)),
    }
}

/// What these addresses end in.
pub fn copied_ending(slug: &str) -> String {
    format!(".{slug}.invalid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_copy_tells_which_one_it_was() {
        assert_eq!(copied_address("a@acme.example", "trial"), "a@acme.example.trial.invalid");
        assert_eq!(copied_address("sandbox@acme.test", "trial"), "sandbox@trial.test");
    }
}
