//! How long a message can be stopped before it leaves: what people write for a time that they or their
//! workspace chose, what software wrote for a fixed one.

use base::error::{Error, Result};
use base::ids::UserId;
use base::limits::UNDO_CHOICES;
use db::Tx;

/// The seconds in which a person can stop what they wrote.
pub fn of_person(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<i64> {
    match own_choice(tx, ws, person)? {
        Some(seconds) => Ok(seconds),
        None => of_workspace(tx, ws),
    }
}

/// The seconds that hold for those who chose none.
pub fn of_workspace(tx: &mut Tx<'_>, ws: i64) -> Result<i64> {
    let (seconds,) = tx.one("SELECT undo_seconds FROM workspaces WHERE ws = ?1", &[&ws])?;
    Ok(seconds)
}

/// The seconds that a person chose for themselves.
pub fn own_choice(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Option<i64>> {
    let chosen: Option<(Option<i64>,)> =
        tx.opt("SELECT undo_seconds FROM users WHERE ws = ?1 AND id = ?2", &[&ws, person])?;
    Ok(chosen.and_then(|(seconds,)| seconds))
}

/// Refuses what is none of the choices.
pub fn check(seconds: i64) -> Result<i64> {
    match UNDO_CHOICES.contains(&seconds) {
        true => Ok(seconds),
        false => Err(Error::invalid("undo", "Choose one of the times.")),
    }
}
