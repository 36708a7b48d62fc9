//! Bookings that an agent makes, moves and cancels, where its policy lets people stop them for a while: the
//! time is held, and nobody outside is told before the while is over.

use std::sync::Arc;

use base::actor::{Actor, Circle, Circles, Principal};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{AgentId, BookingId, ConversationId};
use base::limits::DAY_MS;
use base::security::agent_policy::{AgentPolicy, PolicyProfile};
use base::security::scopes::Scopes;
use base::string_enum::string_enum;
use base::time::Moment;
use db::Tx;
use model::conversations::agent_acts::{self as agent_record, AgentActKind};
use model::conversations::timeline::TimelineEvent;
use model::people::agent_limits::pausing;

use super::booking::{self, NewBooking};
use super::booking_events::{record_in_timeline, tell_cancelled, tell_created};
use super::types::{self, BookingType};
use super::{Booking, BookingStatus, mail};

/// A held time is kept this long after it was to be booked: the server may have been down.
const KEPT_LATE_MS: i64 = DAY_MS;
/// Acts that a page lists.
const LISTED: i64 = 100;

string_enum! {
    /// What is done to a booking once nobody can stop it any more. One that was stopped is given back by
    /// the same job.
    BookingAct { Book = "book", Move = "move", Cancel = "cancel", Stopped = "stopped" }
}

db::row! {
    /// An act that can still be stopped.
    #[derive(Clone, Debug)]
    pub struct PlannedAct from "b" {
        pub id: BookingId,
        pub act: BookingAct,
        pub act_at: i64,
        pub agent_name: String = "coalesce(a.name, '')",
        /// The booking that is made, moved or cancelled.
        pub act_of: BookingId,
        pub reason: String = "coalesce(b.act_reason, '')",
        pub conversation: Option<ConversationId>,
        pub guest_name: String,
        pub guest_email: String,
        pub type_name: String = "coalesce(t.name, '')",
        pub starts_at: i64,
    }
}

/// Holds a time for a guest whom an agent books for; it is theirs once the act falls due.
pub fn plan_booking(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    due_at: i64,
) -> Result<Booking> {
    let id = booking::insert_held(tx, cx, kind, new, None, due_at + KEPT_LATE_MS)?;
    plan(tx, cx, &id, &id, BookingAct::Book, due_at, "")
}

/// Holds another time for a booking; it moves there once the act falls due.
pub fn plan_move(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    old: &Booking,
    starts_at: i64,
    due_at: i64,
) -> Result<Booking> {
    let old = &booking::of_circle(tx, cx, &old.id)?;
    booking::must_be_movable(cx, old, starts_at)?;
    must_be_free_of_acts(tx, cx, &old.id)?;
    let kind = types::of_booking(tx, cx.actor.ws, &old.type_id)?;
    let new = booking::same_guest(old, starts_at);
    let id = booking::insert_held(tx, cx, &kind, &new, Some(old), due_at + KEPT_LATE_MS)?;
    plan(tx, cx, &id, &old.id, BookingAct::Move, due_at, "")
}

/// Cancels a booking once the act falls due.
pub fn plan_cancellation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    found: &Booking,
    reason: &str,
    due_at: i64,
) -> Result<Booking> {
    let found = booking::of_circle(tx, cx, &found.id)?;
    if found.status == BookingStatus::Cancelled {
        return Ok(found);
    }
    booking::must_be_ahead(cx, &found)?;
    must_be_free_of_acts(tx, cx, &found.id)?;
    plan(tx, cx, &found.id, &found.id, BookingAct::Cancel, due_at, reason)
}

/// An act is done before another is planned. A repeat says so, too.
fn must_be_free_of_acts(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<()> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT act_at FROM bookings WHERE ws = ?1 AND act_of = ?2 AND act_at IS NOT NULL",
        &[&cx.actor.ws, id],
    )?;
    match found {
        None => Ok(()),
        Some((at,)) => Err(Error::Conflict(format!(
            "Something is under way for this booking already: it happens at {} UTC unless somebody stops it.",
            Moment(at).clock_time()
        ))),
    }
}

fn plan(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &BookingId,
    of: &BookingId,
    act: BookingAct,
    due_at: i64,
    reason: &str,
) -> Result<Booking> {
    let Principal::Agent { id: agent, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only an agent's bookings can be stopped.".into()));
    };
    tx.exec(
        "UPDATE bookings SET act = ?3, act_at = ?4, act_by = ?5, act_of = ?6, act_reason = ?7
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &act, &due_at, agent, of, &booking::clean_reason(reason)],
    )?;
    tx.wake(Queue::BookingActs);
    let booking = booking::of_circle(tx, cx, id)?;
    let planned = TimelineEvent::BookingPlanned {
        booking_id: id.clone(),
        act: act.as_str().into(),
        leaves_at: Moment(due_at),
    };
    record_in_timeline(tx, cx, &booking, &planned)?;
    let kind = match act {
        BookingAct::Book => AgentActKind::Booked,
        BookingAct::Move | BookingAct::Cancel | BookingAct::Stopped => AgentActKind::Rebooked,
    };
    agent_record::note_booking(tx, cx, kind, booking.conversation.as_ref(), id)?;
    Ok(booking)
}

