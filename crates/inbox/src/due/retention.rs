use db::Tx;

use super::Worker;
use crate::error::Result;
use crate::ids::EventId;
use crate::limits::EVENTS_KEPT_MS;

/// Old events are looked for once the oldest is this much older than it may be, so that they go
/// many at a time: 30 days and an hour.
pub(super) const EARLIEST: &str = "SELECT min(created_at) + 2595600000 FROM events";
/// Events forgotten in one transaction.
const AT_ONCE: i64 = 500;

impl Worker {
    /// Forgets events older than 30 days, with their deliveries and every try; answers how many.
    pub(super) async fn forget_old_events(&self) -> Result<usize> {
        let before = self.app.clock.now() - EVENTS_KEPT_MS;
        self.app.store.write(move |tx| forget(tx, before)).await
    }
}

fn forget(tx: &mut Tx<'_>, before: i64) -> Result<usize> {
    let old: Vec<(i64, EventId)> = tx.all(
        "SELECT ws, id FROM events WHERE created_at < ?1 ORDER BY created_at LIMIT ?2",
        &[&before, &AT_ONCE],
    )?;
    for (ws, event) in &old {
        let webhooks: Vec<(String,)> = tx.all("SELECT id FROM webhooks WHERE ws = ?1", &[ws])?;
        for (webhook,) in &webhooks {
            for table in ["tries", "deliveries"] {
                tx.exec(
                    &format!("DELETE FROM {table} WHERE ws = ?1 AND webhook = ?2 AND event = ?3"),
                    &[ws, webhook, event],
                )?;
            }
        }
        tx.exec("DELETE FROM events WHERE ws = ?1 AND id = ?2", &[ws, event])?;
    }
    Ok(old.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MINUTE_MS;

    #[test]
    fn old_events_are_looked_for_when_there_are_some_to_forget() {
        let after = EVENTS_KEPT_MS + 60 * MINUTE_MS;
        assert!(EARLIEST.contains(&format!("+ {after} ")), "{EARLIEST}");
    }
}
