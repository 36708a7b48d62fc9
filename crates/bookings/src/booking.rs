//! Making, proving, moving and cancelling a booking. A time is given once: whoever takes one raises the
//! revision of its hosts in the transaction that looked for it, so of two at the same moment one loses
//! its race, runs again and finds the time taken.

use base::actor::{Circle, Circles};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{BookingId, UserId};
use base::limits::{BOOKING_HOLD_MS, BOOKING_REMINDERS_MS, HOLDS_PER_TYPE, MINUTE_MS, NEXT_TIMES};
use base::time::Moment;
use db::{Json, Tx};
use model::conversations::Conversation;
use model::figures::counting_turns::take_turns;

use super::availability::{self, FreeTime};
use super::booking_events::{tell_cancelled, tell_created};
use super::types::{self, BookingType, HostChoice};
use super::{Booking, BookingAnswer, BookingStatus, hours, load, mail, manage_token};

/// Who comes.
#[derive(Clone, Debug)]
pub struct BookingGuest<'a> {
    pub name: &'a str,
    pub email: &'a str,
    /// The zone in which they read times.
    pub zone: Option<&'a str>,
}

/// A booking that is about to be made.
#[derive(Clone, Debug)]
pub struct NewBooking<'a> {
    pub starts_at: i64,
    pub guest: BookingGuest<'a>,
    pub answers: &'a [BookingAnswer],
    /// The conversation that it belongs to; a booking that is moved keeps its own.
    pub conversation: Option<&'a Conversation>,
}

impl NewBooking<'_> {
    /// All that was written for it, as it is kept and mailed.
    pub fn words(&self) -> Result<String> {
        let (name, answers) = (self.guest_name()?, self.seen_answers());
        let mut words = vec![name.as_str()];
        words.extend(answers.iter().flat_map(|given| [given.question.as_str(), &given.answer]));
        Ok(words.join("\n"))
    }

    /// The guest's name without letters that nobody sees.
    fn guest_name(&self) -> Result<String> {
        let name = ::mail::clean_text(self.guest.name).trim().to_owned();
        match name.is_empty() {
            true => Err(Error::invalid("name", "must have letters that can be seen")),
            false => Ok(name),
        }
    }

    /// What the guest was asked and answered, likewise.
    fn seen_answers(&self) -> Vec<BookingAnswer> {
        let seen = |given: &BookingAnswer| BookingAnswer {
            question: ::mail::clean_text(&given.question),
            answer: ::mail::clean_text(&given.answer),
        };
        self.answers.iter().map(seen).collect()
    }
}

/// Books a time at once, for a guest who is known.
pub fn book(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
) -> Result<Booking> {
    let plan = BookingPlan::new(BookingStatus::Booked);
    let id = insert(tx, cx, kind, new, plan)?;
    let booking = of_circle(tx, cx, &id)?;
    tell_created(tx, cx, &booking)?;
    mail::invite(tx, cx, kind, &booking, None)?;
    Ok(booking)
}

/// Holds a time for a guest who has yet to prove their address.
/// Customers read it.
pub fn hold(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
) -> Result<Booking> {
    let of_type = format!("holds of {}", kind.id.as_str());
    take_turns(tx, &[(cx.actor.ws, of_type.as_str())])?;
    let (of_type,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM bookings
         WHERE ws = ?1 AND type = ?2 AND holds_until > ?3",
        &[&cx.actor.ws, &kind.id, &cx.now],
    )?;
    if of_type >= HOLDS_PER_TYPE {
        return Err(Error::Forbidden(
            "Too many times are waiting for a code. Please try again in a quarter of an hour."
                .into(),
        ));
    }
    let id = insert(tx, cx, kind, new, BookingPlan::new(BookingStatus::Held))?;
    tx.wake(Queue::BookingHolds);
    of_circle(tx, cx, &id)
}

/// Holds a time until a moment, for a guest who need not prove their address; beside the time that a
/// booking of theirs has now, where there is one.
pub(super) fn insert_held(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    beside: Option<&Booking>,
    holds_until: i64,
) -> Result<BookingId> {
    let plan = BookingPlan { beside, ..BookingPlan::new(BookingStatus::Held) };
    let id = insert(tx, cx, kind, new, plan)?;
    for table in [
        "bookings SET holds_until = ?3 WHERE ws = ?1 AND id = ?2",
        "host_bookings SET holds_until = ?3 WHERE ws = ?1 AND booking = ?2",
    ] {
        tx.exec(&format!("UPDATE {table}"), &[&cx.actor.ws, &id, &holds_until])?;
    }
    tx.wake(Queue::BookingHolds);
    Ok(id)
}

