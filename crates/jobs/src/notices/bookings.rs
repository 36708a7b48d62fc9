//! Bookings that fall due: held ones whose guest gave no code, and reminders.

use base::actor::Circle;
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::future::BoxFuture;
use base::ids::BookingId;
use base::queue::Queue;
use bookings::{BookingStatus, booking, mail, types};
use db::Tx;

use crate::runs::failures::{JobRevival, JobRule, notify_owners, system};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Bookings looked at in one round.
const AT_ONCE: i64 = 50;

const EXPIRED: &str =
    "SELECT ws, id FROM bookings WHERE holds_until <= ?1 ORDER BY holds_until LIMIT ?2";

/// The due time is the end of the hold: moving it would hold a time that others can have already.
pub(crate) const HOLD_RULE: JobRule = JobRule {
    queue: Queue::BookingHolds,
    put_off: None,
    stop: "DELETE FROM bookings WHERE ws = ?1 AND id = ?2 AND status = 'held'",
    revival: JobRevival::Never,
    report: notify_owners,
};

const TO_REMIND: &str =
    "SELECT ws, id FROM bookings WHERE remind_at <= ?1 ORDER BY remind_at LIMIT ?2";

pub(crate) const REMINDER_RULE: JobRule = JobRule {
    queue: Queue::BookingReminders,
    put_off: Some("UPDATE bookings SET remind_at = ?1 WHERE ws = ?2 AND id = ?3"),
    stop: "UPDATE bookings SET remind_at = NULL WHERE ws = ?1 AND id = ?2",
    revival: JobRevival::PutOff,
    report: notify_owners,
};

/// Removes held bookings whose time is up.
pub(crate) struct EndHolds {
    pub runtime: JobRuntime,
}

impl BackgroundJob for EndHolds {
    fn queue(&self) -> Queue {
        Queue::BookingHolds
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(holds_until) FROM bookings WHERE holds_until IS NOT NULL"
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let due = self.runtime.due_rows::<(i64, String)>(EXPIRED, AT_ONCE).await?;
            Ok(self.runtime.run_each(&HOLD_RULE, due, end_hold).await.into())
        })
    }
}

fn end_hold(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    tx.wake(Queue::Pages);
    booking::drop_expired(tx, job.ws, &id_of(job)?, app.clock.now())
}

/// Reminds guests and hosts of their appointments.
pub(crate) struct RemindOfBookings {
    pub runtime: JobRuntime,
}

impl BackgroundJob for RemindOfBookings {
    fn queue(&self) -> Queue {
        Queue::BookingReminders
    }

    fn earliest(&self) -> &'static str {
        "SELECT min(remind_at) FROM bookings WHERE remind_at IS NOT NULL"
    }

    fn is_outward(&self) -> bool {
        true
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let due = self.runtime.due_rows::<(i64, String)>(TO_REMIND, AT_ONCE).await?;
            Ok(self.runtime.run_each(&REMINDER_RULE, due, remind).await.into())
        })
    }
}

fn remind(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let (now, id) = (app.clock.now(), id_of(job)?);
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Option<(Circle, i64)> = tx.opt(
        &format!(
            "SELECT circle, starts_at FROM bookings
             WHERE ws = ?1 AND id = ?2 AND remind_at <= ?3{lock}"
        ),
        &[&job.ws, &id, &now],
    )?;
    let Some((circle, starts_at)) = due else { return Ok(false) };
    tx.exec(
        "UPDATE bookings SET remind_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&job.ws, &id, &booking::next_reminder(starts_at, now)],
    )?;
    let actor = system(tx, job.ws, circle)?;
    let cx = Cx { now, ..app.cx(&actor) };
    let booking = bookings::load(tx, &actor, id.as_str())?;
    // One that waited while the server was down is told only if it still helps.
    if booking.status == BookingStatus::Booked && starts_at > now {
        let kind = types::of_booking(tx, job.ws, &booking.type_id)?;
        mail::remind(tx, &cx, &kind, &booking)?;
    }
    Ok(true)
}

fn id_of(job: &DueJob) -> Result<BookingId> {
    BookingId::parse(&job.key[0]).ok_or(Error::NotFound("booking"))
}
