//! Answers of calendar programs to our invitations. A guest who declines cancels the booking, if the mail
//! is proven to be theirs; that somebody accepts is no news. Neither opens a conversation, unless the
//! guest who accepts adds words of their own.

use calendar::{CalendarReply, ParticipationStatus};
use db::Tx;
use mail::Dmarc;

use crate::app::Cx;
use crate::base::actor::{Actor, Circle};
use crate::base::email_address::EmailAddress;
use crate::base::error::Result;
use crate::base::ids::BookingId;
use crate::inbound::receive::IncomingMail;
use crate::model::bookings::{self, Booking, BookingStatus, booking};

/// What a guest's program says, as the reason of a cancellation.
const DECLINED: &str = "Declined in the guest's calendar.";

/// The answers in a mail; none for almost every mail.
pub(super) fn read(raw: &[u8]) -> Vec<CalendarReply> {
    if memchr::memmem::find(raw, b"calendar").is_none() {
        return Vec::new();
    }
    let part = mail::calendar_part(raw).filter(|part| part.method.as_deref() == Some("REPLY"));
    part.and_then(|part| calendar::read_reply(&part.bytes).ok()).unwrap_or_default()
}

/// Does what the answers ask for. True when all of them are dealt with, so that the mail is not filed.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    incoming: &IncomingMail,
    replies: &[CalendarReply],
) -> Result<bool> {
    let mut settled = !replies.is_empty();
    for reply in replies {
        settled &= match invited(tx, cx, &reply.uid)? {
            Some(booking) => answer(tx, cx, incoming, reply, &booking)?,
            None => false,
        };
    }
    Ok(settled)
}

fn answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    incoming: &IncomingMail,
    reply: &CalendarReply,
    booking: &Booking,
) -> Result<bool> {
    let declines = |status: ParticipationStatus| status == ParticipationStatus::Declined;
    let Some(declining) = reply.attendees.iter().find(|person| declines(person.status)) else {
        return Ok(reply.comment.is_none());
    };
    // It answers a time from which the appointment has moved.
    if reply.sequence < booking.sequence {
        return Ok(reply.comment.is_none());
    }
    let is_guest = |email: &str| EmailAddress::new(email) == booking.guest_email;
    let is_proven = incoming.mail.dmarc == Dmarc::Pass && is_guest(&incoming.mail.from.email);
    if !is_guest(&declining.email) || !is_proven {
        return Ok(false);
    }
    if booking.status == BookingStatus::Booked && booking.starts_at > cx.now {
        booking::cancel(tx, cx, booking, DECLINED)?;
    }
    Ok(true)
}

/// The newest booking that an entry of a calendar is about.
fn invited(tx: &mut Tx<'_>, cx: &Cx<'_>, uid: &str) -> Result<Option<Booking>> {
    let found: Option<(BookingId, Circle)> = tx.opt(
        "SELECT id, circle FROM bookings WHERE ws = ?1 AND uid = ?2
         ORDER BY sequence DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &uid],
    )?;
    let Some((id, circle)) = found else { return Ok(None) };
    let actor = Actor::system(cx.actor.ws, cx.actor.workspace.clone(), circle);
    bookings::load(tx, &actor, id.as_str()).map(Some)
}
