//! Bookings that fall due: held ones whose guest gave no code, reminders, and what agents do to bookings.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::BookingId;
use bookings::{BookingStatus, agent_acts, booking, mail, types};
use db::Tx;

use crate::runs::failures::{JobRevival, JobRule, notify_owners, system};
use crate::runs::job_rows::{JobRows, RowJob, job_rows};
use crate::runs::runtime::DueJob;

/// Bookings looked at in one round.
const AT_ONCE: i64 = 50;

const HOLD_ROWS: JobRows = job_rows!("bookings", "holds_until", "id");

/// Removes held bookings whose time is up. The due time is the end of the hold: moving it would hold a
/// time that others can have already.
pub(crate) static HOLD_JOB: RowJob = RowJob {
    rule: JobRule {
        queue: Queue::BookingHolds,
        retry_at: None,
        abandon: "DELETE FROM bookings WHERE ws = ?1 AND id = ?2 AND status = 'held'",
        revival: JobRevival::Never,
        report: notify_owners,
    },
    rows: HOLD_ROWS,
    at_once: AT_ONCE,
    together: 1,
    is_outward: false,
    run: end_hold,
};

const REMINDER_ROWS: JobRows = job_rows!(outward "bookings", "remind_at", "id");

/// Reminds guests and hosts of their appointments.
pub(crate) static REMINDER_JOB: RowJob = RowJob {
    rule: REMINDER_ROWS.clearing(Queue::BookingReminders, notify_owners),
    rows: REMINDER_ROWS,
    at_once: AT_ONCE,
    together: 1,
    is_outward: true,
    run: remind,
};

const ACT_ROWS: JobRows = job_rows!(outward "bookings", "act_at", "id");

/// Does what an agent planned and nobody stopped.
pub(crate) static ACT_JOB: RowJob = RowJob {
    rule: ACT_ROWS.clearing(Queue::BookingActs, notify_owners),
    rows: ACT_ROWS,
    at_once: AT_ONCE,
    together: 1,
    is_outward: true,
    run: act,
};

fn act(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    let (id, lock) = (id_of(job)?, tx.pick("", " FOR UPDATE SKIP LOCKED"));
    let due: Option<(Circle,)> = tx.opt(
        &format!("SELECT circle FROM bookings WHERE ws = ?1 AND id = ?2 AND act_at <= ?3{lock}"),
        &[&job.ws, &id, &app.clock.now()],
    )?;
    let Some((circle,)) = due else { return Ok(false) };
    tx.wake(Queue::Pages);
    let actor = system(tx, job.ws, circle)?;
    agent_acts::run_due(tx, &app.cx(&actor), &id)
}

fn end_hold(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<bool> {
    tx.wake(Queue::Pages);
    booking::drop_expired(tx, job.ws, &id_of(job)?, app.clock.now())
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
