//! Calendars are read once more just before a booking: the times that a page showed may be minutes old.
//! The job that reads calendars does it, on whichever server it runs; the booking waits for it, outside
//! of any transaction, and no longer than a moment. If it cannot be read, what is known counts.

use std::time::Duration;

use base::app::App;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{BookingTypeId, BusyCalendarId};
use base::limits::{BUSY_CALENDARS, CALENDAR_FRESH_MS, CALENDAR_WAIT_MS};
use db::Tx;

/// Calendars of all hosts of a type that are waited for.
const CALENDARS: i64 = BUSY_CALENDARS * 10;
/// How often it is looked whether they have been read.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Has the calendars of a type's hosts read again, unless they were read a moment ago, and waits
/// for that. One that could not be read last time is not waited for.
pub async fn freshen_calendars(app: &App, ws: i64, kind: &BookingTypeId) -> Result<()> {
    let (asked_at, kind) = (app.clock.now(), kind.clone());
    let old_before = asked_at - CALENDAR_FRESH_MS;
    let old = app.store.read(move |tx| old_calendars(tx, ws, &kind, old_before)).await?;
    if old.is_empty() {
        return Ok(());
    }
    let ids = old.clone();
    app.store.write_relaxed(move |tx| ask_again(tx, ws, &ids, asked_at)).await?;
    let reading = async {
        loop {
            let ids = old.clone();
            let read = app.store.read(move |tx| are_read(tx, ws, &ids, asked_at)).await;
            if !matches!(read, Ok(false)) {
                return read.map(drop);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let longest = Duration::from_millis(CALENDAR_WAIT_MS);
    tokio::time::timeout(longest, reading).await.unwrap_or(Ok(()))
}

fn old_calendars(
    tx: &mut Tx<'_>,
    ws: i64,
    kind: &BookingTypeId,
    before: i64,
) -> Result<Vec<BusyCalendarId>> {
    let rows: Vec<(BusyCalendarId,)> = tx.all(
        "SELECT c.id FROM booking_hosts h
         JOIN busy_calendars c ON c.ws = h.ws AND c.person = h.person
         WHERE h.ws = ?1 AND h.type = ?2 AND c.failing_since IS NULL
           AND coalesce(c.fetched_at, 0) < ?3
         LIMIT ?4",
        &[&ws, kind, &before, &CALENDARS],
    )?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

fn ask_again(tx: &mut Tx<'_>, ws: i64, ids: &[BusyCalendarId], now: i64) -> Result<()> {
    for id in ids {
        tx.exec(
            "UPDATE busy_calendars SET next_fetch_at = ?3 WHERE ws = ?1 AND id = ?2",
            &[&ws, id, &now],
        )?;
    }
    tx.wake(Queue::BusyCalendars);
    Ok(())
}

/// Each of them was read, could not be read, or is gone.
fn are_read(tx: &mut Tx<'_>, ws: i64, ids: &[BusyCalendarId], since: i64) -> Result<bool> {
    for id in ids {
        let waiting: Option<(BusyCalendarId,)> = tx.opt(
            "SELECT id FROM busy_calendars
             WHERE ws = ?1 AND id = ?2 AND failing_since IS NULL AND coalesce(fetched_at, 0) < ?3",
            &[&ws, id, &since],
        )?;
        if waiting.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