/// A booking of the same guest at another time.
pub(super) fn same_guest(old: &Booking, starts_at: i64) -> NewBooking<'_> {
    NewBooking {
        starts_at,
        guest: BookingGuest {
            name: &old.guest_name,
            email: &old.guest_email,
            zone: Some(&old.guest_zone),
        },
        answers: &old.answers,
        conversation: None,
    }
}

/// What a guest wrote last counts for a time that is held for them already.
pub(super) fn rewrite_held(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    held: &Booking,
    new: &NewBooking<'_>,
) -> Result<Booking> {
    tx.exec(
        "UPDATE bookings SET guest_name = ?3, guest_zone = ?4, answers = ?5
         WHERE ws = ?1 AND id = ?2 AND status = 'held'",
        &[
            &cx.actor.ws,
            &held.id,
            &new.guest_name()?,
            &new.guest.zone.unwrap_or_default(),
            &Json(new.seen_answers()),
        ],
    )?;
    of_circle(tx, cx, &held.id)
}

/// Gives a held time back before it is up, with all that was written into it.
pub(super) fn drop_held(tx: &mut Tx<'_>, cx: &Cx<'_>, held: &Booking) -> Result<()> {
    let ws = cx.actor.ws;
    for person in &mail::hosts(tx, cx, held)? {
        hours::bump(tx, ws, person)?;
    }
    let dropped = tx.exec(
        "DELETE FROM bookings WHERE ws = ?1 AND id = ?2 AND status = 'held'",
        &[&ws, &held.id],
    )?;
    if dropped > 0 {
        tx.exec("DELETE FROM host_bookings WHERE ws = ?1 AND booking = ?2", &[&ws, &held.id])?;
    }
    Ok(())
}

