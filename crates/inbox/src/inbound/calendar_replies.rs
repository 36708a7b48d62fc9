//! Answers of calendar programs to our invitations. A guest who declines cancels the booking, if the mail
//! is proven to be theirs; that somebody accepts is no news. Neither opens a conversation, unless the
//! guest who accepts adds words of their own. A guest who declines when it is too late to cancel by
//! themselves cancels nothing: their mail is filed, and the team decides.

use calendar::{CalendarReply, ParticipationStatus};
use db::Tx;
use mail::Dmarc;

use crate::app::Cx;
use crate::base::actor::{Actor, Circle};
use crate::base::email_address::EmailAddress;
use crate::base::error::Result;
use crate::base::ids::{BookingId, ConversationId};
use crate::inbound::receive::IncomingMail;
use crate::model::bookings::{self, Booking, booking};

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

/// What becomes of a mail with answers of a calendar program.
pub(super) enum AnswerOutcome {
    /// All of them are dealt with, so the mail is not filed.
    Settled,
    /// The mail is filed like any other.
    Filed,
    /// The guest, who is proven, declines too late: the mail is filed in the conversation of the booking,
    /// where it has one.
    DeclinedLate(Option<ConversationId>),
}

/// Does what the answers ask for.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    incoming: &IncomingMail,
    replies: &[CalendarReply],
) -> Result<AnswerOutcome> {
    let mut settled = !replies.is_empty();
    let mut late: Option<Option<ConversationId>> = None;
    for reply in replies {
        let outcome = match invited(tx, cx, &reply.uid)? {
            Some(booking) => answer(tx, cx, incoming, reply, &booking)?,
            None => AnswerOutcome::Filed,
        };
        match outcome {
            AnswerOutcome::Settled => {}
            AnswerOutcome::Filed => settled = false,
            AnswerOutcome::DeclinedLate(conversation) => {
                late = Some(late.flatten().or(conversation));
            }
        }
    }
    Ok(match late {
        Some(conversation) => AnswerOutcome::DeclinedLate(conversation),
        None if settled => AnswerOutcome::Settled,
        None => AnswerOutcome::Filed,
    })
}

fn answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    incoming: &IncomingMail,
    reply: &CalendarReply,
    booking: &Booking,
) -> Result<AnswerOutcome> {
    let without_words = || match reply.comment {
        None => AnswerOutcome::Settled,
        Some(_) => AnswerOutcome::Filed,
    };
    let declines = |status: ParticipationStatus| status == ParticipationStatus::Declined;
    let Some(declining) = reply.attendees.iter().find(|person| declines(person.status)) else {
        return Ok(without_words());
    };
    // It answers a time from which the appointment has moved.
    if reply.sequence < booking.sequence {
        return Ok(without_words());
    }
    let is_guest = |email: &str| EmailAddress::new(email) == booking.guest_email;
    let is_proven = incoming.mail.dmarc == Dmarc::Pass && is_guest(&incoming.mail.from.email);
    if !is_guest(&declining.email) || !is_proven {
        return Ok(AnswerOutcome::Filed);
    }
    if booking.is_late_for_guest(cx.now) {
        return Ok(AnswerOutcome::DeclinedLate(booking.conversation.clone()));
    }
    if booking.guest_may_change(cx.now) {
        booking::cancel(tx, cx, booking, DECLINED)?;
    }
    Ok(AnswerOutcome::Settled)
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
