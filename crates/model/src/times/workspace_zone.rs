//! The time zone of a workspace: the one that was chosen, or that the office hours of its inboxes agree on; else UTC.

use base::error::{Error, Result};
use calendar::zone_named;
use db::Tx;

use crate::mailboxes::office_hours;

/// What holds where nothing else is known.
const UTC: &str = "UTC";

/// The name of the zone that holds, such as `Europe/Berlin`.
pub fn workspace_zone(tx: &mut Tx<'_>, ws: i64) -> Result<String> {
    let chosen = chosen_zone(tx, ws)?;
    match chosen.is_empty() {
        true => usual_zone(tx, ws),
        false => Ok(chosen),
    }
}

/// The zone that was chosen; empty where none was, and where a standby does not know the workspace yet.
pub fn chosen_zone(tx: &mut Tx<'_>, ws: i64) -> Result<String> {
    let found: Option<(String,)> = tx.opt("SELECT zone FROM workspaces WHERE ws = ?1", &[&ws])?;
    Ok(found.map(|(zone,)| zone).unwrap_or_default())
}

/// The zone that holds where none was chosen.
pub fn usual_zone(tx: &mut Tx<'_>, ws: i64) -> Result<String> {
    let agreed = office_hours::zone_of_team(tx, ws)?;
    Ok(agreed.filter(|zone| zone_named(zone).is_some()).unwrap_or_else(|| UTC.to_owned()))
}

/// Chooses the zone; an empty one takes the choice back.
pub fn choose_zone(tx: &mut Tx<'_>, ws: i64, zone: &str) -> Result<()> {
    if !zone.is_empty() && zone_named(zone).is_none() {
        return Err(Error::invalid("zone", "This is no time zone."));
    }
    tx.exec("UPDATE workspaces SET zone = ?2 WHERE ws = ?1", &[&ws, &zone])?;
    Ok(())
}