/// The guest has proven their address: the held time is theirs.
/// Customers read it.
pub fn prove(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<Booking> {
    let held = of_circle(tx, cx, id)?;
    let people = mail::hosts(tx, cx, &held)?;
    for person in &people {
        hours::bump(tx, cx.actor.ws, person)?;
    }
    // For another server the time of the hold may have been up a moment ago.
    if people.is_empty() || is_given_to_another(tx, cx, id)? {
        return Err(Error::Conflict(
            "The time is not free any more. Please pick another one.".into(),
        ));
    }
    let proven = tx.exec(
        "UPDATE bookings SET status = 'booked', holds_until = NULL, remind_at = ?4
         WHERE ws = ?1 AND id = ?2 AND status = 'held' AND holds_until > ?3",
        &[&cx.actor.ws, id, &cx.now, &next_reminder(held.starts_at, cx.now)],
    )?;
    if proven == 0 {
        return Err(Error::Conflict(
            "The time was held for 15 minutes, which are over. Please pick it again.".into(),
        ));
    }
    tx.exec(
        "UPDATE host_bookings SET holds_until = NULL WHERE ws = ?1 AND booking = ?2",
        &[&cx.actor.ws, id],
    )?;
    tx.wake(Queue::BookingReminders);
    let booking = of_circle(tx, cx, id)?;
    let kind = types::of_booking(tx, cx.actor.ws, &booking.type_id)?;
    tell_created(tx, cx, &booking)?;
    mail::invite(tx, cx, &kind, &booking, None)?;
    Ok(booking)
}

/// Somebody else has a time of these hosts that overlaps the booking's.
pub(super) fn is_given_to_another(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<bool> {
    let other: Option<(BookingId,)> = tx.opt(
        "SELECT o.booking FROM host_bookings x
         CROSS JOIN host_bookings o
         WHERE x.ws = ?1 AND x.booking = ?2
           AND o.ws = x.ws AND o.person = x.person AND o.booking <> x.booking
           AND o.pad_to > x.pad_from AND o.pad_from < x.pad_to
           AND (o.holds_until IS NULL OR o.holds_until > ?3)
         LIMIT 1",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    Ok(other.is_some())
}

/// Gives a booking another time: a new booking, and the old one cancelled.
pub fn reschedule(tx: &mut Tx<'_>, cx: &Cx<'_>, old: &Booking, starts_at: i64) -> Result<Booking> {
    // The caller's copy may be older than this transaction.
    let old = &of_circle(tx, cx, &old.id)?;
    must_be_movable(cx, old, starts_at)?;
    let kind = types::of_booking(tx, cx.actor.ws, &old.type_id)?;
    let new = same_guest(old, starts_at);
    let former = mail::hosts(tx, cx, old)?;
    let plan = BookingPlan { replaces: Some(old), ..BookingPlan::new(BookingStatus::Booked) };
    let id = insert(tx, cx, &kind, &new, plan)?;
    release(tx, cx, old, "", Some(&id))?;
    let (before, booking) = (of_circle(tx, cx, &old.id)?, of_circle(tx, cx, &id)?);
    tell_cancelled(tx, cx, &before)?;
    tell_created(tx, cx, &booking)?;
    mail::invite(tx, cx, &kind, &booking, Some((&before, former.as_slice())))?;
    Ok(booking)
}

/// Refuses to move a booking that is over, cancelled, only held, or there already.
/// Customers read it.
pub(super) fn must_be_movable(cx: &Cx<'_>, old: &Booking, starts_at: i64) -> Result<()> {
    must_be_ahead(cx, old)?;
    if old.status == BookingStatus::Held {
        return Err(Error::Conflict(
            "The time is only held: the guest has not given their code yet.".into(),
        ));
    }
    if starts_at == old.starts_at {
        return Err(Error::Conflict("It is at this time already.".into()));
    }
    Ok(())
}

/// Cancels a booking; cancelling it again changes nothing.
pub fn cancel(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &Booking, reason: &str) -> Result<Booking> {
    // The caller's copy may be older than this transaction.
    let booking = &of_circle(tx, cx, &booking.id)?;
    if booking.status == BookingStatus::Cancelled {
        return Ok(booking.clone());
    }
    must_be_ahead(cx, booking)?;
    let was_held = booking.status == BookingStatus::Held;
    let hosts = mail::hosts(tx, cx, booking)?;
    release(tx, cx, booking, reason, None)?;
    let cancelled = of_circle(tx, cx, &booking.id)?;
    if !was_held {
        tell_cancelled(tx, cx, &cancelled)?;
        let kind = types::of_booking(tx, cx.actor.ws, &booking.type_id)?;
        mail::cancel(tx, cx, &kind, &cancelled, &hosts)?;
    }
    Ok(cancelled)
}

/// Removes held bookings whose time is up, with all that was written into them.
pub fn drop_expired(tx: &mut Tx<'_>, ws: i64, id: &BookingId, now: i64) -> Result<bool> {
    let dropped = tx.exec(
        "DELETE FROM bookings
         WHERE ws = ?1 AND id = ?2 AND status = 'held' AND holds_until <= ?3",
        &[&ws, id, &now],
    )?;
    tx.exec(
        "DELETE FROM host_bookings WHERE ws = ?1 AND booking = ?2 AND holds_until <= ?3",
        &[&ws, id, &now],
    )?;
    Ok(dropped > 0)
}

/// When guest and host are reminded next of an appointment.
pub fn next_reminder(starts_at: i64, now: i64) -> Option<i64> {
    BOOKING_REMINDERS_MS.iter().map(|before| starts_at - before).find(|at| *at > now)
}

/// How a booking begins.
struct BookingPlan<'a> {
    status: BookingStatus,
    /// The booking whose place in everybody's calendar it takes.
    replaces: Option<&'a Booking>,
    /// The booking beside whose time it is held, to replace it later.
    beside: Option<&'a Booking>,
}

impl BookingPlan<'_> {
    fn new(status: BookingStatus) -> BookingPlan<'static> {
        BookingPlan { status, replaces: None, beside: None }
    }
}

fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    plan: BookingPlan<'_>,
) -> Result<BookingId> {
    let ws = cx.actor.ws;
    drop_expired_at(tx, cx, kind, new.starts_at)?;
    let former = plan.replaces.or(plan.beside);
    let except = former.map(|old| &old.id);
    let window = (new.starts_at, new.starts_at + 1_000);
    let loaded = availability::load(tx, cx, kind, window, except)?;
    let Some(free) = loaded.free_at(new.starts_at)? else {
        return Err(time_taken_error(tx, cx, kind, new.starts_at, except)?);
    };
    let hosts = choose_hosts(kind, free.clone(), former.map(|old| &old.host));
    let host = hosts.first().ok_or(Error::NotFound("host"))?;
    let id = BookingId::new(cx.ids, cx.now);
    if let Some(old) = plan.replaces {
        tx.exec("DELETE FROM host_bookings WHERE ws = ?1 AND booking = ?2", &[&ws, &old.id])?;
    }
    for person in &hosts {
        take(tx, cx, kind, &id, person, &free, plan.status)?;
    }
    write(tx, cx, kind, new, &plan, (&id, host, &free))?;
    tx.wake(Queue::BookingReminders);
    Ok(id)
}

/// The hosts of a booking: everybody, or the one whose turn it is. One who has it already keeps it.
fn choose_hosts(kind: &BookingType, free: FreeTime, keeps: Option<&UserId>) -> Vec<UserId> {
    match kind.mode {
        HostChoice::Together => free.hosts,
        HostChoice::Any => {
            let kept = keeps.filter(|host| free.hosts.contains(host)).cloned();
            kept.or_else(|| free.hosts.into_iter().next()).into_iter().collect()
        }
    }
}

/// Takes the time from one host.
fn take(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    id: &BookingId,
    person: &UserId,
    free: &FreeTime,
    status: BookingStatus,
) -> Result<()> {
    let ws = cx.actor.ws;
    hours::bump(tx, ws, person)?;
    tx.exec(
        "UPDATE booking_hosts SET given = given + 1, last_given_at = ?4
         WHERE ws = ?1 AND type = ?2 AND person = ?3",
        &[&ws, &kind.id, person, &cx.now],
    )?;
    let holds_until = (status == BookingStatus::Held).then_some(cx.now + BOOKING_HOLD_MS);
    tx.exec(
        "INSERT INTO host_bookings (
            ws, person, booking, type, starts_at, ends_at, pad_from, pad_to, holds_until
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            &ws,
            person,
            id,
            &kind.id,
            &free.starts_at,
            &free.ends_at,
            &(free.starts_at - kind.before_minutes * MINUTE_MS),
            &(free.ends_at + kind.after_minutes * MINUTE_MS),
            &holds_until,
        ],
    )?;
    Ok(())
}

fn write(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    new: &NewBooking<'_>,
    plan: &BookingPlan<'_>,
    (id, host, free): (&BookingId, &UserId, &FreeTime),
) -> Result<()> {
    let former = plan.replaces.or(plan.beside);
    let circle = match (new.conversation, former) {
        (Some(conversation), _) => &conversation.circle,
        (None, Some(old)) => &old.circle,
        (None, None) => &kind.circle,
    };
    let conversation = new.conversation.map(|conversation| &conversation.id);
    let conversation = conversation.or(former.and_then(|old| old.conversation.as_ref()));
    let is_held = plan.status == BookingStatus::Held;
    let token = manage_token(tx, cx, id)?;
    let (uid, sequence) = match plan.replaces {
        Some(old) => (old.uid.clone(), old.sequence + 1),
        None => (format!("{id}@{}", mail::uid_domain(cx.public_url)), 0),
    };
    let remind_at = if is_held { None } else { next_reminder(free.starts_at, cx.now) };
    tx.exec(
        "INSERT INTO bookings (
            ws, id, circle, type, host, conversation, starts_at, ends_at, guest_name, guest_email,
            guest_zone, answers, place, status, uid, sequence, token_hash, holds_until, remind_at,
            made_by, cancelled_by, reason, rescheduled_from, created_at, cancel_hours
         ) VALUES (
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
            ?20, '', '', ?21, ?22, ?23
         )",
        &[
            &cx.actor.ws,
            id,
            circle,
            &kind.id,
            host,
            &conversation,
            &free.starts_at,
            &free.ends_at,
            &new.guest_name()?,
            &EmailAddress::new(new.guest.email),
            &new.guest.zone.unwrap_or_default(),
            &Json(new.seen_answers()),
            &kind.place,
            &plan.status,
            &uid,
            &sequence,
            &token.hash(),
            &is_held.then_some(cx.now + BOOKING_HOLD_MS),
            &remind_at,
            &cx.actor.member().as_ref().map_or("", |member| member.as_str()),
            &plan.replaces.map(|old| &old.id),
            &cx.now,
            &kind.cancel_hours,
        ],
    )?;
    Ok(())
}

