//! Figures of the whole installation, for whoever watches it.

use base::error::Result;
use db::Tx;

/// Calendars of hosts that cannot be read at present.
pub fn failing_calendars(tx: &mut Tx<'_>) -> Result<i64> {
    let (failing,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM busy_calendars WHERE failing_since IS NOT NULL",
        &[],
    )?;
    Ok(failing)
}
