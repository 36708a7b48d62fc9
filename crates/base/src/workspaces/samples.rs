//! Workspaces with made-up mail, which people look around in. Nothing leaves them: what would reach
//! the outside is refused where it is set up, and what is sent counts as sent and goes nowhere.

use db::Tx;

use crate::error::{Error, Result};

/// `workspaces.sample_of` of a sample that was made before there was any workspace.
pub const SAMPLE_OF_NONE: i64 = 0;

/// The same of those that a public demo makes for its visitors.
pub const SAMPLE_OF_DEMO: i64 = -1;

const NOT_HERE: &str =
    "Nothing leaves a workspace with sample mail, so this cannot be set up in it.";

/// True for a workspace with made-up mail.
pub fn is_sample(tx: &mut Tx<'_>, ws: i64) -> Result<bool> {
    let found: Option<(bool,)> =
        tx.opt("SELECT sample_of IS NOT NULL FROM workspaces WHERE ws = ?1", &[&ws])?;
    Ok(found.is_some_and(|(is_sample,)| is_sample))
}

/// Refuses what would reach the outside.
pub fn refuse_in_sample(tx: &mut Tx<'_>, ws: i64) -> Result<()> {
    if is_sample(tx, ws)? { Err(Error::Forbidden(NOT_HERE.into())) } else { Ok(()) }
}