/// Why a booking is cancelled, as it is kept and mailed.
pub fn clean_reason(reason: &str) -> String {
    ::mail::clean_text(reason).trim().to_owned()
}

/// Frees the time of a booking.
pub(super) fn release(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    booking: &Booking,
    reason: &str,
    replaced_by: Option<&BookingId>,
) -> Result<()> {
    let ws = cx.actor.ws;
    let people: Vec<(UserId,)> = tx.all(
        "SELECT person FROM host_bookings WHERE ws = ?1 AND booking = ?2",
        &[&ws, &booking.id],
    )?;
    for (person,) in &people {
        hours::bump(tx, ws, person)?;
    }
    tx.exec("DELETE FROM host_bookings WHERE ws = ?1 AND booking = ?2", &[&ws, &booking.id])?;
    let sequence = if replaced_by.is_some() { 0 } else { 1 };
    let released = tx.exec(
        "UPDATE bookings
         SET status = 'cancelled', cancelled_at = ?3, cancelled_by = ?4, reason = ?5,
             rescheduled_to = ?6, sequence = sequence + ?7, holds_until = NULL, remind_at = NULL
         WHERE ws = ?1 AND id = ?2 AND status <> 'cancelled'",
        &[
            &ws,
            &booking.id,
            &cx.now,
            &cx.actor.member().as_ref().map_or("", |member| member.as_str()),
            &clean_reason(reason),
            &replaced_by,
            &sequence,
        ],
    )?;
    if released == 0 { Err(Error::NotFound("booking")) } else { Ok(()) }
}

/// Customers read it.
pub(super) fn must_be_ahead(cx: &Cx<'_>, booking: &Booking) -> Result<()> {
    if booking.status == BookingStatus::Cancelled {
        return Err(Error::Conflict("This booking is cancelled already.".into()));
    }
    match booking.starts_at > cx.now {
        true => Ok(()),
        false => Err(Error::Conflict("This appointment has begun already.".into())),
    }
}

/// A time that cannot be had, with those that can.
fn time_taken_error(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    kind: &BookingType,
    starts_at: i64,
    except: Option<&BookingId>,
) -> Result<Error> {
    let mut next = availability::next_free(tx, cx, kind, starts_at, NEXT_TIMES, except)?;
    if next.is_empty() {
        next = availability::next_free(tx, cx, kind, cx.now, NEXT_TIMES, except)?;
    }
    let asked = Moment(starts_at).iso();
    let times: Vec<String> = next.iter().map(|free| Moment(free.starts_at).iso()).collect();
    Ok(Error::Conflict(match times.is_empty() {
        true => format!("{asked} is not free, and no other time is."),
        false => format!("{asked} is not free. The next free times are {}.", times.join(", ")),
    }))
}

/// Held bookings whose time is up no longer keep this start from the type's hosts, whatever type they
/// are of.
fn drop_expired_at(tx: &mut Tx<'_>, cx: &Cx<'_>, kind: &BookingType, starts_at: i64) -> Result<()> {
    let ws = cx.actor.ws;
    let expired: Vec<(BookingId,)> = tx.all(
        "SELECT DISTINCT x.booking FROM booking_hosts h
         CROSS JOIN host_bookings x
         WHERE h.ws = ?1 AND h.type = ?2 AND x.ws = h.ws AND x.person = h.person
           AND x.starts_at = ?3 AND x.holds_until <= ?4",
        &[&ws, &kind.id, &starts_at, &cx.now],
    )?;
    for (id,) in expired {
        drop_expired(tx, ws, &id, cx.now)?;
    }
    Ok(())
}

/// A booking of any circle: the caller has found it in a way that may see it.
pub(super) fn of_circle(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingId) -> Result<Booking> {
    let found: Option<(Circle,)> =
        tx.opt("SELECT circle FROM bookings WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let (circle,) = found.ok_or(Error::NotFound("booking"))?;
    let mut actor = cx.actor.clone();
    actor.circles = Circles::only(circle);
    load(tx, &actor, id.as_str())
}