/// The acts that can still be stopped, the next one first.
pub fn list_planned(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<PlannedAct>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM bookings b
             LEFT JOIN agents a ON a.ws = b.ws AND a.id = b.act_by
             LEFT JOIN booking_types t ON t.ws = b.ws AND t.id = b.type
             WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND b.act_at IS NOT NULL
             ORDER BY b.act_at, b.id LIMIT ?4",
            PlannedAct::COLUMNS
        ),
        &[&actor.ws, first, second, &LISTED],
    )?)
}

/// True while something is under way for a booking.
pub fn is_planned(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT act_at FROM bookings WHERE ws = ?1 AND id = ?2 AND act_at IS NOT NULL",
        &[&cx.actor.ws, id],
    )?;
    Ok(found.is_some())
}

/// Stops an act: what it holds is given back, and what it would have changed stays as it is.
pub fn stop(tx: &mut Tx<'_>, cx: &Cx<'_>, found: &Booking) -> Result<()> {
    let stopped = tx.exec(
        "UPDATE bookings SET act = NULL, act_at = NULL WHERE ws = ?1 AND id = ?2 AND act_at IS NOT NULL",
        &[&cx.actor.ws, &found.id],
    )?;
    if stopped == 0 {
        return Err(Error::invalid("booking", "is done already and cannot be stopped"));
    }
    let event = TimelineEvent::BookingStopped { booking_id: found.id.clone() };
    record_in_timeline(tx, cx, found, &event)?;
    match found.status {
        BookingStatus::Held => booking::drop_held(tx, cx, found),
        BookingStatus::Booked | BookingStatus::Cancelled => Ok(()),
    }
}

/// Does what is due, in the name of the agent that planned it; or gives back what was stopped, or is of an
/// agent that was paused or revoked since.
pub fn run_due(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<bool> {
    type Due = (BookingAct, AgentId, BookingId, String, Circle);
    let due: Option<Due> = tx.opt(
        "SELECT act, act_by, act_of, coalesce(act_reason, ''), circle FROM bookings
         WHERE ws = ?1 AND id = ?2 AND act_at <= ?3",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    let Some((act, agent, of, reason, circle)) = due else { return Ok(false) };
    let found = booking::of_circle(tx, cx, id)?;
    if act == BookingAct::Stopped || pausing::is_ended(tx, cx.actor.ws, &agent)? {
        stop(tx, cx, &found)?;
        return Ok(true);
    }
    tx.exec(
        "UPDATE bookings SET act = NULL, act_at = NULL WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id],
    )?;
    let actor = in_the_name_of(tx, cx, agent, circle)?;
    let cx = &Cx { actor: &actor, ..*cx };
    match (act, found.status) {
        (BookingAct::Book, BookingStatus::Held) => booking::prove(tx, cx, id).map(drop),
        (BookingAct::Move, BookingStatus::Held) => take_over(tx, cx, &found, &of),
        (BookingAct::Cancel, BookingStatus::Booked) if found.starts_at > cx.now => {
            booking::cancel(tx, cx, &found, &reason).map(drop)
        }
        // Somebody decided otherwise meanwhile.
        _ => Ok(()),
    }?;
    Ok(true)
}

/// A held booking takes the place of another in everybody's calendar.
fn take_over(tx: &mut Tx<'_>, cx: &Cx<'_>, held: &Booking, old: &BookingId) -> Result<()> {
    let ws = cx.actor.ws;
    let old = booking::of_circle(tx, cx, old)?;
    if old.status != BookingStatus::Booked || old.starts_at <= cx.now || held.starts_at <= cx.now {
        return booking::drop_held(tx, cx, held);
    }
    let kind = types::of_booking(tx, ws, &old.type_id)?;
    let former = mail::hosts(tx, cx, &old)?;
    booking::release(tx, cx, &old, "", Some(&held.id))?;
    if booking::is_given_to_another(tx, cx, &held.id)? {
        let sentence = "The time is not free any more. Please pick another one.";
        return Err(Error::Conflict(sentence.into()));
    }
    tx.exec(
        "UPDATE bookings SET status = 'booked', holds_until = NULL, remind_at = ?3, uid = ?4,
             sequence = ?5, rescheduled_from = ?6
         WHERE ws = ?1 AND id = ?2 AND status = 'held'",
        &[
            &ws,
            &held.id,
            &booking::next_reminder(held.starts_at, cx.now),
            &old.uid,
            &(old.sequence + 1),
            &old.id,
        ],
    )?;
    tx.exec(
        "UPDATE host_bookings SET holds_until = NULL WHERE ws = ?1 AND booking = ?2",
        &[&ws, &held.id],
    )?;
    tx.wake(Queue::BookingReminders);
    let (before, now) =
        (booking::of_circle(tx, cx, &old.id)?, booking::of_circle(tx, cx, &held.id)?);
    tell_cancelled(tx, cx, &before)?;
    tell_created(tx, cx, &now)?;
    mail::invite(tx, cx, &kind, &now, Some((&before, former.as_slice())))
}

/// The agent that planned an act. Its limits were asked then.
fn in_the_name_of(tx: &mut Tx<'_>, cx: &Cx<'_>, agent: AgentId, circle: Circle) -> Result<Actor> {
    let (name,): (String,) =
        tx.one("SELECT name FROM agents WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, &agent])?;
    let who = Principal::Agent {
        id: agent,
        name,
        scopes: Scopes::none(),
        policy: Arc::new(AgentPolicy::of(PolicyProfile::Program)),
        paused: false,
    };
    Ok(Actor {
        ws: cx.actor.ws,
        workspace: cx.actor.workspace.clone(),
        who,
        circles: Circles::only(circle),
    })
}
